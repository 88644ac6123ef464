//! Notes between the host and the filter. The host's notes are for the setting `keys`, and also go back to the host. The detected
//! notes are for the setting `midi-out`.

use super::{ToneFilterPlugin, remote::Remote};
use nice_plug::{
    midi::{Channel, Key, VoiceID},
    prelude::{NoteEvent, ProcessContext},
};
use tone_filter_dsp::{KeyEvent, Message, MessageQueue, ToneFilter};

/// Event of the host.
#[derive(Debug, Clone, Copy)]
struct HostEvent(NoteEvent<()>);

impl Message for HostEvent {
    fn keys(&self) -> impl Iterator<Item = KeyEvent> {
        let notes = |key: Key| match key {
            Key::Number(note) => note..note + 1,
            Key::Wildcard => 0..128,
        };
        let (notes, event) = match self.0 {
            NoteEvent::NoteOn { key, velocity, .. } => (notes(key), KeyEvent::Key(0, velocity)),
            NoteEvent::NoteOff { key, .. } | NoteEvent::Choke { key, .. } => {
                (notes(key), KeyEvent::Key(0, 0.0))
            }
            NoteEvent::PolyPressure { key, pressure, .. } => {
                (notes(key), KeyEvent::Pressure(0, pressure))
            }
            NoteEvent::PolyVolume { key, gain, .. } => (notes(key), KeyEvent::Gain(0, gain)),
            NoteEvent::MidiPitchBend { value, .. } => (0..1, KeyEvent::Wheel(2.0 * value - 1.0)),
            NoteEvent::MidiCC { cc, value, .. } => match KeyEvent::from_controller(cc, value) {
                Some(event) => (0..1, event),
                None => (0..0, KeyEvent::ReleaseAll),
            },
            _ => (0..0, KeyEvent::ReleaseAll),
        };
        notes.map(move |note| match event {
            KeyEvent::Key(_, velocity) => KeyEvent::Key(note, velocity),
            KeyEvent::Pressure(_, pressure) => KeyEvent::Pressure(note, pressure),
            KeyEvent::Gain(_, gain) => KeyEvent::Gain(note, gain),
            other => other,
        })
    }

    fn of_note(key: u8, velocity: Option<u8>) -> Self {
        let (timing, voice_id, channel) = (0, VoiceID::Wildcard, Channel::Number(0));
        let key = Key::Number(key);
        Self(match velocity.map(|velocity| f32::from(velocity) / 127.0) {
            Some(velocity) => NoteEvent::NoteOn { timing, voice_id, channel, key, velocity },
            None => NoteEvent::NoteOff { timing, voice_id, channel, key, velocity: 0.0 },
        })
    }
}

/// Queues of notes from and to the host.
pub trait NoteQueue {
    /// Returns the next event of this buffer; `None` after the last.
    fn next(&mut self) -> Option<NoteEvent<()>>;
    /// Sends an event. Events must be sent in the order of their times.
    fn send(&mut self, event: NoteEvent<()>);
}

/// Queues of notes during one buffer of the plugin.
pub struct HostQueue<'a, C> {
    /// nice-plug's context of the buffer.
    pub context: &'a mut C,
    /// Remote control, which receives all events, too.
    pub remote: Option<&'a Remote>,
    /// Whether the remote control has received an event to act on.
    pub called: bool,
}

impl<C: ProcessContext<ToneFilterPlugin>> NoteQueue for HostQueue<'_, C> {
    fn next(&mut self) -> Option<NoteEvent<()>> {
        let event = self.context.next_event()?;
        self.called |= self.remote.is_some_and(|remote| remote.receive(&event));
        Some(event)
    }

    fn send(&mut self, event: NoteEvent<()>) {
        // A host that does not take notes refuses the event.
        let _ = self.context.try_send_event(event);
    }
}

/// Returns `event` at sample `at` of the buffer.
fn moved(mut event: NoteEvent<()>, at: u32) -> NoteEvent<()> {
    match &mut event {
        NoteEvent::NoteOn { timing, .. }
        | NoteEvent::NoteOff { timing, .. }
        | NoteEvent::PolyPressure { timing, .. }
        | NoteEvent::PolyVolume { timing, .. }
        | NoteEvent::PolyPan { timing, .. }
        | NoteEvent::PolyTuning { timing, .. }
        | NoteEvent::PolyVibrato { timing, .. }
        | NoteEvent::PolyExpression { timing, .. }
        | NoteEvent::PolyBrightness { timing, .. }
        | NoteEvent::MidiChannelPressure { timing, .. }
        | NoteEvent::MidiPitchBend { timing, .. }
        | NoteEvent::MidiCC { timing, .. }
        | NoteEvent::MidiProgramChange { timing, .. } => *timing = at,
        // All other events only go from host to plugin.
        _ => {}
    }
    event
}

/// Events that wait until the delayed sound reaches their time. Then the filter plays them, and they go back to the host.
#[derive(Debug)]
pub struct Notes(MessageQueue<HostEvent>);

impl Notes {
    /// Creates empty queues. Allocates all memory that they need.
    pub fn new() -> Self {
        Self(MessageQueue::new())
    }

    /// Removes the host's notes that have not begun.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Ends all detected notes at the start of the next buffer, as note-offs cannot be sent before.
    pub fn end_detected(&mut self) {
        self.0.end_detected();
    }

    /// Processes `channels` and a sidechain, of at most two channels each, with the events of `queue` that are due. Sends these
    /// events and the detected notes to `queue`.
    pub fn process(
        &mut self,
        filter: &mut ToneFilter,
        channels: &mut [&mut [f32]],
        sidechain: &[&mut [f32]],
        queue: &mut impl NoteQueue,
    ) {
        while let Some(event) = queue.next() {
            let frame = event.timing() as usize;
            self.0.push(filter, frame, HostEvent(event), |at, HostEvent(event)| {
                queue.send(moved(event, at as u32));
            });
        }
        let frames = channels.iter().map(|channel| channel.len()).min().unwrap_or(0);
        // For a host without any input, nice-plug's sidechain has the length of the buffer before.
        let complete = sidechain.iter().all(|channel| channel.len() >= frames);
        let sidechain = if complete { sidechain } else { &[] };
        let mut own = [&[][..]; 2];
        for (own, channel) in own.iter_mut().zip(sidechain) {
            *own = &channel[..frames];
        }
        let sidechain = &own[..sidechain.len().min(2)];
        self.0.process(filter, channels, sidechain, |at, HostEvent(event)| {
            queue.send(moved(event, at as u32));
        });
    }
}

/// A host's queues, for tests.
#[cfg(test)]
#[derive(Default)]
pub struct TestQueue {
    /// Events from the host.
    pub input: std::collections::VecDeque<NoteEvent<()>>,
    /// Events to the host.
    pub output: Vec<NoteEvent<()>>,
}

#[cfg(test)]
impl NoteQueue for TestQueue {
    fn next(&mut self) -> Option<NoteEvent<()>> {
        self.input.pop_front()
    }

    fn send(&mut self, event: NoteEvent<()>) {
        self.output.push(event);
    }
}

#[cfg(test)]
mod tests {
    mod detected;
    mod played;
}
