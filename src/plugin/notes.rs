//! Notes between the host and the filter. The host's notes play keys (setting `keys`), and go back to the host. While
//! `midi-out` is on, the detected notes go to the host, too.
//!
//! With `mpe`, each detected note also has its exact pitch. CLAP hosts get the pitch as a note expression, all others as a
//! pitch bend on the note's channel. Sending both would bend a note twice.

use super::ToneFilterPlugin;
use nice_plug::{
    midi::{Channel, Key, VoiceID},
    prelude::{NoteEvent, PluginApi, ProcessContext},
};
use tone_filter_dsp::{KeyEvent, Message, MessageQueue, SentEvent, ToneFilter};

#[derive(Debug, Clone, Copy)]
pub enum HostEvent {
    /// Event from the host, to be sent back to it.
    Own(NoteEvent<()>),
    Detected(SentEvent),
}

impl HostEvent {
    fn send(self, at: usize, host: &mut impl ProcessContext<ToneFilterPlugin>) {
        match self {
            Self::Own(event) => send(host, moved(event, at as u32)),
            Self::Detected(event) => send_detected(event, at as u32, host),
        }
    }
}

/// Sends an event. Events must be sent in the order of their times.
fn send(host: &mut impl ProcessContext<ToneFilterPlugin>, event: NoteEvent<()>) {
    // An error is ignored: some hosts do not take notes.
    let _ = host.try_send_event(event);
}

/// Sends an event of the detected notes at sample `timing` of the buffer.
fn send_detected(event: SentEvent, timing: u32, host: &mut impl ProcessContext<ToneFilterPlugin>) {
    let (midi, tuning) = match event {
        _ if host.plugin_api() != PluginApi::Clap => (Some(event), None),
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
            // nice-plug converts each of these messages: notes, bends and controllers.
            NoteEvent::from_midi(timing, &message).into_iter().for_each(|event| send(host, event));
        });
    }
    if let Some((channel, key, tuning)) = tuning {
        let (channel, key) = (Channel::Number(channel), Key::Number(key));
        let voice_id = VoiceID::Wildcard;
        send(host, NoteEvent::PolyTuning { timing, voice_id, channel, key, tuning });
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
        // A host never takes the other events back.
        _ => {}
    }
    event
}

/// Queue of the host's events. Each waits for as long as the filter delays the sound. Then it is sent back to the host.
pub type Notes = MessageQueue<HostEvent>;

/// Moves the events of this buffer from `host` to `notes`, and passes each to `seen`. Processes `channels` and a sidechain, of at
/// most two channels each, with the events that are due. Sends these events and the detected notes to `host`.
pub fn process(
    notes: &mut Notes,
    filter: &mut ToneFilter,
    channels: &mut [&mut [f32]],
    sidechain: &[&mut [f32]],
    host: &mut impl ProcessContext<ToneFilterPlugin>,
    mut seen: impl FnMut(&NoteEvent<()>),
) {
    while let Some(event) = host.next_event() {
        seen(&event);
        let frame = event.timing() as usize;
        notes.push(filter, frame, HostEvent::Own(event), |at, event| event.send(at, host));
    }
    let frames = channels.iter().map(|channel| channel.len()).min().unwrap_or(0);
    // If the host connects no input at all, nice-plug leaves the sidechain at the length of the previous buffer.
    let complete = sidechain.iter().all(|channel| channel.len() >= frames);
    let sidechain = if complete { sidechain } else { &[] };
    let mut shortened = [&[][..]; 2];
    for (shortened, channel) in shortened.iter_mut().zip(sidechain) {
        *shortened = &channel[..frames];
    }
    let sidechain = &shortened[..sidechain.len().min(2)];
    notes.process(filter, channels, sidechain, |at, event| event.send(at, host));
}

/// Host without events of its own, for tests. Records the events that the plugin sends.
#[cfg(test)]
#[derive(Default)]
pub struct TestHost {
    /// Whether the plugin is a VST3 plugin rather than a CLAP plugin.
    pub vst3: bool,
    pub sent: Vec<NoteEvent<()>>,
}

#[cfg(test)]
impl ProcessContext<ToneFilterPlugin> for TestHost {
    fn plugin_api(&self) -> PluginApi {
        if self.vst3 { PluginApi::Vst3 } else { PluginApi::Clap }
    }
    fn next_event(&mut self) -> Option<NoteEvent<()>> {
        None
    }
    fn try_send_event(
        &mut self,
        event: NoteEvent<()>,
    ) -> Result<(), (NoteEvent<()>, nice_plug::context::process::SendEventError)> {
        self.sent.push(event);
        Ok(())
    }
    fn transport(&self) -> &nice_plug::prelude::Transport {
        unreachable!("notes do not depend on it")
    }
    fn execute_background(&self, _: plugin_guard::Task) {}
    fn execute_gui(&self, _: plugin_guard::Task) {}
    fn set_latency_samples(&self, _: u32) {}
    fn request_restart(&self) {}
    fn set_current_voice_capacity(&self, _: u32) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use tone_filter_dsp::{Listen, Routing, Settings};

