//! A host's messages on their way through a plugin: MIDI, or events of a plugin format.

use crate::{KeyEvent, ToneFilter};
use std::collections::VecDeque;

/// The most messages that wait at a time.
const CAPACITY: usize = 16_384;

/// A host's message.
pub trait Message: Copy {
    /// The effects on the keys, in order.
    fn keys(&self) -> impl Iterator<Item = KeyEvent>;
}

/// A MIDI message of up to three bytes; a shorter one ends in zeros.
impl Message for [u8; 3] {
    fn keys(&self) -> impl Iterator<Item = KeyEvent> {
        KeyEvent::from_midi(*self).into_iter()
    }
}

/// The way back to the host.
pub trait Thru<M> {
    /// Sends a message on, at a frame of the current block of the host.
    fn pass(&mut self, frame: usize, message: M);

    /// Sends the notes that `filter` has detected. Called after each of its blocks of 64 frames, with the frames of the host's block
    /// so far.
    fn end_block(&mut self, frames: usize, filter: &ToneFilter);
}

/// Messages that wait for the sound: the filter plays them as late as it plays the sound, and then they go back to the host.
///
/// Memory is bounded, and no message is lost or overtakes another. Where too many wait, the oldest is played early.
///
/// ```
/// use tone_filter_dsp::{MessageQueue, Settings, Thru, ToneFilter};
///
/// struct Sent(Vec<(usize, [u8; 3])>);
///
/// impl Thru<[u8; 3]> for Sent {
///     fn pass(&mut self, frame: usize, message: [u8; 3]) {
///         self.0.push((frame, message));
///     }
///     fn end_block(&mut self, _: usize, _: &ToneFilter) {}
/// }
///
/// let mut filter = ToneFilter::new(48_000.0, &Settings::default())?;
/// let (mut queue, mut sent) = (MessageQueue::new(), Sent(vec![]));
/// queue.push(&mut filter, 100, [0x90, 69, 127], &mut sent);
/// queue.process(&mut filter, &mut [&mut [0.0; 512]], &[], &mut sent);
/// assert_eq!(sent.0, [(100, [0x90, 69, 127])]);
/// # Ok::<(), tone_filter_dsp::Error>(())
/// ```
#[derive(Debug)]
pub struct MessageQueue<M> {
    /// Messages with the frames since the start at which they are due, in this order.
    waiting: VecDeque<(u64, M)>,
    /// Frames since the start.
    now: u64,
}

impl<M: Message> Default for MessageQueue<M> {
    fn default() -> Self {
        Self::new()
    }
}

impl<M: Message> MessageQueue<M> {
    /// A queue without messages. Allocates all memory that it needs.
    pub fn new() -> Self {
        Self { waiting: VecDeque::with_capacity(CAPACITY), now: 0 }
    }

    /// Removes all notes that have not begun. All other messages are due at once: the end of a note that was passed on, a
    /// pedal or a controller must not be lost. Does not allocate.
    pub fn clear(&mut self) {
        let begins = |event| matches!(event, KeyEvent::Key(_, velocity) if velocity > 0.0);
        self.waiting.retain_mut(|(due, message)| {
            *due = self.now;
            !message.keys().any(begins)
        });
    }

    /// Receives a message at `frame` of the next call of [`MessageQueue::process`]. Does not allocate.
    pub fn push(
        &mut self,
        filter: &mut ToneFilter,
        frame: usize,
        message: M,
        thru: &mut impl Thru<M>,
    ) {
        if self.waiting.len() == CAPACITY
            && let Some((_, oldest)) = self.waiting.pop_front()
        {
            oldest.keys().for_each(|event| filter.play(event));
            thru.pass(0, oldest);
        }
        let due = self.now + (frame + filter.latency()) as u64;
        let last = self.waiting.back().map_or(0, |(due, _)| *due);
        self.waiting.push_back((due.max(last), message));
    }

    /// Processes `channels` with [`ToneFilter::process_events`], with the messages that are due, which then go on to `thru`. Does not
    /// allocate.
    pub fn process(
        &mut self,
        filter: &mut ToneFilter,
        channels: &mut [&mut [f32]],
        sidechain: &[&[f32]],
        thru: &mut impl Thru<M>,
    ) {
        let frames = channels.iter().map(|channel| channel.len()).min().unwrap_or(0);
        let due = || {
            let due =
                self.waiting.iter().map(|(due, message)| ((due - self.now) as usize, message));
            due.take_while(|(at, _)| *at < frames)
        };
        let mut passed = due().peekable();
        let events = due().flat_map(|(at, message)| message.keys().map(move |key| (at, key)));
        filter.process_events(channels, sidechain, events, |end, filter| {
            while let Some((at, message)) = passed.next_if(|(at, _)| *at < end) {
                thru.pass(at, *message);
            }
            thru.end_block(end, filter);
        });
        passed.for_each(|(at, message)| thru.pass(at, *message));
        let count = due().count();
        self.waiting.drain(..count);
        self.now += frames as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Keyboard, Settings};

    #[derive(Default)]
    struct Sent(Vec<[u8; 3]>);

    impl Thru<[u8; 3]> for Sent {
        fn pass(&mut self, _: usize, message: [u8; 3]) {
            self.0.push(message);
        }
        fn end_block(&mut self, _: usize, _: &ToneFilter) {}
    }

    #[test]
    fn too_many_messages_are_played_early_in_order() {
        let settings = Settings { lookahead: true, ..Settings::default() };
        let mut filter = ToneFilter::new(48_000.0, &settings).unwrap();
        let (mut queue, mut sent) = (MessageQueue::new(), Sent::default());
        // All keys stay down but every third one.
        let messages = (0..3 * CAPACITY).map(|n| {
            let key = (n / 2 % 128) as u8;
            let ends = n % 2 == 1 && key.is_multiple_of(3);
            [if ends { 0x80 } else { 0x90 }, key, 1 + (n % 127) as u8]
        });
        let mut expected = Keyboard::default();
        for message in messages.clone() {
            queue.push(&mut filter, 10, message, &mut sent);
            message.keys().for_each(|event| expected.play(event));
        }
        assert_eq!(sent.0.len(), 2 * CAPACITY, "all but those that wait");
        queue.process(&mut filter, &mut [&mut [0.0; 4096]], &[], &mut sent);
        assert!(messages.eq(sent.0));
        assert_eq!(*filter.keyboard(), expected);
    }
}
