//! One song: a filter, and the recorder of the song's format.

use tone_filter_dsp::{Stereo, ToneFilter};
use tone_filter_presets::Preset;
use tone_filter_song::take::{Format, TakeRecorder};

/// Energy of the mono mix, relative to the mean energy of left and right, up to which the two cancel: -20 dB.
const CANCELS: f64 = 0.01;

/// Formats of a song. JavaScript passes the index of one.
pub const FORMATS: [Format; 3] = [Format::Furnace, Format::Nsf, Format::Midi];

/// Song that is being recorded.
pub struct Song {
    format: Format,
    filter: ToneFilter,
    recorder: TakeRecorder,
    channels: usize,
    frames: usize,
    /// Energy of the mono mix, and mean energy of left and right; 0 unless the sound is stereo.
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
        let recorder = TakeRecorder::default();
        Ok(Self { format, filter, recorder, channels, frames: 0, energies: [0.0; 2] })
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
        let settings = self.filter.settings();
        let take = self.recorder.take(seconds, self.format != Format::Nsf, settings);
        let (file, notes) = take
            .write(self.format, settings, title)
            .map_err(|error| format!("{error} Choose a shorter file."))?;
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
