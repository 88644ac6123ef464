//! Finder of the key and the tuning of a file.

use tone_filter_dsp::{FoundKey, KeyFinder, PitchClass, Settings, ToneFilter, TuningFinder};

/// Finds the key from the decisions of a filter's listener, and the tuning from its deviations.
#[derive(Debug, Clone, Default)]
pub struct Finder {
    /// `None` until the length of a frame is known.
    finders: Option<(KeyFinder, TuningFinder)>,
    frames: u64,
}

/// Key and tuning of a file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KeyAndTuning {
    /// Key of the output: the root includes the setting `transpose`. `None` if no key was found.
    pub key: Option<FoundKey>,
    /// Frequency of A4 in Hz, within half a semitone of the setting `tuning`; `None` if no tuning was found.
    pub tuning: Option<f64>,
}

impl Finder {
    /// Records the filter's last decisions. Must be called after each of the filter's blocks.
    pub fn push(&mut self, filter: &ToneFilter) {
        let listener = filter.listener();
        let decisions = listener.decisions();
        if decisions.frames == self.frames {
            return;
        }
        self.frames = decisions.frames;
        let (key, tuning) = self.finders.get_or_insert_with(|| {
            let frame = listener.frame() as f64 / filter.sample_rate();
            (KeyFinder::new(frame, f64::INFINITY), TuningFinder::new(frame, f64::INFINITY))
        });
        key.push(decisions);
        tuning.push(listener.deviation());
    }

    /// Returns the key and the tuning of the sound so far. `settings` are those of the filter.
    pub fn found(&self, settings: &Settings) -> KeyAndTuning {
        let Settings { tuning, transpose, .. } = *settings;
        let shift = (transpose.round() as i32).rem_euclid(12) as usize;
        let moved =
            |key: FoundKey| FoundKey { root: PitchClass::new(key.root.index() + shift), ..key };
        let finders = self.finders.as_ref();
        KeyAndTuning {
            key: finders.and_then(|(key, _)| key.key()).map(moved),
            tuning: finders
                .and_then(|(_, finder)| finder.a4(f64::from(tuning), f64::from(transpose))),
        }
    }
}
