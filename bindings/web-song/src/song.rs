//! One song: a filter, and the recorder of the song's format.

use tone_filter_dsp::{Settings, Stereo, ToneFilter};
use tone_filter_presets::Preset;
use tone_filter_song::{
    arrangement::Arranger,
    beats::BeatRecorder,
    console::{self, Tags, nsf},
    found::Finder,
    timeline::Layout,
    tracker::{self, Chip, Module, furnace},
    transcribe::{Transcriber, midi},
};

/// Threshold below which left and right cancel, -20 dB: energy of the mono mix, relative to the mean energy of both channels.
const CANCELS: f64 = 0.01;

/// Format of a song.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Song of the tracker Furnace, as `tone-filter chip -o song.fur` writes it.
    Furnace,
    /// Program for a console, as `tone-filter chip -o song.nsf` writes it.
    Nsf,
    /// Notes, as `tone-filter bands --midi song.mid` writes them.
    Midi,
}

impl Format {
    /// All formats. JavaScript passes the index of one.
    pub const ALL: [Self; 3] = [Self::Furnace, Self::Nsf, Self::Midi];

    /// Returns the settings of the filter for a song with the sound of `settings`.
    fn settings(self, settings: Settings) -> Settings {
        match self {
            Self::Midi => Settings { lookahead: true, ..settings },
            Self::Nsf => console::settings(settings),
            Self::Furnace => tracker::settings(settings),
        }
    }
}

enum Recorder {
    Furnace(Arranger),
    Nsf(console::Recorder),
    Midi(Transcriber, BeatRecorder, Finder),
}

impl Recorder {
    fn new(format: Format) -> Self {
        match format {
            Format::Furnace => Self::Furnace(Arranger::default()),
            Format::Nsf => Self::Nsf(console::Recorder::default()),
            Format::Midi => {
                Self::Midi(Transcriber::new(false), BeatRecorder::default(), Finder::default())
            }
        }
    }

    /// Records the filter's last block.
    fn push(&mut self, filter: &ToneFilter) {
        match self {
            Self::Furnace(arranger) => arranger.push(filter),
            Self::Nsf(recorder) => recorder.push(filter),
            Self::Midi(notes, beats, key) => {
                notes.push(filter);
                beats.push(filter);
                key.push(filter);
            }
        }
    }

    /// Returns the file of a song of `seconds`, and the number of its notes.
    fn finish(
        self,
        seconds: f64,
        settings: &Settings,
        title: String,
    ) -> Result<(Vec<u8>, usize), String> {
        let tags = Tags { title, author: String::new() };
        match self {
            Self::Furnace(arranger) => {
                let arrangement = arranger.finish(seconds, settings, None);
                let song = Module::new(&arrangement, Chip::Nes, None).ok_or(
                    "The song exceeds the 128 patterns of a tracker. Choose a shorter file.",
                )?;
                Ok((furnace(&song, &tags), arrangement.notes()))
            }
            Self::Nsf(recorder) => {
                let song = console::Song::new(&recorder.finish(seconds), None);
                let file = nsf(&song, &tags)
                    .ok_or("The song exceeds the 1 MB of an NSF file. Choose a shorter file.")?;
                Ok((file, song.notes))
            }
            Self::Midi(notes, beats, key) => {
                let notes = notes.finish(seconds);
                let key = key.found(settings).key;
                let layout = Layout::new(None, beats.beats(seconds).as_ref(), key);
                Ok((midi(&notes, settings.pitch_shift(), &layout), notes.len()))
            }
        }
    }
}

/// Song that is being recorded.
pub struct Song {
    filter: ToneFilter,
    recorder: Recorder,
    channels: usize,
    frames: usize,
    /// Energy of the mono mix, then mean energy of left and right; 0 unless the sound is stereo.
    energies: [f64; 2],
}

impl Song {
    /// Begins a song from a sound of `rate` Hz. `preset` is a preset file's text, in JSON.
    pub fn new(format: Format, rate: f64, channels: usize, preset: &str) -> Result<Self, String> {
        if channels == 0 {
            return Err("The sound has no channels.".into());
        }
        let loaded = Preset::from_json(preset).map_err(|error| error.to_string())?;
        let settings = format.settings(loaded.preset.settings);
        let filter = ToneFilter::new(rate, &settings).map_err(|error| error.to_string())?;
        let mut filter = filter.with_channels(channels);
        filter.detect_notes(true);
        filter.reset();
        let recorder = Recorder::new(format);
        Ok(Self { filter, recorder, channels, frames: 0, energies: [0.0; 2] })
    }

    /// Adds samples to the song, all samples of the first channel first. Overwrites them with the filter's output.
    pub fn push(&mut self, samples: &mut [f32]) {
        let frames = samples.len() / self.channels;
        if frames == 0 {
            return;
        }
        self.frames += frames;
        if self.channels == 2 {
            let (left, right) = samples.split_at(frames);
            for (left, right) in left.iter().zip(right) {
                let [left, right] = [left, right].map(|sample| f64::from(*sample));
                self.energies[0] += ((left + right) / 2.0).powi(2);
                self.energies[1] += (left * left + right * right) / 2.0;
            }
        }
        self.process(samples, frames);
    }

    fn process(&mut self, samples: &mut [f32], frames: usize) {
        let Self { filter, recorder, .. } = self;
        let mut channels: Vec<_> = samples.chunks_exact_mut(frames).take(self.channels).collect();
        filter.process_with(&mut channels, |_, filter| recorder.push(filter));
    }

    /// Returns the file of the song, or the reason why there is none.
    pub fn finish(mut self, title: String) -> Result<Vec<u8>, String> {
        let seconds = self.frames as f64 / self.filter.sample_rate();
        // Flushes the end of the sound, which the filter delays.
        let latency = self.filter.latency();
        if latency > 0 {
            self.process(&mut vec![0.0; latency * self.channels], latency);
        }
        let (file, notes) = self.recorder.finish(seconds, self.filter.settings(), title)?;
        let [mean, channels] = self.energies;
        let stereo = self.filter.settings().stereo;
        if notes > 0 {
            Ok(file)
        } else if channels > 0.0 && mean <= CANCELS * channels && stereo != Stereo::Stereo {
            Err("Left and right are of opposite polarity and cancel. Set Stereo to Stereo.".into())
        } else {
            Err("No notes were found. Raise Sensitivity, or choose another file.".into())
        }
    }
}
