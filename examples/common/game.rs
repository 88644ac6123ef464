//! A game that changes the filter's settings and keys.

use tone_filter_dsp::{KeyEvent, Keyboard, Keys, Settings};

/// Number of frames that the device asks for at a time. Before each of these buffers, the game may change the sound.
pub const FRAMES: usize = 512;

/// Returns the game's settings and keys before buffer number `count`. Over the first 100 buffers, the music morphs into the
/// effect. From buffer 300 on, only the notes A and C pass.
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
