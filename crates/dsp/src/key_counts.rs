//! Counts of the notes on each MIDI key: notes that share a key are sent as one MIDI note.

/// Note counts per MIDI key, for notes that are sent. Notes that [`Map`](crate::Map) moves to one key are sent as one note, from
/// the first start to the last end: with two note-ons, the first note-off would end both.
///
/// ```
/// use tone_filter_dsp::KeyCounts;
///
/// let mut keys = KeyCounts::new();
/// assert!(keys.press(60) && !keys.press(60));
/// assert!(!keys.release(60) && keys.release(60));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyCounts([u32; 128]);

impl Default for KeyCounts {
    fn default() -> Self {
        Self::new()
    }
}

impl KeyCounts {
    /// Creates counts of 0.
    pub const fn new() -> Self {
        Self([0; 128])
    }

    /// Adds a note on `key` (0..128). Returns whether it is the only one, so that a note-on is due.
    pub fn press(&mut self, key: u8) -> bool {
        let notes = self.notes(key);
        *notes += 1;
        *notes == 1
    }

    /// Removes a note from `key` (0..128), if there is one. Returns whether it was the last, so that a note-off is due.
    pub fn release(&mut self, key: u8) -> bool {
        let notes = self.notes(key);
        let before = *notes;
        *notes = before.saturating_sub(1);
        before == 1
    }

    fn notes(&mut self, key: u8) -> &mut u32 {
        &mut self.0[usize::from(key & 0x7F)]
    }
}
