//! Notes between the host and the filter. The host's notes are for the setting `keys`, and also go back to the host. The detected
//! notes are for the settings `midi-out` and `mpe`.
//!
//! With `mpe`, CLAP hosts get the pitch of a note as a note expression, all others as a pitch bend on the note's channel. Both
//! would bend a note twice.

use super::{ToneFilterPlugin, remote::Remote};
use nice_plug::{
    midi::{Channel, Key, VoiceID},
    prelude::{NoteEvent, PluginApi, ProcessContext},
};
use tone_filter_dsp::{KeyEvent, Message, MessageQueue, SentEvent, ToneFilter};

/// Event for the host.
#[derive(Debug, Clone, Copy)]
enum HostEvent {
    /// Event from the host, on its way back.
    Own(NoteEvent<()>),
    /// Event of the detected notes.
    Detected(SentEvent),
}

impl HostEvent {
    /// Sends the event at sample `at` of the buffer.
    fn send(self, at: usize, queue: &mut impl NoteQueue) {
        match self {
            Self::Own(event) => queue.send(moved(event, at as u32)),
            Self::Detected(event) => send_detected(event, at as u32, queue),
        }
    }
}

/// Sends an event of the detected notes at sample `timing` of the buffer.
fn send_detected(event: SentEvent, timing: u32, queue: &mut impl NoteQueue) {
    let (midi, tuning) = match event {
        _ if queue.api() != PluginApi::Clap => (Some(event), None),
        SentEvent::On { channel, key, velocity, bend } => (
            Some(SentEvent::On { channel, key, velocity, bend: None }),
            bend.map(|bend| (channel, key, bend)),
        ),
        SentEvent::Bend { channel, key, semitones } => (None, Some((channel, key, semitones))),
        SentEvent::Off { .. } => (Some(event), None),
        SentEvent::Zone { .. } => (None, None),
    };
    if let Some(event) = midi {
        event.midi(|message| {
            // nice-plug knows these messages: notes, bends and controllers.
            NoteEvent::from_midi(timing, &message).into_iter().for_each(|event| queue.send(event));
        });
    }
    if let Some((channel, key, tuning)) = tuning {
        let (channel, key) = (Channel::Number(channel), Key::Number(key));
        let voice_id = VoiceID::Wildcard;
        queue.send(NoteEvent::PolyTuning { timing, voice_id, channel, key, tuning });
    }
}

impl Message for HostEvent {
    fn keys(&self) -> impl Iterator<Item = KeyEvent> {
        let notes = |key: Key| match key {
            Key::Number(note) => note..note + 1,
            Key::Wildcard => 0..128,
        };
        let (notes, event) = match *self {
            Self::Own(NoteEvent::NoteOn { key, velocity, .. }) => {
                (notes(key), KeyEvent::Key(0, velocity))
            }
            Self::Own(NoteEvent::NoteOff { key, .. } | NoteEvent::Choke { key, .. }) => {
                (notes(key), KeyEvent::Key(0, 0.0))
            }
            Self::Own(NoteEvent::PolyPressure { key, pressure, .. }) => {
                (notes(key), KeyEvent::Pressure(0, pressure))
            }
            Self::Own(NoteEvent::PolyVolume { key, gain, .. }) => {
                (notes(key), KeyEvent::Gain(0, gain))
            }
            Self::Own(NoteEvent::MidiPitchBend { value, .. }) => {
                (0..1, KeyEvent::Wheel(2.0 * value - 1.0))
            }
            Self::Own(NoteEvent::MidiCC { cc, value, .. }) => {
                match KeyEvent::from_controller(cc, value) {
                    Some(event) => (0..1, event),
                    None => (0..0, KeyEvent::ReleaseAll),
                }
            }
            Self::Own(_) | Self::Detected(_) => (0..0, KeyEvent::ReleaseAll),
        };
        notes.map(move |note| match event {
            KeyEvent::Key(_, velocity) => KeyEvent::Key(note, velocity),
            KeyEvent::Pressure(_, pressure) => KeyEvent::Pressure(note, pressure),
            KeyEvent::Gain(_, gain) => KeyEvent::Gain(note, gain),
            other => other,
        })
    }

    fn of_detected(event: SentEvent, mut send: impl FnMut(Self)) {
        send(Self::Detected(event));
    }
}

/// Queues of notes from and to the host.
pub trait NoteQueue {
    /// Returns the next event of this buffer; `None` after the last.
    fn next(&mut self) -> Option<NoteEvent<()>>;
    /// Sends an event. Events must be sent in the order of their times.
    fn send(&mut self, event: NoteEvent<()>);
    /// Returns the format of the plugin.
    fn api(&self) -> PluginApi;
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

    fn api(&self) -> PluginApi {
        self.context.plugin_api()
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
            self.0.push(filter, frame, HostEvent::Own(event), |at, event| event.send(at, queue));
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
        self.0.process(filter, channels, sidechain, |at, event| event.send(at, queue));
    }
}

/// A host's queues, for tests.
#[cfg(test)]
pub struct TestQueue {
    /// Format of the plugin.
    pub api: PluginApi,
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

    fn api(&self) -> PluginApi {
        self.api
    }
}

#[cfg(test)]
impl Default for TestQueue {
    fn default() -> Self {
        Self { api: PluginApi::Clap, input: Default::default(), output: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    mod detected;
    mod played;
}
