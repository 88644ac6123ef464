//! The game.

use tone_filter_dsp::{KeyEvent, Keyboard, Keys, Settings};

/// The number of frames that the device asks for at a time. Each time, the game may change the sound.
pub const FRAMES: usize = 512;

/// The state of the game before block number `count`: for the first 100 blocks, the music goes over into the effect; from
/// block 300 on, only the notes A and C are let through.
pub fn state(count: usize) -> (Settings, Keyboard) {
    let keys = if count < 300 { Keys::Off } else { Keys::HoldAny };
    let settings = Settings { morph: count.min(100) as f32, keys, ..Settings::default() };
    let mut keyboard = Keyboard::default();
    if count >= 300 {
        keyboard.play(KeyEvent::Key(69, 1.0));
        keyboard.play(KeyEvent::Key(72, 0.75));
    }
    (settings, keyboard)
}
