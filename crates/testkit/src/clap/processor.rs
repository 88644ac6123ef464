//! An active plugin, for use on the audio thread.

use super::{callbacks::Callbacks, parameters::clap_id};
use anyhow::{Context, Result, ensure};
use clack_extensions::tail::{PluginTail, TailLength};
use clack_host::{
    events::{
        event_types::{MidiEvent, ParamValueEvent, TransportEvent},
        spaces::CoreEventSpace,
    },
    prelude::*,
    process::StoppedPluginAudioProcessor,
};

/// An active plugin that processes audio, until [`Instance::deactivate`](super::Instance::deactivate).
pub struct Processor {
    started: StartedPluginAudioProcessor<Callbacks>,
    max_block: usize,
    /// Further data for every block.
    pub surroundings: Surroundings,
    /// The notes that [`Processor::run`] plays to every signal.
    pub notes: Vec<Midi>,
    /// Signal of the plugin's second input in [`Processor::run`], as long as the main signal; may be missing.
    pub sidechain: Option<Vec<Vec<f32>>>,
    /// The notes that the plugin has sent in [`Processor::run`]; `None` if it may not send any.
    pub sent: Option<Vec<Sent>>,
}

/// The data that a host passes with a block, besides samples and events.
#[derive(Clone, Copy)]
pub struct Surroundings {
    /// The position in the music, if the host has a transport.
    pub transport: Option<TransportEvent>,
    /// Whether the input buffers are marked as constant.
    pub constant: bool,
    /// Runs the given call of the plugin, and may monitor it.
    pub call: fn(&mut dyn FnMut()),
}

impl Default for Surroundings {
    fn default() -> Self {
        Self { transport: None, constant: false, call: |call| call() }
    }
}

/// A parameter's new value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// The first sample with the new value, counted from the start of the signal.
    pub frame: usize,
    /// The parameter's id.
    pub parameter: u32,
    /// The value in the plugin's CLAP units.
    pub value: f64,
}

/// A MIDI message.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Midi {
    /// The sample at which it comes, counted from the start of the signal.
    pub frame: usize,
    /// Its bytes.
    pub message: [u8; 3],
}

/// A note that a plugin has sent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sent {
    /// Its sample, counted from the start of the signal.
    pub frame: usize,
    /// Its MIDI note.
    pub key: u16,
    /// Its velocity, 0..1; `None` for a note off.
    pub velocity: Option<f64>,
}

impl Sent {
    /// The note on or note off that is in `event`.
    fn read(event: &UnknownEvent, start: usize) -> Option<Self> {
        let frame = start + event.header().time() as usize;
        let key = |pckn: Pckn| pckn.key.into_specific();
        match event.as_core_event()? {
            CoreEventSpace::NoteOn(on) => {
                Some(Self { frame, key: key(on.pckn())?, velocity: Some(on.velocity()) })
            }
            CoreEventSpace::NoteOff(off) => {
                Some(Self { frame, key: key(off.pckn())?, velocity: None })
            }
            _ => None,
        }
    }
}

impl Change {
    pub(super) fn event(&self) -> Result<ParamValueEvent> {
        let id = clap_id(self.parameter)?;
        Ok(ParamValueEvent::new(self.frame as u32, id, Pckn::match_all(), self.value))
    }
}

impl Processor {
    pub(super) fn start(
        stopped: StoppedPluginAudioProcessor<Callbacks>,
        max_block: usize,
    ) -> Result<Self> {
        let started = stopped.start_processing().ok().context("the plugin does not start")?;
        Ok(Self {
            started,
            max_block,
            surroundings: Surroundings::default(),
            notes: Vec::new(),
            sidechain: None,
            sent: None,
        })
    }

    pub(super) fn stop(self) -> StoppedPluginAudioProcessor<Callbacks> {
        self.started.stop_processing()
    }

    /// Resets the plugin's state.
    pub fn reset(&mut self) {
        self.started.reset();
    }

    /// The plugin's tail in samples; `None` if it is infinite.
    ///
    /// # Errors
    /// When the plugin does not report it.
    pub fn tail(&mut self) -> Result<Option<u32>> {
        let handle = self.started.plugin_handle();
        let tail: PluginTail = handle.get_extension().context("the plugin has no tail")?;
        Ok(match tail.get(&handle) {
            TailLength::Finite(samples) => Some(samples),
            TailLength::Infinite => None,
        })
    }

    /// Processes one block from `input` to `output`, or in place in `output` without `input`. `changes` must be sorted.
    ///
    /// # Errors
    /// When the block is larger than announced or the plugin fails.
    pub fn process(
        &mut self,
        input: Option<&mut [&mut [f32]]>,
        output: &mut [&mut [f32]],
        changes: &[Change],
    ) -> Result<ProcessStatus> {
        let mut nothing = OutputEvents::void();
        self.process_all(input.map(|main| [main, &mut []]), output, changes, &[], &mut nothing)
    }

