//! Reads and writes sequences of events in the host's buffers. A sequence is an [`Atom`], a unit of time, and events. An event
//! is its frame, an atom, and the atom's content, padded to a multiple of 8 bytes.

use crate::abi::{Atom, Urid};

/// Size in bytes of the unit of time, with which a sequence's content begins. Its bytes are 0, which stands for frames.
const UNIT: usize = 8;
/// Size in bytes of an event's head: frame and atom.
const EVENT: usize = 16;
/// Size in bytes of an object's head: id and type.
const OBJECT: usize = 8;
/// Size in bytes of a property's head: key, context and atom.
const PROPERTY: usize = 16;
/// Size in bytes of an event with a MIDI message.
const MESSAGE: usize = EVENT + 8;

/// Property of an object: key, type of the value, and value.
type Property<'a> = (Urid, Urid, &'a [u8]);

/// MIDI message of up to three bytes, padded with zeros.
pub type Message = [u8; 3];

fn u32_at(bytes: &[u8], offset: usize) -> Option<u32> {
    bytes.get(offset..offset + 4)?.try_into().ok().map(u32::from_ne_bytes)
}

/// Splits `bytes` into events or properties, and returns head, type and content of each that is complete. A head has `head`
/// bytes and ends with an atom.
fn parts(mut bytes: &[u8], head: usize) -> impl Iterator<Item = (&[u8], Urid, &[u8])> {
    std::iter::from_fn(move || {
        let size = u32_at(bytes, head - 8)? as usize;
        let part = (bytes.get(..head)?, u32_at(bytes, head - 4)?, bytes.get(head..)?.get(..size)?);
        bytes = bytes.get(head + size.next_multiple_of(8)..).unwrap_or_default();
        Some(part)
    })
}

/// Returns frame, type and content of each event in a sequence. If the sequence's type is not `kind`, returns no events.
///
/// # Safety
/// `sequence` must be NULL, or an aligned atom. If its type is `kind`, its content must lie behind it. Nothing may write to them
/// during `'a`.
pub unsafe fn read<'a>(
    sequence: *const Atom,
    kind: Urid,
) -> impl Iterator<Item = (i64, Urid, &'a [u8])> {
    // SAFETY: the caller guarantees it.
    let head = unsafe { sequence.as_ref() }.filter(|head| head.kind == kind);
    let content = head.map_or(&[][..], |head| {
        // SAFETY: the caller guarantees that the content follows.
        unsafe { std::slice::from_raw_parts(sequence.add(1).cast(), head.size as usize) }
    });
    parts(content.get(UNIT..).unwrap_or_default(), EVENT).map(|(head, kind, content)| {
        let frame = head.first_chunk().map_or(0, |frame| i64::from_ne_bytes(*frame));
        (frame, kind, content)
    })
}

/// Returns the type of an object, and key, type and value of each property; `None` if `content` is too short.
pub fn object(content: &[u8]) -> Option<(Urid, impl Iterator<Item = Property<'_>>)> {
    let kind = u32_at(content, 4)?;
    let properties = parts(&content[OBJECT..], PROPERTY);
    let property = |(head, kind, content)| Some((u32_at(head, 0)?, kind, content));
    Some((kind, properties.filter_map(property)))
}

/// Writer of MIDI messages into a sequence, in the buffer of a port.
pub struct Writer<'a> {
    /// Head of the sequence; `content` follows it in memory. NULL if the port is not connected.
    head: *mut Atom,
    /// Host's memory for the sequence's content.
    content: &'a mut [u8],
    /// Number of bytes of `content` that are written.
    written: usize,
    midi: Urid,
}

impl Writer<'_> {
    /// Creates an empty sequence of type `kind`, for events of type `midi`.
    ///
    /// # Safety
    /// `sequence` must be NULL, or an aligned atom with as many bytes behind it as its size says. Nothing else may access them
    /// before the writer is dropped.
    pub unsafe fn new(sequence: *mut Atom, kind: Urid, midi: Urid) -> Self {
        let mut content: &mut [u8] = &mut [];
        // SAFETY: the caller guarantees it.
        if let Some(head) = unsafe { sequence.as_mut() } {
            // SAFETY: the caller guarantees that the bytes follow.
            content = unsafe {
                std::slice::from_raw_parts_mut(sequence.add(1).cast(), head.size as usize)
            };
            let unit = content.len().min(UNIT);
            content[..unit].fill(0);
            *head = Atom { size: unit as u32, kind };
        }
        let written = content.len().min(UNIT);
        Self { head: sequence, content, written, midi }
    }

    /// Writes `message` at `frame`, which must not decrease from call to call, and updates `sounding`. Space for the note-offs
    /// of all notes in `sounding` stays free, so that every note can end. A message that would take this space is dropped.
    pub fn write(&mut self, frame: u32, message: Message, sounding: &mut Sounding) {
        let after = sounding.after(message);
        let end = self.written + MESSAGE;
        if end + MESSAGE * after.count() > self.content.len() {
            return;
        }
        *sounding = after;
        let event = &mut self.content[self.written..end];
        event.fill(0);
        event[..8].copy_from_slice(&i64::from(frame).to_ne_bytes());
        event[8..12].copy_from_slice(&length(message[0]).to_ne_bytes());
        event[12..EVENT].copy_from_slice(&self.midi.to_ne_bytes());
        event[EVENT..EVENT + message.len()].copy_from_slice(&message);
        self.written = end;
        // SAFETY: there is room, so by `new` the head is valid.
        unsafe { (*self.head).size = end as u32 };
    }
}

/// Notes with a note-on and no note-off so far: a bit for each key of each channel.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sounding([u128; 16]);

impl Sounding {
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

/// Returns the length in bytes of a MIDI message with this status.
fn length(status: u8) -> u32 {
    match status {
        0xC0..=0xDF | 0xF1 | 0xF3 => 2,
        0xF4..=0xFF => 1,
        _ => 3,
    }
}
