//! The host's MIDI on its way to the filter, and from there back to the host.

use crate::events::{Message, Sounding, Writer};
use tone_filter_dsp::{MessageQueue, SentNotes, Thru, ToneFilter};

/// MIDI in, which the filter plays as late as it plays the sound, and passes on; and the notes that it finds.
#[derive(Debug)]
pub struct Keys {
    queue: MessageQueue<Message>,
    out: Out,
}

/// The notes on their way to the host.
#[derive(Debug)]
struct Out {
    found: SentNotes,
    sounding: Sounding,
}

/// The output of a part of the host's block.
struct Output<'a, 'b> {
    writer: &'a mut Writer<'b>,
    out: &'a mut Out,
    /// First frame of the part.
    start: usize,
}

impl Thru<Message> for Output<'_, '_> {
    fn pass(&mut self, frame: usize, message: Message) {
        self.writer.write((self.start + frame) as u32, message, &mut self.out.sounding);
    }

    fn end_block(&mut self, frames: usize, filter: &ToneFilter) {
        let Out { found, sounding } = self.out;
        found.push(filter, |key, velocity| {
            let status = if velocity.is_some() { 0x90 } else { 0x80 };
            let message = [status, key, velocity.unwrap_or(0)];
            self.writer.write((self.start + frames - 1) as u32, message, sounding);
        });
    }
}

impl Keys {
    /// Without messages. Allocates all memory that it needs.
    pub fn new() -> Self {
        let out = Out { found: SentNotes::new(), sounding: Sounding::default() };
        Self { queue: MessageQueue::new(), out }
    }

    /// Removes all notes that have not begun.
    pub fn clear(&mut self) {
        self.queue.clear();
    }

    /// Lets the notes that were sent end with the next block of 64 frames.
    pub fn end_found(&mut self) {
        self.out.found.clear();
    }

    /// Receives a message at `frame` of the host's block. A message of more than three bytes is not passed on.
    pub fn receive(
        &mut self,
        filter: &mut ToneFilter,
        frame: i64,
        content: &[u8],
        writer: &mut Writer,
    ) {
        let mut message = [0; 3];
        if (1..=message.len()).contains(&content.len()) {
            message[..content.len()].copy_from_slice(content);
            let output = &mut Output { writer, out: &mut self.out, start: 0 };
            self.queue.push(filter, frame.max(0) as usize, message, output);
        }
    }

    /// Processes the channels from frame `start` of the host's block on, with the messages that are due.
    pub fn process(
        &mut self,
        filter: &mut ToneFilter,
        channels: &mut [&mut [f32]],
        sidechain: &[&[f32]],
        start: usize,
        writer: &mut Writer,
    ) {
        let output = &mut Output { writer, out: &mut self.out, start };
        self.queue.process(filter, channels, sidechain, output);
    }
}
