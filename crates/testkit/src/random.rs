//! Random numbers, from a seed or from the bytes of a fuzzer.

/// Source of random numbers. It takes them from the given bytes, and once these are used up, from a pseudo-random generator.
#[derive(Debug, Clone)]
pub struct Draws<'a> {
    /// Bytes that are not used up yet.
    bytes: &'a [u8],
    /// State of the generator.
    state: u64,
}

impl Draws<'static> {
    /// Creates a source that uses only the generator, seeded with `seed`.
    pub fn seeded(seed: u64) -> Self {
        Self { bytes: &[], state: seed }
    }
}

impl<'a> Draws<'a> {
    /// Creates a source that starts with `bytes`. A hash of `bytes` then seeds the generator.
    pub fn of(bytes: &'a [u8]) -> Self {
        let state = bytes.iter().fold(0, |hash: u64, byte| hash.rotate_left(5) ^ u64::from(*byte));
        Self { bytes, state }
    }

    /// Returns whether the given bytes are used up, so that numbers come from the generator.
    pub fn is_over(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Draws a number that has `bytes` bytes (1 to 8). All values are possible.
    fn number(&mut self, bytes: usize) -> u64 {
        if self.bytes.len() < bytes {
            self.bytes = &[];
            // SplitMix64.
            self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mixed = (self.state ^ self.state >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
            return (mixed ^ mixed >> 31) >> (64 - 8 * bytes);
        }
        let (taken, others) = self.bytes.split_at(bytes);
        self.bytes = others;
        taken.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
    }

    /// Draws any 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.number(8)
    }

    /// Draws a number in `0..count`.
    pub fn below(&mut self, count: usize) -> usize {
        let bytes = if count <= 1 << 6 { 1 } else { 4 };
        let number = self.number(bytes) as usize;
        // A scaled number, rather than a remainder, makes all results about equally likely.
        (number * count) >> (8 * bytes)
    }

    /// Draws a number in 0..1, in steps of 2^-24.
    pub fn share(&mut self) -> f64 {
        self.number(3) as f64 / (1u32 << 24) as f64
    }

    /// Draws a number in `low..high`.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.share()
    }

    /// Returns true with the given `probability`.
    pub fn chance(&mut self, probability: f64) -> bool {
        (self.number(1) as f64) < 256.0 * probability
    }

    /// Draws one of `items`.
    pub fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Values, controls};
    use std::collections::HashSet;
    use tone_filter_dsp::{BandMask, Controls, PitchClasses, Setting, Settings, Targets};

    #[test]
    fn every_entry_and_every_end_is_drawn() {
        let drawn: Vec<Controls> =
            (0..1000).map(|seed| controls(&mut Draws::seeded(seed))).collect();
        for setting in Setting::all() {
            let texts: HashSet<String> =
                drawn.iter().map(|controls| setting.text(controls)).collect();
            for end in setting.ends(&Controls::default()) {
                let (text, fixed) = (setting.text(&end), matches!(setting, Setting::Text(_)));
                assert!(fixed || texts.contains(&text), "{} {text} is never drawn", setting.id());
            }
        }
        let masks: Vec<&Settings> = drawn.iter().map(|controls| &controls.settings).collect();
        assert!(masks.iter().any(|settings| settings.bands == BandMask::NONE));
        assert!(masks.iter().any(|settings| settings.custom == PitchClasses::NONE));
        assert!(masks.iter().any(|settings| settings.targets != Targets::IDENTITY));
        assert!(drawn.iter().all(|controls| controls.settings.validate().is_ok()));
    }
}
