//! What is played on a filter: keys, as events or all as one value, and scores of its music.

use crate::{BandMask, KeyEvent, Keyboard, Score, ToneFilter, listener::Decisions};
use std::sync::Arc;

impl ToneFilter {
    /// Applies a player's `event`, from the next multiple of 64 samples on; see
    /// [`ToneFilter::process_events`]. It has an effect if [`Settings::keys`](crate::Settings::keys) is on.
    ///
    /// ```
    /// use tone_filter_dsp::{KeyEvent, Keys, Settings, ToneFilter};
    ///
    /// // Of all notes of the input, only A4 sounds.
    /// let settings = Settings { keys: Keys::Hold, ..Settings::default() };
    /// let mut filter = ToneFilter::new(48_000.0, &settings)?;
    /// filter.play(KeyEvent::Key(69, 1.0));
    /// filter.process(&mut [&mut [0.0; 512]]);
    /// filter.play(KeyEvent::Key(69, 0.0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn play(&mut self, event: KeyEvent) {
        let before = self.keyboard().bend;
        self.analysis.keys.play(event);
        if self.keyboard().bend != before {
            self.aim();
        }
    }

    /// Plays what `keyboard` holds, in place of all keys so far. Does not allocate.
    ///
    /// ```
    /// use tone_filter_dsp::{KeyEvent, Keyboard, Keys, Settings, ToneFilter};
    ///
    /// let settings = Settings { keys: Keys::Hold, ..Settings::default() };
    /// let mut filter = ToneFilter::new(48_000.0, &settings)?;
    /// // On the player's thread, which sends a copy:
    /// let mut keyboard = Keyboard::default();
    /// keyboard.play(KeyEvent::Key(69, 0.8));
    /// keyboard.play(KeyEvent::Sustain(true));
    /// // On the audio thread:
    /// filter.set_keyboard(&keyboard);
    /// assert_eq!(*filter.keyboard(), keyboard);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_keyboard(&mut self, keyboard: &Keyboard) {
        self.analysis.keys.set_keyboard(*keyboard);
        self.aim();
    }

    /// The keys that are held.
    pub fn keyboard(&self) -> &Keyboard {
        self.analysis.keys.keyboard()
    }

    /// Semitones from each band's own note to the one at which it sounds now; see [`Settings::offsets`].
    ///
    /// [`Settings::offsets`]: crate::Settings::offsets
    pub fn offsets(&self) -> [i8; crate::notes::TONES] {
        self.in_use().offsets(self.analysis.keys.notes())
    }

    /// The bands that may sound now; see [`Settings::bands_with_keys`].
    ///
    /// [`Settings::bands_with_keys`]: crate::Settings::bands_with_keys
    pub fn sounding_bands(&self) -> BandMask {
        self.in_use().bands_with_keys(self.held())
    }

    /// The bands that sound by their keys.
    pub(crate) fn held(&self) -> BandMask {
        let settings = self.in_use();
        self.analysis.keys.held(settings.keys, settings.transpose)
    }
}

