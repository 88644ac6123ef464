//! Takes: everything that a filter detects over some time, and song files in each [`Format`].

use crate::{
    arrangement::{self, Arrangement, Sound},
    beats::BeatRecorder,
    console::{self, Recorder, Song, TICKS, Tags, nsf},
    found::Finder,
    timeline::Layout,
    tracker::{self, Chip, Module, furnace},
    transcribe::{Note, Transcriber, midi, score},
};
use std::ops::Range;
use tone_filter_dsp::{
    ChipTick, FoundKey, Settings, ToneFilter,
    listener::{beats::Beats, notes::Notes},
};

/// Maximum time in seconds by which a note may start before its bar.
const EARLY: f64 = 0.05;
/// Length of a bar in seconds where no bars are detected: four beats at 120 beats per minute.
const BAR: f64 = 2.0;
/// Number of notes per second for which memory is reserved. Dense music has as many.
const NOTES: f64 = 30.0;

/// Format in which [`Take::write`] writes a song file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Song file of the tracker Furnace, for the NES.
    Furnace,
    /// NSF file: a program for the NES that plays the song.
    Nsf,
    /// MIDI file of the notes as they were played, with tempi and bars.
    Midi,
    /// MIDI file of the arrangement: lead, chords, bass, and drums on channel 10.
    Parts,
    /// Score: a text file with notes, which replace the decisions of a listener.
    Score,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 5] = [Self::Midi, Self::Parts, Self::Furnace, Self::Nsf, Self::Score];

    /// Returns the extension of the format's files.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Furnace => "fur",
            Self::Nsf => "nsf",
            Self::Midi | Self::Parts => "mid",
            Self::Score => "tfs",
        }
    }

    /// Returns the filter's settings for recording a song with the sound of `settings`.
    pub fn settings(self, settings: Settings) -> Settings {
        match self {
            Self::Midi | Self::Score => Settings { lookahead: true, ..settings },
            Self::Nsf => console::settings(settings),
            Self::Furnace | Self::Parts => tracker::settings(settings),
        }
    }
}

/// Recorder of a [`Take`]. Drums and registers need the voice Chip; beats need lookahead.
#[derive(Debug, Clone)]
pub struct TakeRecorder {
    notes: Transcriber,
    beats: BeatRecorder,
    ticks: Recorder,
    key: Finder,
}

impl Default for TakeRecorder {
    fn default() -> Self {
        let (beats, ticks, key) = Default::default();
        Self { notes: Transcriber::new(Notes::checked()), beats, ticks, key }
    }
}

impl TakeRecorder {
    /// Records the filter's last block. Must be called after each of the filter's blocks.
    pub fn push(&mut self, filter: &ToneFilter) {
        self.notes.push(filter);
        self.beats.push(filter);
        self.ticks.push(filter);
        self.key.push(filter);
    }

    /// Allocates memory for the notes, beats and ticks of `seconds` more. Call it after the first decision.
    pub fn reserve(&mut self, seconds: f64) {
        self.notes.reserve((seconds * NOTES) as usize);
        self.beats.reserve(seconds);
        self.ticks.reserve(seconds);
    }

    /// Forgets everything before `seconds`, except for the key. Times still count from the start of the recording.
    pub fn forget(&mut self, seconds: f64) {
        self.notes.forget(seconds);
        self.beats.forget(seconds);
        self.ticks.forget(seconds);
    }

    /// Returns the time in seconds from which on everything is kept; 0 unless something was forgotten.
    pub fn start(&self) -> f64 {
        self.ticks.start()
    }

    /// Returns the notes up to `seconds`, sorted by their start.
    pub fn notes(&self, seconds: f64) -> Vec<Note> {
        self.notes.clone().finish(seconds)
    }

    /// Returns the beats between `start` and `end`, computed without the sound before `start`.
    pub fn beats(&self, start: f64, end: f64) -> Option<Beats> {
        let mut recorder = self.beats.clone();
        recorder.forget(start);
        recorder.beats(end)
    }

    /// Returns the take up to `seconds`. It has beats only if `beats` is set, as they take long to compute.
    pub fn take(&self, seconds: f64, beats: bool, settings: &Settings) -> Take {
        Take {
            start: self.start(),
            end: seconds,
            notes: self.notes(seconds),
            beats: beats.then(|| self.beats.beats(seconds)).flatten(),
            ticks: self.ticks.clone().finish(seconds),
            key: self.key.found(settings).key,
        }
    }
}

/// Everything that a song file needs. Times are in seconds.
#[derive(Debug, Clone, PartialEq)]
pub struct Take {
    /// Start: 0, unless earlier sound was forgotten.
    pub start: f64,
    /// End of the take, and of the notes that still sound then.
    pub end: f64,
    /// Notes, sorted by their start.
    pub notes: Vec<Note>,
    /// Beats; `None` if none were detected.
    pub beats: Option<Beats>,
    /// Ticks of the voice Chip, from `start` on.
    pub ticks: Vec<ChipTick>,
    /// Key of the music; `None` if none was found.
    pub key: Option<FoundKey>,
}

