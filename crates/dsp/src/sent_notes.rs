//! Detected notes as key presses and releases, to be sent as MIDI.

use crate::{
    Controls, KeyCounts, ToneFilter,
    listener::notes::{Event, Notes},
    notes::{TONES, midi_note, of_listener},
};

/// Keys of the detected notes that were sent, so that each of them is ended.
#[derive(Debug)]
pub struct SentNotes {
    notes: Notes,
    /// Key of the note that sounds on each band.
    keys: [Option<u8>; TONES],
    /// Keys that were sent as pressed and not yet as released.
    held: KeyCounts,
    /// Whether all notes are to end at the next [`SentNotes::push`].
    over: bool,
}

impl Default for SentNotes {
    fn default() -> Self {
        Self::new()
    }
}

impl SentNotes {
    /// Creates the state without notes.
    pub const fn new() -> Self {
        Self { notes: Notes::live(), keys: [None; TONES], held: KeyCounts::new(), over: false }
    }

    /// Ends all notes at the next [`SentNotes::push`].
    pub fn clear(&mut self) {
        self.over = true;
    }

    /// Passes the keys (0..128) of the filter's last block of 64 samples to `send`: each key that has begun with its velocity
    /// (1..128), and each that has ended with `None`. Must be called after each block. Notes on one key are sent as one note; see
    /// [`KeyCounts`]. Without [`Routing::midi_out`](crate::Routing::midi_out), and with a bypass, all keys end. Does not
    /// allocate.
    ///
    /// ```
    /// use tone_filter_dsp::{Routing, SentNotes, Settings, ToneFilter};
    ///
    /// let mut filter = ToneFilter::new(48_000.0, &Settings::default())?;
    /// filter.set_routing(Routing { midi_out: true, ..Routing::default() });
    /// filter.detect_notes(true);
    /// let mut notes = SentNotes::new();
    /// filter.process_with(&mut [&mut [0.0; 512]], |_, filter| {
    ///     notes.push(filter, |key, _| panic!("key {key} in silence"));
    /// });
    /// # Ok::<(), tone_filter_dsp::Error>(())
    /// ```
    pub fn push(&mut self, filter: &ToneFilter, mut send: impl FnMut(u8, Option<u8>)) {
        let Controls { settings, routing } = filter.controls();
        let sends = routing.midi_out && !routing.bypass;
        let held = &mut self.held;
        if self.over || !sends {
            let ended = self.keys.iter_mut().filter_map(Option::take);
            ended.filter(|key| held.release(*key)).for_each(|key| send(key, None));
            (self.notes, self.over) = (Notes::live(), false);
        }
        if !sends {
            return;
        }
        let (keys, shift) = (&mut self.keys, settings.pitch_shift());
        let offsets = filter.offsets();
        filter.report_notes(&mut self.notes, |Event { note, velocity, .. }| {
            let Some(band) = of_listener(note) else { return };
            if let Some(key) = keys[band].take().filter(|key| held.release(*key)) {
                send(key, None);
            }
            if velocity.is_some() {
                // A note outside the MIDI range has no key.
                let note = midi_note(band, shift) + i32::from(offsets[band]);
                keys[band] = u8::try_from(note).ok().filter(|key| *key < 128);
                if let Some(key) = keys[band].filter(|key| held.press(*key)) {
                    send(key, velocity);
                }
            }
        });
    }
}
