//! Messages from a host to a filter and back: MIDI, or events of a plugin format.

use crate::{KeyEvent, SentEvent, SentNotes, ToneFilter, process::frames};
use std::collections::VecDeque;

/// Maximum number of waiting messages.
const CAPACITY: usize = 16_384;

/// Message of a host, which a [`MessageQueue`] can carry.
pub trait Message: Copy {
    /// Returns the key events of the message, in order.
    fn keys(&self) -> impl Iterator<Item = KeyEvent>;

    /// Converts an event of the detected notes to messages, and passes them to `send` in order.
    fn of_detected(event: SentEvent, send: impl FnMut(Self));
}

/// A MIDI message of up to three bytes; shorter ones are padded with zeros.
impl Message for [u8; 3] {
    fn keys(&self) -> impl Iterator<Item = KeyEvent> {
        KeyEvent::from_midi(*self).into_iter()
    }

    fn of_detected(event: SentEvent, send: impl FnMut(Self)) {
        event.midi(send);
    }
}

/// Queue of a host's messages for a filter. The filter plays each message with the latency of the sound. Each message is then
/// sent back to the host, together with the notes that the filter detects ([`SentNotes`]).
///
/// Memory is bounded. No message is lost or overtakes another; if the queue is full, its oldest message is played early.
///
/// ```
/// use tone_filter_dsp::{MessageQueue, Settings, ToneFilter};
///
/// let mut filter = ToneFilter::new(48_000.0, &Settings::default())?;
/// let (mut queue, mut sent) = (MessageQueue::new(), vec![]);
/// let mut send = |frame, message: [u8; 3]| sent.push((frame, message));
/// queue.push(&mut filter, 100, [0x90, 69, 127], &mut send);
/// queue.process(&mut filter, &mut [&mut [0.0; 512]], &[], &mut send);
/// assert_eq!(sent, [(100, [0x90, 69, 127])]);
/// # Ok::<(), tone_filter_dsp::Error>(())
/// ```
#[derive(Debug)]
pub struct MessageQueue<M> {
    /// Messages in order, each with the frame at which it is due, counted from the creation of the queue.
    waiting: VecDeque<(u64, M)>,
    /// Number of messages at the front of the queue that the filter has already played. With lookahead, it plays them before
    /// their sound comes out.
    played: usize,
    /// Frames processed since the creation of the queue.
    now: u64,
    detected: SentNotes,
}

impl<M: Message> Default for MessageQueue<M> {
    fn default() -> Self {
        Self::new()
    }
}

impl<M: Message> MessageQueue<M> {
    /// Creates an empty queue. Allocates all memory that it ever needs.
    pub fn new() -> Self {
        let waiting = VecDeque::with_capacity(CAPACITY);
        Self { waiting, played: 0, now: 0, detected: SentNotes::new() }
    }

    /// Removes all waiting note-ons. All other messages become due immediately, because note-offs, pedals and controllers must
    /// not be lost. Does not allocate.
    pub fn clear(&mut self) {
        let begins = |event| matches!(event, KeyEvent::Key(_, velocity) if velocity > 0.0);
        let (mut index, played) = (0, self.played);
        self.waiting.retain_mut(|(due, message)| {
            *due = self.now;
            let keeps = !message.keys().any(begins);
            self.played -= usize::from(index < played && !keeps);
            index += 1;
            keeps
        });
    }

    /// Ends all detected notes with the next [`MessageQueue::process`].
    pub fn end_detected(&mut self) {
        self.detected.clear();
    }

    /// Queues a message that arrives at `frame` of the next call of [`MessageQueue::process`]. If the queue is full, first passes
    /// its oldest message to `send`, and plays it if it has not been played yet. Does not allocate.
    pub fn push(
        &mut self,
        filter: &mut ToneFilter,
        frame: usize,
        message: M,
        mut send: impl FnMut(usize, M),
    ) {
        if self.waiting.len() == CAPACITY
            && let Some((_, oldest)) = self.waiting.pop_front()
        {
            match self.played.checked_sub(1) {
                Some(others) => self.played = others,
                None => oldest.keys().for_each(|event| filter.play(event)),
            }
            send(0, oldest);
        }
        let due = self.now + (frame + filter.latency()) as u64;
        let last = self.waiting.back().map_or(0, |(due, _)| *due);
        self.waiting.push_back((due.max(last), message));
    }