impl Take {
    /// Returns the part of the take within `range`, moved to 0.
    ///
    /// Notes may start up to 50 ms before their beat. So the part has the notes that start from 50 ms before it until 50 ms before
    /// its end. They are cut at its end.
    pub fn part(&self, range: Range<f64>) -> Self {
        let (from, until) = (range.start.max(self.start), range.end.min(self.end));
        let moved = |note: &Note| Note {
            start: (note.start - from).max(0.0),
            end: note.end.min(until) - from,
            ..*note
        };
        let is_within = |note: &&Note| (from - EARLY..until - EARLY).contains(&note.start);
        let notes = self.notes.iter().filter(is_within).map(moved);
        let notes = notes.filter(|note| note.end > note.start).collect();
        let beats = self.beats.as_ref().map(|beats| {
            let mut beats = beats.clone();
            // Tolerance of half a millisecond: the part begins at a beat, and times are rounded.
            beats.beats.retain(|beat| (from - 5e-4..until - 5e-4).contains(&beat.time));
            beats.beats.iter_mut().for_each(|beat| beat.time = (beat.time - from).max(0.0));
            beats
        });
        let tick = |seconds: f64| (((seconds - self.start) * f64::from(TICKS)).round()) as usize;
        let ticks = self.ticks.iter().take(tick(until)).skip(tick(from)).copied().collect();
        Self { start: 0.0, end: (until - from).max(0.0), notes, beats, ticks, key: self.key }
    }

    /// Returns the time range of the last `count` bars, up to the end of the bar in which the last note starts. Where no bars are
    /// detected, a bar lasts two seconds, and the range ends with the notes. `None` without notes.
    pub fn last_bars(&self, count: usize) -> Option<Range<f64>> {
        let last = self.notes.last()?.start + EARLY;
        let mut bars: Vec<f64> = self.beats.iter().flat_map(Beats::downbeats).collect();
        let [.., before, newest] = bars[..] else {
            let until = self.notes.iter().map(|note| note.end).fold(last, f64::max);
            return Some((until - count as f64 * BAR).max(self.start)..until);
        };
        let mut next = newest;
        while next <= last {
            next += newest - before;
            bars.push(next);
        }
        let end = bars.partition_point(|bar| *bar <= last).clamp(1, bars.len() - 1);
        let start = end.checked_sub(count).map_or(self.start, |first| bars[first]);
        Some(start..bars[end])
    }

    /// Returns the arrangement of the take in lead, chords, bass and drums, with the sound of `settings`.
    ///
    /// The grid follows `tempo` in beats per minute if given, otherwise the beats, otherwise 120 beats per minute.
    pub fn arrangement(&self, settings: &Settings, tempo: Option<f64>) -> Arrangement {
        let timeline = Layout::new(tempo, self.beats.as_ref(), None).timeline;
        let (shift, sound) = (settings.pitch_shift(), Sound::of(settings));
        Arrangement::new(&self.notes, shift, &self.ticks, self.end, timeline, sound)
    }

