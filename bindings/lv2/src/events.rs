//! Sequences of events, as hosts pass them in buffers: an [`Atom`], a unit, and after them the events, each with its frame, an
//! atom and its content, padded to 8 bytes.

use crate::abi::{Atom, Urid};

/// Bytes of the unit at the start of a sequence's content, which stands for frames.
const UNIT: usize = 8;
/// Bytes before an event's content: its frame, and its atom.
const EVENT: usize = 16;
/// Bytes before an object's first property.
const OBJECT: usize = 8;
/// Bytes before a property's content: key, context and atom.
const PROPERTY: usize = 16;
/// Bytes of an event with a message of MIDI.
const MESSAGE: usize = EVENT + 8;

/// A key, the type of its value, and the value.
type Part<'a> = (Urid, Urid, &'a [u8]);

/// A MIDI message of up to three bytes; a shorter one ends in zeros.
pub type Message = [u8; 3];

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4)?.try_into().ok().map(u32::from_ne_bytes)
}

/// Returns the parts of `bytes`, each of which has a head of `head` bytes that ends with an atom. An incomplete part ends them.
fn parts(mut bytes: &[u8], head: usize) -> impl Iterator<Item = (&[u8], Urid, &[u8])> {
    std::iter::from_fn(move || {
        let size = u32_at(bytes, head - 8)? as usize;
        let part = (bytes.get(..head)?, u32_at(bytes, head - 4)?, bytes.get(head..)?.get(..size)?);
        bytes = bytes.get(head + size.next_multiple_of(8)..).unwrap_or_default();
        Some(part)
    })
}

/// Returns the events of a sequence: their frames, types and contents.
///
/// # Safety
/// `sequence` is NULL, or an aligned atom of type `kind` with its content behind it, which nothing writes to while `'a` lasts.
/// Another type has no events.
pub unsafe fn read<'a>(
    sequence: *const Atom,
    kind: Urid,
) -> impl Iterator<Item = (i64, Urid, &'a [u8])> {
    // SAFETY: by the caller.
    let head = unsafe { sequence.as_ref() }.filter(|head| head.kind == kind);
    let content = head.map_or(&[][..], |head| {
        // SAFETY: by the caller, the content follows.
        unsafe { std::slice::from_raw_parts(sequence.add(1).cast(), head.size as usize) }
    });
    parts(content.get(UNIT..).unwrap_or_default(), EVENT).map(|(head, kind, content)| {
        let frame = head.first_chunk().map_or(0, |frame| i64::from_ne_bytes(*frame));
        (frame, kind, content)
    })
}

/// Returns the type of an object and its properties: their keys, types and contents.
pub fn object(content: &[u8]) -> Option<(Urid, impl Iterator<Item = Part<'_>>)> {
    let kind = u32_at(content, 4)?;
    let properties = parts(&content[OBJECT..], PROPERTY);
    Some((
        kind,
        properties.filter_map(|(head, kind, content)| Some((u32_at(head, 0)?, kind, content))),
    ))
}

/// Writes a sequence for the host.
pub struct Writer<'a> {
    /// The head and the room behind it; NULL if the port is not connected.
    head: *mut Atom,
    room: &'a mut [u8],
    used: usize,
    midi: Urid,
}

impl Writer<'_> {
    /// Returns an empty sequence of type `kind`, for events of type `midi`.
    ///
    /// # Safety
    /// `sequence` is NULL, or an aligned atom with as much room behind it as its size tells, which nothing else accesses before the
    /// writer is dropped.
    pub unsafe fn new(sequence: *mut Atom, kind: Urid, midi: Urid) -> Self {
        let mut room: &mut [u8] = &mut [];
        // SAFETY: by the caller.
        if let Some(head) = unsafe { sequence.as_mut() } {
            // SAFETY: by the caller, the room follows.
            room = unsafe {
                std::slice::from_raw_parts_mut(sequence.add(1).cast(), head.size as usize)
            };
            let unit = room.len().min(UNIT);
            room[..unit].fill(0);
            *head = Atom { size: unit as u32, kind };
        }
        let used = room.len().min(UNIT);
        Self { head: sequence, room, used, midi }
    }

    /// Writes `message` at `frame`, which is not before the last message. Leaves room for the ends of all notes in `sounding`, so
    /// that every note ends: without that room, the message is lost.
    pub fn write(&mut self, frame: u32, message: Message, sounding: &mut Sounding) {
        let [status, first, second] = message;
        let content = [status, first, second, 0, 0, 0, 0, 0];
        let after = sounding.after(message);
        let end = self.used + MESSAGE;
        if end + MESSAGE * after.count() > self.room.len() {
            return;
        }
        *sounding = after;
        let event = &mut self.room[self.used..end];
        event[..8].copy_from_slice(&i64::from(frame).to_ne_bytes());
        event[8..12].copy_from_slice(&length(status).to_ne_bytes());
        event[12..EVENT].copy_from_slice(&self.midi.to_ne_bytes());
        event[EVENT..].copy_from_slice(&content);
        self.used = end;
        // SAFETY: there is room, so the head is there, by `new`.
        unsafe { (*self.head).size = end as u32 };
    }
}

/// The notes that were written and have not ended: the keys of each channel.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sounding([u128; 16]);

impl Sounding {
    /// These notes after `message`.
    fn after(mut self, [status, key, velocity]: Message) -> Self {
        let keys = &mut self.0[usize::from(status & 15)];
        match (status & 0xF0, key, velocity) {
            (0x80, ..) | (0x90, _, 0) => *keys &= !(1 << (key & 127)),
            (0x90, ..) => *keys |= 1 << (key & 127),
            (0xB0, 120 | 123, _) => *keys = 0,
            _ => {}
        }
        self
    }

    fn count(&self) -> usize {
        self.0.iter().map(|keys| keys.count_ones() as usize).sum()
    }
}

/// Bytes of a message with this status.
fn length(status: u8) -> u32 {
    match status {
        0xC0..=0xDF | 0xF1 | 0xF3 => 2,
        0xF4..=0xFF => 1,
        _ => 3,
    }
}