    /// Processes `channels` with [`ToneFilter::process_events`], and plays the messages whose sound reaches the bands. Passes the
    /// messages that are due and the detected notes to `send`, in order, each with its frame. Does not allocate.
    pub fn process(
        &mut self,
        filter: &mut ToneFilter,
        channels: &mut [&mut [f32]],
        sidechain: &[&[f32]],
        mut send: impl FnMut(usize, M),
    ) {
        let Self { waiting, played, now, detected } = self;
        let frames = frames(channels, sidechain);
        // Messages from the index `first` on, each with its frame in this call if it is played `ahead` frames early.
        let due = |first: usize, ahead: usize| {
            let now = *now + ahead as u64;
            let due = waiting.iter().skip(first);
            let due = due.map(move |(due, message)| (due.saturating_sub(now) as usize, message));
            due.take_while(move |(at, _)| *at < frames)
        };
        let ahead = filter.latency() - filter.bank_delay();
        let mut passed = due(0, 0).peekable();
        let events = due(*played, ahead);
        let events = events.flat_map(|(at, message)| message.keys().map(move |key| (at, key)));
        filter.process_events(channels, sidechain, events, |end, filter| {
            while let Some((at, message)) = passed.next_if(|(at, _)| *at < end) {
                send(at, *message);
            }
            detected.push(filter, |event| {
                M::of_detected(event, |message| send(end - 1, message));
            });
        });
        passed.for_each(|(at, message)| send(at, *message));
        let count = due(0, 0).count();
        *played += due(*played, ahead).count();
        *played -= count;
        waiting.drain(..count);
        *now += frames as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Keyboard, Settings};

    #[test]
    fn with_lookahead_a_key_is_played_before_it_is_sent() {
        let settings = Settings { lookahead: true, ..Settings::default() };
        let mut filter = ToneFilter::new(48_000.0, &settings).unwrap();
        let mut queue = MessageQueue::new();
        queue.push(&mut filter, 10, [0x90, 69, 100], |_, _| ());
        let (mut sent, mut played) = (None, None);
        for block in 0..50 {
            // The shorter of both inputs counts.
            let (main, side) = (&mut [0.0; 100][..], &[0.0; 64][..]);
            queue.process(&mut filter, &mut [main], &[side], |_, _: [u8; 3]| {
                sent = sent.or(Some(block));
            });
            played = played.or((*filter.keyboard() != Keyboard::default()).then_some(block));
        }
        let block = |frame: usize| Some(frame / 64);
        assert_eq!(played, block(10 + filter.bank_delay()));
        assert_eq!(sent, block(10 + filter.latency()));
    }

    #[test]
    fn clearing_releases_a_key_that_was_not_sent() {
        let settings = Settings { lookahead: true, ..Settings::default() };
        let mut filter = ToneFilter::new(48_000.0, &settings).unwrap();
        let (mut queue, mut expected) = (MessageQueue::new(), Keyboard::default());
        let [on, off] = [[0x90, 69, 100], [0x80, 69, 0]];
        on.keys().chain(off.keys()).for_each(|event| expected.play(event));
        queue.push(&mut filter, 0, on, |_, _| ());
        let mut block = [0.0; 64];
        while *filter.keyboard() == Keyboard::default() {
            queue.process(&mut filter, &mut [&mut block], &[], |_, _| panic!("sent"));
        }
        queue.push(&mut filter, 0, off, |_, _| ());
        queue.clear();
        queue.process(&mut filter, &mut [&mut block], &[], |_, _| ());
        assert_eq!(*filter.keyboard(), expected);
    }

    #[test]
    fn too_many_messages_are_played_early_in_order() {
        let settings = Settings { lookahead: true, ..Settings::default() };
        let mut filter = ToneFilter::new(48_000.0, &settings).unwrap();
        let (mut queue, mut sent) = (MessageQueue::new(), Vec::new());
        // Every third key is released again.
        let messages = (0..3 * CAPACITY).map(|n| {
            let key = (n / 2 % 128) as u8;
            let ends = n % 2 == 1 && key.is_multiple_of(3);
            [if ends { 0x80 } else { 0x90 }, key, 1 + (n % 127) as u8]
        });
        let mut expected = Keyboard::default();
        for message in messages.clone() {
            queue.push(&mut filter, 10, message, |_, message| sent.push(message));
            message.keys().for_each(|event| expected.play(event));
        }
        assert_eq!(sent.len(), 2 * CAPACITY, "all but those that wait");
        let block = &mut [&mut [0.0; 4096][..]];
        queue.process(&mut filter, block, &[], |_, message| sent.push(message));
        assert!(messages.eq(sent));
        assert_eq!(*filter.keyboard(), expected);
    }
}
