//! Notes as a filter renders them, and measurements of the result.

use std::{f64::consts::TAU, sync::Arc};
use tone_filter_dsp::{
    Controls, KeyEvent, Keys, Map, Scale, Score, Settings, ToneFilter, Voice,
    notes::{of_listener, pitch_class},
};
use tone_filter_testkit::{Music, Note, Signal};

pub const RATE: f64 = 44_100.0;
/// Seconds of silence before the first note and after the last one. The listener starts in the first silence.
pub const LEAD: f64 = 0.3;

/// Input of a run of the filter.
#[derive(Clone)]
pub struct Stage {
    pub controls: Controls,
    /// Time in seconds of a change, and the controls from then on.
    pub then: Option<(f64, Controls)>,
    pub music: Music,
    /// Music of the sidechain; `None` for the music of the main input.
    pub side: Option<Music>,
    /// Held keys: by default one for each note.
    pub held: Vec<u8>,
    pub score: Option<Score>,
    pub seconds: f64,
}

/// Input and output of a run, with the latency removed.
pub struct Heard {
    pub input: Signal,
    pub output: Signal,
    pub filter: ToneFilter,
}

/// Creates a note of MIDI number `pitch` that begins at `start` and lasts `seconds`.
pub fn note(pitch: f64, start: f64, seconds: f64) -> Note {
    Note { pitch, start, end: start + seconds, slope: 1.5, ..Note::default() }
}

impl Stage {
    /// Creates a run with the notes, in the tuning of the `controls`, with [`LEAD`] of silence after them.
    pub fn new(controls: &Controls, notes: impl IntoIterator<Item = Note>) -> Self {
        let music = Music { notes: notes.into_iter().collect(), ..Music::default() };
        let end = music.notes.iter().fold(0f64, |end, note| end.max(note.end));
        let held = music.notes.iter().map(|note| note.pitch.round() as u8).collect();
        let seconds = end + LEAD;
        Self { controls: *controls, then: None, music, side: None, held, score: None, seconds }
    }

    fn render(&self, music: &Music, latency: usize) -> Signal {
        // Moves the music to the tuning of the settings.
        let cents = (f64::from(self.controls.settings.tuning) / 440.0).log2() * 12.0;
        let mut music = music.clone();
        music.notes.iter_mut().for_each(|note| note.pitch += cents);
        let mut signal = music.render(RATE, self.seconds);
        signal.iter_mut().for_each(|channel| channel.extend(vec![0.0; latency]));
        signal
    }

    /// Runs the filter. Calls `each` after each block of 64 samples, with the time in seconds of the input.
    pub fn watch(&self, mut each: impl FnMut(f64, &ToneFilter)) -> Heard {
        let at_tempo = |controls: &Controls| controls.settings.at_tempo(120.0);
        let mut filter = ToneFilter::new(RATE, &at_tempo(&self.controls)).unwrap();
        filter.set_routing(self.controls.routing);
        filter.set_score(self.score.clone().map(Arc::new));
        filter.detect_notes(true);
        filter.reset();
        self.held.iter().for_each(|key| filter.play(KeyEvent::Key(*key, 1.0)));
        let latency = filter.latency();
        let mut input = self.render(&self.music, latency);
        let side = self.side.as_ref().map_or(input.clone(), |side| self.render(side, latency));
        let mut output = input.clone();
        let frames = output[0].len();
        let change = self.then.map_or(frames, |(at, _)| (at * RATE) as usize);
        for range in [0..change, change..frames] {
            if let Some((_, controls)) = self.then.filter(|_| range.start == change) {
                filter.set_settings(&at_tempo(&controls)).unwrap();
                filter.set_routing(controls.routing);
            }
            let mut main: Vec<_> = output.iter_mut().map(|all| &mut all[range.clone()]).collect();
            let side: Vec<_> = side.iter().map(|all| &all[range.clone()]).collect();
            filter.process_events(&mut main, &side, [], |frame, filter| {
                each((range.start + frame) as f64 / RATE, filter);
            });
        }
        output.iter_mut().for_each(|channel| drop(channel.drain(..latency)));
        input.iter_mut().for_each(|channel| channel.truncate(frames - latency));
        Heard { input, output, filter }
    }

