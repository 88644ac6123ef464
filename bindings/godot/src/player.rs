//! The filter on the audio thread, and the channel through which it receives states. It calls nothing of Godot, so its tests
//! run without Godot.

use godot::classes::native::AudioFrame;
use std::sync::Arc;
use tone_filter_dsp::{Controls, Error, Keyboard, Score, ToneFilter};
use triple_buffer::{Input, Output, triple_buffer};

const CHUNK: usize = 64;

/// Input from the game: settings and routing, held keys, the score, and the position in the score.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct State {
    pub controls: Controls,
    pub keyboard: Keyboard,
    /// Score that replaces the listener's decisions; `None` without a score.
    pub score: Option<Arc<Score>>,
    /// Latest seek in the score.
    pub seek: Seek,
}

/// Position in the score: of the game's last seek, or of a player that has played on from that seek.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Seek {
    /// Number of the game's seeks up to the one that led to this position.
    pub count: u64,
    /// Position in seconds from the start of the score.
    pub seconds: f64,
}

impl Seek {
    /// Returns the game's next seek, to `seconds`.
    pub fn next(self, seconds: f64) -> Self {
        Self { count: self.count + 1, seconds }
    }

    /// Returns `reached`, a player's position, if it follows the same seek and is later in the score; otherwise this position.
    pub fn or_later(self, reached: Self) -> Self {
        if reached.count == self.count && reached.seconds > self.seconds { reached } else { self }
    }
}

/// Filter that follows the latest state it has received.
pub struct Player {
    filter: ToneFilter,
    receiver: Output<State>,
    /// [`Seek::count`] of the last seek that the filter has followed.
    seek_count: u64,
    /// Sender of the position that the filter has reached in the score.
    position: Input<Seek>,
}

impl Player {
    /// Creates a player at `rate` Hz, the sender of its states, and the receiver of its position in the score.
    pub fn new(rate: f32, state: &State) -> Result<(Self, Input<State>, Output<Seek>), Error> {
        let mut filter = ToneFilter::new(rate.into(), &state.controls.settings)?;
        filter.set_routing(state.controls.routing);
        filter.set_keyboard(&state.keyboard);
        filter.set_score(state.score.clone());
        let Seek { count: seek_count, seconds } = state.seek;
        filter.seek(seconds);
        let (sender, receiver) = triple_buffer(state);
        let (position, reached) = triple_buffer(&state.seek);
        Ok((Self { filter, receiver, seek_count, position }, sender, reached))
    }

    /// Filters `source` into `target`, up to the end of the shorter one. Neither allocates nor waits. Dropping an old score
    /// does not free it here, because the sender keeps a reference.
    pub fn process(&mut self, source: &[AudioFrame], target: &mut [AudioFrame]) {
        if self.receiver.update() {
            let state = self.receiver.output_buffer();
            // The sender has validated the settings.
            let _ = self.filter.set_controls(&state.controls);
            self.filter.set_keyboard(&state.keyboard);
            drop(self.filter.set_score(state.score.clone()));
            let Seek { count, seconds } = state.seek;
            if count != self.seek_count {
                self.seek_count = count;
                self.filter.seek(seconds);
            }
        }
        for (source, target) in source.chunks(CHUNK).zip(target.chunks_mut(CHUNK)) {
            let (mut left, mut right) = ([0.0; CHUNK], [0.0; CHUNK]);
            for (i, frame) in source.iter().enumerate() {
                (left[i], right[i]) = (frame.left, frame.right);
            }
            let count = source.len().min(target.len());
            self.filter.process(&mut [&mut left[..count], &mut right[..count]]);
            for (i, frame) in target.iter_mut().take(count).enumerate() {
                *frame = AudioFrame { left: left[i], right: right[i] };
            }
        }
        self.position.write(Seek { count: self.seek_count, seconds: self.filter.score_time() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tone_filter_dsp::{KeyEvent, Keys};

    #[test]
    fn the_player_matches_the_filter() {
        let mut state = State::default();
        let (mut player, mut sender, mut reached) = Player::new(48_000.0, &state).unwrap();
        let mut filter = ToneFilter::new(48_000.0, &state.controls.settings).unwrap();
        for count in 0..200 {
            if count == 100 {
                state.controls.settings.keys = Keys::Hold;
                state.keyboard.play(KeyEvent::Key(57, 0.75));
                sender.write(state.clone());
                filter.set_settings(&state.controls.settings).unwrap();
                filter.play(KeyEvent::Key(57, 0.75));
            }
            if count == 150 {
                let score: Score = "tone-filter-score 1\n1 1.3 57".parse().unwrap();
                state.controls.settings.keys = Keys::Off;
                (state.score, state.seek) = (Some(Arc::new(score)), state.seek.next(0.9));
                sender.write(state.clone());
                filter.set_settings(&state.controls.settings).unwrap();
                filter.set_score(state.score.clone());
                filter.seek(0.9);
            }
            if count == 170 {
                // Godot creates a new instance, which continues the score.
                state.seek = state.seek.or_later(*reached.read());
                assert!((state.seek.seconds - (0.9 + 20.0 * 500.0 / 48_000.0)).abs() < 1e-9);
                (player, sender, reached) = Player::new(44_100.0, &state).unwrap();
                filter = ToneFilter::new(44_100.0, &state.controls.settings).unwrap();
                filter.set_keyboard(&state.keyboard);
                filter.set_score(state.score.clone());
                filter.seek(state.seek.seconds);
            }
            // A saw of 220 Hz, in blocks that are not a multiple of the chunk.
            let sample = |i: usize| ((count * 500 + i) * 220 % 48_000) as f32 / 48_000.0 - 0.5;
            let mut left: Vec<f32> = (0..500).map(sample).collect();
            let mut right: Vec<f32> = left.iter().map(|sample| 0.5 * sample).collect();
            let frame = |(left, right): (&f32, &f32)| AudioFrame { left: *left, right: *right };
            let source: Vec<_> = left.iter().zip(&right).map(frame).collect();
            let mut target = vec![AudioFrame { left: 9.0, right: 9.0 }; 500];
            player.process(&source, &mut target);
            filter.process(&mut [&mut left, &mut right]);
            let expected: Vec<_> = left.iter().zip(&right).map(frame).collect();
            assert!(target == expected, "block {count}");
        }
    }

    #[test]
    fn a_sample_rate_out_of_range_is_an_error() {
        assert!(Player::new(0.0, &State::default()).is_err());
    }
}