    /// Returns the take as a file, and its number of notes. The take must start at 0.
    ///
    /// # Errors
    /// If the song is too long for the format; the error is a message for users.
    pub fn write(
        &self,
        format: Format,
        settings: &Settings,
        title: String,
    ) -> Result<(Vec<u8>, usize), &'static str> {
        let tags = Tags { title, author: String::new() };
        let layout = Layout::new(None, self.beats.as_ref(), self.key);
        Ok(match format {
            Format::Furnace => {
                let arrangement = self.arrangement(settings, None);
                let song = Module::new(&arrangement, Chip::Nes, None)
                    .ok_or("The song exceeds the 128 patterns of a tracker.")?;
                (furnace(&song, &tags), arrangement.notes())
            }
            Format::Nsf => {
                let song = Song::new(&self.ticks, None);
                let file = nsf(&song, &tags).ok_or("The song exceeds the 1 MB of an NSF file.")?;
                (file, song.notes)
            }
            Format::Midi => (midi(&self.notes, settings.pitch_shift(), &layout), self.notes.len()),
            Format::Parts => {
                let arrangement = self.arrangement(settings, None);
                (arrangement::midi(&arrangement, layout.key.as_ref()), arrangement.notes())
            }
            Format::Score => (score(&self.notes).to_string().into_bytes(), self.notes.len()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tone_filter_dsp::listener::beats::Beat;

    /// Returns a take of 40 s with a note on each beat, and a bar of four beats every two seconds from 0.5 s to 38.5 s.
    fn take() -> Take {
        let time = |n: usize| 0.5 + 0.5 * n as f64;
        let note = |n: usize| Note {
            tone: n % 12,
            offset: 0,
            // Played 10 ms early, and a beat long.
            start: time(n) - 0.01,
            end: time(n) + 0.49,
            velocity: 90,
            place: 0.0,
        };
        let beat = |n: usize| Beat { time: time(n), place: (n % 4) as u8, meter: 4 };
        let tick = |n| ChipTick { number: n, ..ChipTick::default() };
        Take {
            start: 0.0,
            end: 40.0,
            notes: (0..77).map(note).collect(),
            beats: Some(Beats { beats: (0..77).map(beat).collect(), certainty: 1.0 }),
            ticks: (0..2400).map(tick).collect(),
            key: None,
        }
    }

    #[test]
    fn last_bars_end_with_the_last_note() {
        let take = take();
        // The last note begins the bar at 38.5 s.
        for (count, start) in [(1, 38.5), (2, 36.5), (8, 24.5), (20, 0.5), (21, 0.0)] {
            assert_eq!(take.last_bars(count), Some(start..40.5), "{count}");
        }
        // Bars after the last note do not count.
        let silent = Take { notes: take.notes[..68].to_vec(), ..take.clone() };
        assert_eq!(silent.last_bars(2), Some(30.5..34.5));
        let without = Take { beats: None, ..silent };
        assert_eq!(without.last_bars(4), Some(34.49 - 8.0..34.49));
        assert_eq!(Take { notes: vec![], ..take }.last_bars(4), None);
    }

    #[test]
    fn a_part_starts_at_zero_with_its_bar() {
        let whole = take();
        let part = whole.part(8.5..12.5);
        assert_eq!((part.start, part.end), (0.0, 4.0));
        // Eight beats, the first note of which starts 10 ms before the part.
        let starts: Vec<f64> = part.notes.iter().map(|note| note.start).collect();
        for (n, start) in starts.iter().enumerate() {
            assert!((start - (0.5 * n as f64 - 0.01).max(0.0)).abs() < 1e-9, "{starts:?}");
        }
        assert_eq!((part.notes.len(), part.notes[0].tone), (8, 4));
        assert!((part.notes[7].end - 3.99).abs() < 1e-9);
        let beats = part.beats.as_ref().unwrap();
        assert_eq!((beats.beats.len(), beats.beats[0].time, beats.beats[0].place), (8, 0.0, 0));
        assert_eq!((part.ticks.len(), part.ticks[0].number), (240, 510));
        assert_eq!(whole.part(whole.start..whole.end).notes.len(), 77);
        // A take whose first half was forgotten.
        let late = Take { start: 20.0, ticks: whole.ticks[1200..].to_vec(), ..whole };
        assert_eq!(late.part(24.5..26.5).ticks[0].number, 1470);
    }

    #[test]
    fn forgetting_does_not_change_what_is_kept() {
        let settings = Format::Parts.settings(Settings::default());
        let mut filter = ToneFilter::new(48_000.0, &settings).unwrap().with_channels(1);
        filter.detect_notes(true);
        filter.reset();
        let [mut all, mut kept] = [(); 2].map(|()| TakeRecorder::default());
        let fade = |t: usize| 0.3 * (1.0 - (t % 24_000) as f32 / 24_000.0);
        let tone = |t: usize| fade(t) * (t as f32 * (0.05 + 0.01 * (t / 24_000 % 5) as f32)).sin();
        for second in 0..20 {
            let mut sound: Vec<f32> = (0..48_000).map(|t| tone(48_000 * second + t)).collect();
            filter.process_with(&mut [&mut sound], |_, filter| {
                all.push(filter);
                kept.push(filter);
            });
            kept.forget(second as f64 - 8.0);
        }
        assert!((kept.start() - 11.0).abs() < 0.1);
        let transposed = Settings { transpose: 2.0, ..settings };
        let [root, moved] = [settings, transposed].map(|set| all.key.found(&set).key.unwrap().root);
        // The music has no A, the pitch class 0.
        assert!(
            root.index() > 0 && moved.index() == (root.index() + 2) % 12,
            "{root:?}, {moved:?}"
        );
        let [all, kept] =
            [all, kept].map(|recorder| recorder.take(20.0, true, &settings).part(12.5..19.5));
        assert_eq!((&kept.notes, &kept.ticks), (&all.notes, &all.ticks));
        assert!(kept.notes.len() >= 10 && kept.beats.is_some());
    }

    #[test]
    fn every_format_has_the_notes_of_the_part() {
        let part = take().part(8.5..12.5);
        for (format, magic) in [
            (Format::Midi, &b"MThd"[..]),
            (Format::Parts, b"MThd"),
            (Format::Furnace, &[0x78]),
            (Format::Nsf, b"NESM\x1a"),
            (Format::Score, b"tone-filter-score 1"),
        ] {
            let (file, notes) = part.write(format, &Settings::default(), "A".into()).unwrap();
            assert!(file.starts_with(magic), "{format:?}");
            // The ticks are silent.
            assert_eq!(notes, if format == Format::Nsf { 0 } else { 8 }, "{format:?}");
        }
    }
}