    pub fn run(&self) -> Heard {
        self.watch(|_, _| ())
    }
}

impl Heard {
    fn part(signal: &[f32], from: f64, to: f64) -> &[f32] {
        &signal[(from * RATE) as usize..((to * RATE) as usize).min(signal.len())]
    }

    /// Returns the level in dB of the MIDI note `pitch`, at the settings' tuning, in one channel between the seconds `from` and
    /// `to`.
    pub fn side(&self, channel: usize, pitch: f64, from: f64, to: f64) -> f64 {
        level(Self::part(&self.output[channel], from, to), self.hertz(pitch)).0
    }

    /// Returns the level in dB of the mean power of both channels; arguments as in [`Self::side`].
    pub fn level(&self, pitch: f64, from: f64, to: f64) -> f64 {
        let power: f64 =
            [0, 1].map(|side| 10f64.powf(self.side(side, pitch, from, to) / 10.0)).iter().sum();
        10.0 * (power / 2.0).log10()
    }

    /// Returns the levels in dB at which notes of 0.8 s sound, in their last half. `pitches` are MIDI numbers before [`octaves`].
    pub fn note_levels<const N: usize>(&self, pitches: [f64; N]) -> [f64; N] {
        let shift = octaves(self.filter.settings());
        pitches.map(|pitch| self.level(pitch + shift, LEAD + 0.4, LEAD + 0.75))
    }

    fn hertz(&self, pitch: f64) -> f64 {
        f64::from(self.filter.settings().tuning) * ((pitch - 69.0) / 12.0).exp2()
    }

    /// Whether `seconds` are long enough to tell a pitch from the next semitone.
    pub fn is_resolved(&self, pitch: f64, seconds: f64) -> bool {
        self.hertz(pitch + 1.0) - self.hertz(pitch) > 2.5 / seconds
    }

    /// Returns the loudest pitch within 2.5 semitones of `near` in left plus right, between the seconds `from` and `to`.
    pub fn pitch(&self, near: f64, from: f64, to: f64) -> f64 {
        let [left, right] = [0, 1].map(|side| Self::part(&self.output[side], from, to));
        let both: Vec<f32> = left.iter().zip(right).map(|(left, right)| left + right).collect();
        let steps = (-10..=10).map(|step| near + 0.25 * f64::from(step));
        let coarse = steps.max_by(|a, b| {
            let [a, b] = [a, b].map(|pitch| level(&both, self.hertz(*pitch)).0);
            a.total_cmp(&b)
        });
        let hertz = self.hertz(coarse.unwrap());
        // The advance of the phase over a hop of a quarter of a period gives the exact frequency.
        let hop = (RATE / hertz / 4.0) as usize;
        let half = both.len() / 2;
        let [first, second] = [0, hop].map(|start| level(&both[start..start + half], hertz).1);
        let turn = second - first - TAU * hertz * hop as f64 / RATE;
        let turn = turn - TAU * (turn / TAU).round();
        let exact = hertz + turn / TAU * RATE / hop as f64;
        69.0 + 12.0 * (exact / f64::from(self.filter.settings().tuning)).log2()
    }

    /// Returns the RMS in dB of both channels of `signal` between the seconds `from` and `to`.
    pub fn rms(signal: &Signal, from: f64, to: f64) -> f64 {
        let parts = signal.iter().map(|channel| Self::part(channel, from, to));
        let power: f64 = parts
            .map(|part| part.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>() / part.len() as f64)
            .sum();
        10.0 * (power / 2.0 + 1e-30).log10()
    }
}

