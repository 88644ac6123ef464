//! Key and tuning as they are found in the music, and the settings that follow them.

use crate::{FoundKey, Settings, ToneFilter, analysis::Resolved};

impl ToneFilter {
    /// The settings that were set last, with the scale and the tuning that were found in the music where they follow it.
    pub fn resolved(&self) -> Settings {
        *self.in_use()
    }

    /// [`ToneFilter::resolved`], for what takes no other settings.
    pub(crate) fn in_use(&self) -> Resolved {
        self.analysis.found.resolve(&self.controls.settings)
    }

    /// Looks for key and tuning of the music from the next multiple of 64 samples on, for [`ToneFilter::found_key`] and
    /// [`ToneFilter::found_tuning`], where the listener runs. Without it, they are looked for only where the settings follow them.
    pub fn find_key_and_tuning(&mut self, find: bool) {
        self.analysis.found.want(find);
    }

    /// The key of the last half minute or so, if it is looked for and enough notes were detected.
    pub fn found_key(&self) -> Option<FoundKey> {
        self.analysis.found.key()
    }

    /// The frequency of A4 in Hz that fits the tones of the last 20 s or so best, within 60 cents of `tuning`, if it is looked for and
    /// enough tones agree.
    pub fn found_tuning(&self) -> Option<f64> {
        self.analysis.found.a4(&self.controls.settings)
    }
}