    const ANY: VoiceID = VoiceID::Wildcard;
    const CHANNEL: Channel = Channel::Number(0);
    const A4: Key = Key::Number(69);

    #[test]
    fn events_of_a_host_play_keys_and_keep_their_kind() {
        let (timing, voice_id, channel, velocity) = (3, ANY, CHANNEL, 0.5);
        for (event, expected) in [
            (NoteEvent::Choke { timing, voice_id, channel, key: A4 }, Some(KeyEvent::Key(69, 0.0))),
            (
                NoteEvent::PolyVolume { timing, voice_id, channel, key: A4, gain: 2.0 },
                Some(KeyEvent::Gain(69, 2.0)),
            ),
            (NoteEvent::MidiCC { timing, channel: 0, cc: 74, value: 1.0 }, None),
            (NoteEvent::PolyPan { timing, voice_id, channel, key: A4, pan: 0.5 }, None),
        ] {
            assert!(HostEvent::Own(event).keys().eq(expected), "{event:?}");
            if !matches!(event, NoteEvent::Choke { .. }) {
                assert_eq!(moved(event, 70).timing(), 70, "{event:?}");
            }
        }
        let all = NoteEvent::NoteOff { timing, voice_id, channel, key: Key::Wildcard, velocity };
        let expected = (0..128).map(|key| KeyEvent::Key(key, 0.0));
        assert!(HostEvent::Own(all).keys().eq(expected));
    }

    #[test]
    fn pitches_are_bends_in_vst3_and_expressions_in_clap() {
        let (timing, voice_id, channel, key) = (3, ANY, Channel::Number(1), A4);
        let velocity = 100.0 / 127.0;
        let on = NoteEvent::NoteOn { timing, voice_id, channel, key, velocity };
        let off = NoteEvent::NoteOff { timing, voice_id, channel, key, velocity: 0.0 };
        let tuning = |tuning| NoteEvent::PolyTuning { timing, voice_id, channel, key, tuning };
        let bend = |value| NoteEvent::MidiPitchBend { timing, channel: 1, value };
        let (channel, key, velocity) = (1, 69, 100);
        let sent_on = |bend| SentEvent::On { channel, key, velocity, bend };
        for (event, vst3, clap) in [
            (sent_on(None), vec![on], vec![on]),
            (sent_on(Some(-48.0)), vec![bend(0.0), on], vec![on, tuning(-48.0)]),
            (
                SentEvent::Bend { channel, key, semitones: -48.0 },
                vec![bend(0.0)],
                vec![tuning(-48.0)],
            ),
            (SentEvent::Off { channel, key }, vec![off], vec![off]),
        ] {
            for (is_vst3, expected) in [(true, vst3), (false, clap)] {
                let mut host = TestHost { vst3: is_vst3, sent: vec![] };
                send_detected(event, 3, &mut host);
                assert_eq!(host.sent, expected, "{event:?}");
            }
        }
        for (vst3, count) in [(true, 3 * 16), (false, 0)] {
            let mut host = TestHost { vst3, sent: vec![] };
            send_detected(SentEvent::Zone { members: 15 }, 3, &mut host);
            assert_eq!(host.sent.len(), count, "a zone is for MIDI alone");
        }
    }

    #[test]
    fn a_sidechain_that_is_too_short_is_left_out() {
        let play = |sidechain: &[&mut [f32]]| {
            let mut filter = ToneFilter::new(48_000.0, &Settings::REFERENCE).unwrap();
            filter.set_routing(Routing { listen: Listen::Sidechain, ..Routing::default() });
            filter.reset();
            let mut signal: Vec<f32> = (0..640).map(|t| (0.1 * t as f32).sin()).collect();
            let channels = &mut [&mut signal[..]];
            let mut notes = Notes::new();
            process(&mut notes, &mut filter, channels, sidechain, &mut TestHost::default(), |_| ());
            signal
        };
        let (mut short, mut silence) = ([0.0; 64], [0.0; 640]);
        assert_eq!(play(&[&mut short]), play(&[]));
        assert_ne!(play(&[&mut silence]), play(&[]));
    }
}
