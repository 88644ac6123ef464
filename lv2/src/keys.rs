//! The host's MIDI on its way to the filter, and from there back to the host.

use crate::events::{Message, Writer};
use std::collections::VecDeque;
use tone_filter_dsp::{KeyEvent, SentNotes, ToneFilter};

/// The most messages that wait at a time.
const CAPACITY: usize = 16_384;

/// MIDI in, which the filter plays as late as it plays the sound, and passes on; and the notes that it finds.
#[derive(Debug)]
pub struct Keys {
    /// With the frames since the start at which they are due, in this order.
    pending: VecDeque<(u64, Message)>,
    /// Frames since the start.
    now: u64,
    found: SentNotes,
}

impl Keys {
    /// Without messages. Allocates all memory that it needs.
    pub fn new() -> Self {
        Self { pending: VecDeque::with_capacity(CAPACITY), now: 0, found: SentNotes::new() }
    }

    /// Removes all notes that have not begun; all other messages are due at once, as the end of a note must not be lost.
    pub fn clear(&mut self) {
        self.pending.retain_mut(|(due, message)| {
            *due = self.now;
            !matches!(key_event(*message), Some(KeyEvent::Key(_, velocity)) if velocity > 0.0)
        });
    }

    /// Lets the notes that were sent end with the next block of 64 frames.
    pub fn end_found(&mut self) {
        self.found.clear();
    }

    /// Receives a message at `frame` of the host's block. What is too much is lost.
    pub fn receive(&mut self, filter: &ToneFilter, frame: i64, content: &[u8]) {
        let mut message = [0; 3];
        let fits = (1..=message.len()).contains(&content.len());
        if !fits || self.pending.len() == CAPACITY {
            return;
        }
        message[..content.len()].copy_from_slice(content);
        let due = self.now.saturating_add_signed(frame.max(0)) + filter.latency() as u64;
        let last = self.pending.back().map_or(0, |(due, _)| *due);
        self.pending.push_back((due.max(last), message));
    }

    /// Processes the channels, with the messages that are due. They are passed on between the notes that are found, from `start` of
    /// the host's block on.
    pub fn process(
        &mut self,
        filter: &mut ToneFilter,
        channels: &mut [&mut [f32]],
        sidechain: &[&[f32]],
        start: usize,
        writer: &mut Writer,
    ) {
        let Self { pending, now, found } = self;
        let frames = channels.first().map_or(0, |channel| channel.len());
        let due = || {
            let due = pending.iter().map(|(due, message)| ((due - *now) as usize, *message));
            due.take_while(|(at, _)| *at < frames)
        };
        let mut passed = due().peekable();
        let events = due().filter_map(|(at, message)| Some((at, key_event(message)?)));
        filter.process_events(channels, sidechain, events, |end, filter| {
            while let Some((at, message)) = passed.next_if(|(at, _)| *at < end) {
                writer.write((start + at) as u32, message);
            }
            found.push(filter, |key, velocity| {
                let status = if velocity.is_some() { 0x90 } else { 0x80 };
                writer.write((start + end - 1) as u32, [status, key, velocity.unwrap_or(0)]);
            });
        });
        passed.for_each(|(at, message)| writer.write((start + at) as u32, message));
        let count = due().count();
        pending.drain(..count);
        *now += frames as u64;
    }
}

/// What a message of MIDI does with the keys.
fn key_event([status, first, second]: Message) -> Option<KeyEvent> {
    let share = f32::from(second.min(127)) / 127.0;
    Some(match (status & 0xF0, first) {
        (0x80, key) => KeyEvent::Key(key, 0.0),
        (0x90, key) => KeyEvent::Key(key, share),
        (0xA0, key) => KeyEvent::Pressure(key, share),
        (0xB0, 64) => KeyEvent::Sustain(second >= 64),
        (0xB0, 120 | 123) => KeyEvent::ReleaseAll,
        (0xE0, low) => {
            let position = f32::from(second) * 128.0 + f32::from(low);
            KeyEvent::Wheel((position - 8192.0) / 8192.0)
        }
        _ => return None,
    })
}