/// Returns the amplitude in dB and the phase at `hertz`, through a Hann window.
pub fn level(signal: &[f32], hertz: f64) -> (f64, f64) {
    let count = signal.len() as f64;
    let (turn, window) = ((TAU * hertz / RATE).sin_cos(), (TAU / count).sin_cos());
    let rotate =
        |(sin, cos): (f64, f64), by: (f64, f64)| (sin * by.1 + cos * by.0, cos * by.1 - sin * by.0);
    let (mut phase, mut hann) = ((0.0, 1.0), (TAU * 0.5 / count).sin_cos());
    let (mut re, mut im) = (0.0, 0.0);
    for sample in signal {
        let sample = f64::from(*sample) * (1.0 - hann.1);
        re += sample * phase.1;
        im -= sample * phase.0;
        (phase, hann) = (rotate(phase, turn), rotate(hann, window));
    }
    (20.0 * (re.hypot(im) * 2.0 / count + 1e-12).log10(), im.atan2(re))
}

/// Returns the semitones by which the setting `octave` moves the notes; 0 with the voice Soft.
pub fn octaves(settings: &Settings) -> f64 {
    if settings.voice == Voice::Soft { 0.0 } else { 12.0 * f64::from(settings.octave) }
}

/// Returns the band that detects a MIDI note; `None` if no band in the range does.
pub fn band(settings: &Settings, note: i32) -> Option<usize> {
    let untransposed = note - settings.transpose.round() as i32;
    let tone = usize::try_from(untransposed - 28).ok().and_then(of_listener)?;
    settings.range.tones().contains(&tone).then_some(tone)
}

/// Returns the pitch at which a MIDI note must sound by scale, map and targets while its key is held; `None` for silence.
pub fn target(settings: &Settings, note: i32) -> Option<f64> {
    let held = settings.keys != Keys::Off;
    let in_mask = |tone: &usize| held || settings.bands.contains(*tone);
    let tone = band(settings, note).filter(in_mask)?;
    let classes = settings.scale.pitch_classes(settings.root, settings.custom);
    let class = pitch_class(tone) as i32;
    let contains = |offset: i32| classes.contains((class + offset).rem_euclid(12) as usize);
    let map = if settings.voice == Voice::Soft { Map::Mute } else { settings.map };
    let offset = match map {
        Map::Mute => (held || contains(0)).then_some(0),
        Map::Snap if held => Some(0),
        Map::Snap => (0..12).flat_map(|far| [-far, far]).find(|offset| contains(*offset)),
        Map::Custom => {
            let up = (settings.targets.of(class as usize).index() as i32 - class).rem_euclid(12);
            Some(if up < 6 { up } else { up - 12 })
        }
    };
    offset.map(|offset| f64::from(note + offset) + octaves(settings))
}

/// Transposes `notes` by the fewest semitones, at most six, with which each one sounds at its own pitch. Returns them unchanged
/// if that is impossible.
pub fn audible<const N: usize>(controls: &Controls, notes: [i32; N]) -> [f64; N] {
    let settings = &controls.settings;
    let own = |note: i32| target(settings, note) == Some(f64::from(note) + octaves(settings));
    let moves = (0..7).flat_map(|far| [far, -far]);
    let moved = |by: i32| notes.map(|note| note + by);
    let found = moves.map(moved).find(|notes| notes.iter().all(|note| own(*note)));
    found.unwrap_or(notes).map(f64::from)
}

/// Returns four chords of C major, played four times, from which a scale that follows the music finds its key.
pub fn cadence() -> impl Iterator<Item = Note> {
    let chords = [[48, 60, 64, 67], [53, 60, 65, 69], [55, 59, 62, 67], [48, 60, 64, 67]];
    (0..16).flat_map(move |turn| {
        let start = LEAD + 0.7 * turn as f64;
        chords[turn % 4].into_iter().map(move |pitch| note(f64::from(pitch), start, 0.6))
    })
}

/// Returns the seconds to wait before a test's notes: [`cadence`] for settings whose scale follows the music, else [`LEAD`].
pub fn prelude(settings: &Settings) -> f64 {
    if settings.scale == Scale::Auto { LEAD + 16.0 * 0.7 } else { LEAD }
}
