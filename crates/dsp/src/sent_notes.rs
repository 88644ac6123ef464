//! The detected notes as they begin and end, and as keys, for what sends them on as MIDI.

use crate::{
    Controls, KeyCounts, ToneFilter,
    listener::notes::{Event, Notes},
    notes::{TONES, midi_note, of_listener},
};

/// Keys of detected notes that have been sent, so that each of them ends.
#[derive(Debug)]
pub struct SentNotes {
    notes: Notes,
    /// Key of the note that sounds on each band.
    keys: [Option<u8>; TONES],
    /// Keys whose start was sent and whose end was not yet.
    held: KeyCounts,
    /// Whether these notes are to end with the next block.
    over: bool,
}

impl Default for SentNotes {
    fn default() -> Self {
        Self::new()
    }
}

impl SentNotes {
    /// Without notes.
    pub const fn new() -> Self {
        Self { notes: Notes::live(), keys: [None; TONES], held: KeyCounts::new(), over: false }
    }

    /// Lets all notes end with the next [`SentNotes::push`].
    pub fn clear(&mut self) {
        self.over = true;
    }

    /// Passes each key (0..128) that has begun in the filter's last block of 64 samples to `send`, with its velocity (1..128), and
    /// each that has ended, with `None`. Notes on one key are one note; see [`KeyCounts`]. To be called after each block. Without
    /// [`Routing::midi_out`](crate::Routing::midi_out), and with a bypass, all keys end. Does not allocate.
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
                // A note beyond the MIDI keyboard has no key.
                let note = midi_note(band, shift) + i32::from(offsets[band]);
                keys[band] = u8::try_from(note).ok().filter(|key| *key < 128);
                if let Some(key) = keys[band].filter(|key| held.press(*key)) {
                    send(key, velocity);
                }
            }
        });
    }
}