    /// [`Processor::process`] with a sidechain beside the input, with notes, and with room for what the plugin sends.
    fn process_all(
        &mut self,
        input: Option<[&mut [&mut [f32]]; 2]>,
        output: &mut [&mut [f32]],
        changes: &[Change],
        notes: &[Midi],
        sent: &mut OutputEvents,
    ) -> Result<ProcessStatus> {
        let Surroundings { transport, constant, call } = self.surroundings;
        let frames = output.first().map_or(0, |channel| channel.len());
        ensure!(frames <= self.max_block, "{frames} samples are more than {}", self.max_block);
        let mut events = EventBuffer::with_capacity(changes.len() + notes.len());
        for change in changes {
            events.push(&change.event()?);
        }
        for Midi { frame, message } in notes {
            events.push(&MidiEvent::new(*frame as u32, 0, *message));
        }
        if !notes.is_empty() {
            events.sort();
        }

        let mut output_ports = AudioPorts::with_capacity(output.len(), 1);
        let mut output = output_ports.with_output_buffers([AudioPortBuffer {
            latency: 0,
            channels: AudioPortBufferType::f32_output_only(output.iter_mut().map(|c| &mut **c)),
        }]);
        let mut input_ports = AudioPorts::with_capacity(4, 2);
        let shared = [output.as_raw_buffers()[0]];
        let input = match input {
            Some(ports) => {
                let ports = ports.into_iter().filter(|port| !port.is_empty());
                let ports: Vec<_> = ports.collect();
                input_ports.with_input_buffers(ports.into_iter().map(|port| {
                    AudioPortBuffer {
                        latency: 0,
                        channels: AudioPortBufferType::f32_input_only(
                            port.iter_mut()
                                .map(|channel| InputChannel::from_buffer(&mut **channel, constant)),
                        ),
                    }
                }))
            }
            // SAFETY: these are the output's buffers, which have `frames` samples per channel and live as long as
            // `output`. CLAP allows the two ports of a pair to share buffers, and the plugin declares its main ports
            // to be such a pair. Only the plugin accesses them during the call.
            None => unsafe { InputAudioBuffers::from_raw_buffers(&shared, frames as u32) },
        };
        let events = events.as_input();
        let mut status = None;
        call(&mut || {
            let (output, transport) = (&mut output, transport.as_ref());
            status = Some(self.started.process(&input, output, &events, sent, None, transport));
        });
        Ok(status.context("the call was not made")??)
    }

    /// Replaces `signal` by the plugin's output, in blocks of the lengths `blocks`, in place or with separate buffers.
    /// `changes` must be sorted; their frames count from the start of the signal. With a sidechain, it cannot be in place.
    ///
    /// # Errors
    /// As for [`Processor::process`].
    ///
    /// # Panics
    /// When channels have different lengths or `blocks` ends too early.
    pub fn run(
        &mut self,
        signal: &mut [Vec<f32>],
        in_place: bool,
        blocks: &mut dyn Iterator<Item = usize>,
        changes: &[Change],
    ) -> Result<()> {
        let frames = signal[0].len();
        let mut start = 0;
        while start < frames {
            let end = frames.min(start + blocks.next().expect("blocks go on for ever"));
            let within: Vec<Change> = changes
                .iter()
                .filter(|change| (start..end).contains(&change.frame))
                .map(|change| Change { frame: change.frame - start, ..*change })
                .collect();
            let notes: Vec<Midi> = self
                .notes
                .iter()
                .filter(|note| (start..end).contains(&note.frame))
                .map(|note| Midi { frame: note.frame - start, ..*note })
                .collect();
            let mut copy: Vec<Vec<f32>> = signal.iter().map(|c| c[start..end].to_vec()).collect();
            let mut input: Vec<&mut [f32]> = copy.iter_mut().map(Vec::as_mut_slice).collect();
            let mut output: Vec<&mut [f32]> =
                signal.iter_mut().map(|channel| &mut channel[start..end]).collect();
            if !in_place {
                // The plugin must not read the output buffer: if it did, this value would show it.
                output.iter_mut().for_each(|channel| channel.fill(f32::NAN));
            }
            let mut sidechain: Vec<Vec<f32>> = match &self.sidechain {
                Some(sidechain) => sidechain.iter().map(|c| c[start..end].to_vec()).collect(),
                None => Vec::new(),
            };
            let mut sidechain: Vec<_> = sidechain.iter_mut().map(Vec::as_mut_slice).collect();
            let input = (!in_place).then_some([&mut input[..], &mut sidechain[..]]);
            let mut events = EventBuffer::new();
            let mut sent = match self.sent {
                Some(_) => events.as_output(),
                None => OutputEvents::void(),
            };
            self.process_all(input, &mut output, &within, &notes, &mut sent)?;
            if let Some(sent) = &mut self.sent {
                sent.extend(events.iter().filter_map(|event| Sent::read(event, start)));
            }
            start = end;
        }
        Ok(())
    }
}