impl ToneFilter {
    /// Lets `score` decide which notes are played, in place of the listener, which then does not run; with `None`, the listener
    /// decides again, after some 100 ms. From the next multiple of 64 samples on; [`ToneFilter::seek`] tells it what time of the music it
    /// is. It has an effect at a [focus](crate::Settings::focus) above 0 %, and is reported by [`ToneFilter::report_notes`].
    ///
    /// Decisions are those of the score at the time at which the sound comes out, with `lookahead` and without: it is not needed. A note is as
    /// loud as it is in the sound.
    ///
    /// Neither allocates nor frees: the score before is returned, for another thread to drop.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use tone_filter_dsp::{Score, Settings, ToneFilter};
    ///
    /// let score: Score = "tone-filter-score 1\n0.0 2.0 69".parse()?;
    /// let mut filter = ToneFilter::new(48_000.0, &Settings::default())?;
    /// assert!(filter.set_score(Some(Arc::new(score))).is_none());
    /// // The game's music goes on at 0.5 s, or has begun again.
    /// filter.seek(0.5);
    /// filter.process(&mut [&mut [0.0; 512]]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_score(&mut self, score: Option<Arc<Score>>) -> Option<Arc<Score>> {
        self.analysis.set_score(score)
    }

    /// The latest decisions: those of the score if there is one, or of the listener.
    pub fn decisions(&self) -> &Decisions {
        self.analysis.decisions()
    }

    /// The score that decides which notes are played.
    pub fn score(&self) -> Option<&Arc<Score>> {
        self.analysis.score()
    }

    /// Goes on in the score from a time in seconds, of the next sample that is passed to the filter; from then on, it follows the samples. Outside
    /// the score, and before 0, no note is played.
    pub fn seek(&mut self, seconds: f64) {
        self.analysis.seek(seconds - self.position as f64 / self.sample_rate);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BandRange, Keys, PitchClasses, Scale, Settings, notes::TONES};

    fn filter() -> ToneFilter {
        ToneFilter::new(48_000.0, &Settings::default()).unwrap()
    }

    /// The weights of a block after keys have been pressed for long, of bands that have a weight of 1/2 without keys.
    fn weights(filter: &ToneFilter, mode: Keys, transpose: f32) -> Vec<(usize, f32)> {
        let mut keys = filter.analysis.keys.clone();
        (0..10).for_each(|_| _ = keys.follow(mode, transpose, None));
        let weights = (0..TONES).map(|tone| (tone, keys.weight(tone, 0.5)));
        weights.filter(|(_, weight)| *weight != 0.5 && *weight != 0.0).collect()
    }

    #[test]
    fn keys_choose_the_bands_that_sound_their_notes() {
        let mut filter = filter();
        filter.play(KeyEvent::Key(69, 1.0));
        filter.play(KeyEvent::Key(33, 0.5));
        filter.play(KeyEvent::Key(200, 1.0));
        assert_eq!(weights(&filter, Keys::Off, 0.0), []);
        assert_eq!(weights(&filter, Keys::Hold, 0.0), [(12, 1.0), (53, 0.25)]);
        assert_eq!(weights(&filter, Keys::Hold, -24.0), [(0, 0.25), (36, 1.0)]);
        assert_eq!(weights(&filter, Keys::Hold, 2.2), [(10, 1.0), (51, 0.25)]);
        assert_eq!(weights(&filter, Keys::Add, 0.0), [(12, 1.0)]);
        let any = weights(&filter, Keys::HoldAny, 0.0);
        assert_eq!(any, [0, 12, 24, 36, 53, 65].map(|tone| (tone, 1.0)));
        for (keys, [published, whole]) in [
            (Keys::Off, [4, 7]),
            (Keys::Hold, [1, 2]),
            (Keys::HoldAny, [4, 6]),
            (Keys::Add, [5, 9]),
        ] {
            // G# in four or seven octaves.
            let scale = Settings {
                scale: Scale::Custom,
                custom: PitchClasses::NONE.with(11, true),
                ..Settings::default()
            };
            for (range, count) in [(BandRange::Published, published), (BandRange::Whole, whole)] {
                filter.set_settings(&Settings { keys, range, ..scale }).unwrap();
                let sounding = filter.sounding_bands();
                assert_eq!((0..TONES).filter(|tone| sounding.contains(*tone)).count(), count);
                assert_eq!(sounding.contains(12), keys != Keys::Off);
                // The key of A1.
                let low = keys != Keys::Off && range == BandRange::Whole;
                assert_eq!(sounding.contains(53), low);
            }
        }
    }

    #[test]
    fn a_pedal_holds_what_is_released_and_a_release_of_all_ends_it() {
        let mut filter = filter();
        filter.play(KeyEvent::Key(69, 1.0));
        filter.play(KeyEvent::Sustain(true));
        filter.play(KeyEvent::Key(69, 0.0));
        filter.play(KeyEvent::Key(81, 1.0));
        assert_eq!(weights(&filter, Keys::Hold, 0.0), [(12, 1.0), (24, 1.0)]);
        filter.play(KeyEvent::Sustain(false));
        assert_eq!(weights(&filter, Keys::Hold, 0.0), [(24, 1.0)]);
        filter.play(KeyEvent::Gain(81, 2.0));
        filter.play(KeyEvent::Gain(69, 2.0));
        assert_eq!(weights(&filter, Keys::Hold, 0.0), [(24, 2.0)]);
        filter.play(KeyEvent::Gain(81, f32::NAN));
        filter.play(KeyEvent::ReleaseAll);
        assert_eq!(weights(&filter, Keys::Hold, 0.0), []);
    }

    #[test]
    fn a_keyboard_that_is_set_plays_as_its_keys_do() {
        let (mut played, mut keyboard) = (filter(), Keyboard::default());
        played.play(KeyEvent::Key(60, 1.0));
        played.play(KeyEvent::Key(69, 0.5));
        played.play(KeyEvent::Bend(1.0));
        played.play(KeyEvent::Key(60, 0.0));
        keyboard.play(KeyEvent::Key(69, 0.5));
        keyboard.play(KeyEvent::Bend(1.0));
        let mut set = filter();
        set.play(KeyEvent::Key(72, 1.0));
        set.set_keyboard(&keyboard);
        assert_eq!(played.keyboard(), set.keyboard());
        let settings = Settings { keys: Keys::Hold, ..Settings::default() };
        let output = |filter: &mut ToneFilter| {
            filter.set_settings(&settings).unwrap();
            let mut sound: Vec<f32> = (0..4800).map(|i| (i % 109) as f32 / 200.0).collect();
            filter.process(&mut [&mut sound]);
            sound
        };
        assert_eq!(output(&mut played), output(&mut set));
    }

    #[test]
    fn weights_move_within_5_ms() {
        let mut filter = filter();
        filter.play(KeyEvent::Key(69, 1.0));
        let keys = &mut filter.analysis.keys;
        assert!(!keys.act(Keys::Off));
        for block in 1..=4 {
            keys.follow(Keys::Hold, 0.0, None);
            let reached = (block as f32 * 64.0 / (0.005 * 48_000.0)).min(1.0);
            assert!((keys.weight(12, 0.0) - reached).abs() < 1e-6);
            assert!((keys.weight(13, 1.0) - (1.0 - reached)).abs() < 1e-6);
        }
        (0..4).for_each(|_| _ = keys.follow(Keys::Off, 0.0, None));
        assert!(!keys.act(Keys::Off));
        assert_eq!(keys.weight(12, 0.3), 0.3);
    }
}
