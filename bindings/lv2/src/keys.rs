//! Queue of MIDI messages from the host to the filter and back.

use crate::events::{Message, Sounding, Writer};
use tone_filter_dsp::{MessageQueue, ToneFilter};

/// Queue of MIDI input and detected notes, and the notes that sound at the host.
#[derive(Debug)]
pub struct Keys {
    queue: MessageQueue<Message>,
    sounding: Sounding,
}

impl Keys {
    /// Creates an empty queue. Allocates all memory that it needs.
    pub fn new() -> Self {
        Self { queue: MessageQueue::new(), sounding: Sounding::default() }
    }

    /// Removes all waiting note-ons. All other waiting messages are due at once.
    pub fn clear(&mut self) {
        self.queue.clear();
    }

    /// Ends all detected notes with the next block of 64 frames.
    pub fn end_detected(&mut self) {
        self.queue.end_detected();
    }

    /// Queues a message for `frame` of the host's block of `frames`, for its last frame at most, because the queue keeps the order.
    /// Ignores messages of more than three bytes.
    pub fn receive(
        &mut self,
        filter: &mut ToneFilter,
        (frame, frames): (i64, usize),
        content: &[u8],
        writer: &mut Writer,
    ) {
        let mut message = [0; 3];
        if (1..=message.len()).contains(&content.len()) {
            message[..content.len()].copy_from_slice(content);
            let Self { queue, sounding } = self;
            let frame = frame.max(0).min(frames.saturating_sub(1) as i64) as usize;
            queue.push(filter, frame, message, |at, message| {
                writer.write(at as u32, message, sounding);
            });
        }
    }

    /// Processes channels that start at frame `start` of the host's block, with the messages that are due.
    pub fn process(
        &mut self,
        filter: &mut ToneFilter,
        channels: &mut [&mut [f32]],
        sidechain: &[&[f32]],
        start: usize,
        writer: &mut Writer,
    ) {
        let Self { queue, sounding } = self;
        queue.process(filter, channels, sidechain, |at, message| {
            writer.write((start + at) as u32, message, sounding);
        });
    }
}
