//! Active plugin, for use on the audio thread. Also the transport that its host passes.

use super::{callbacks::Callbacks, parameters::clap_id};
use anyhow::{Context, Result, ensure};
use clack_extensions::{params::PluginParams, tail::*};
use clack_host::{
    events::{
        EventFlags,
        event_types::{MidiEvent, ParamModEvent, ParamValueEvent, TransportEvent, TransportFlags},
        spaces::CoreEventSpace,
    },
    prelude::*,
    process::PluginAudioProcessor,
    utils::{BeatTime, SecondsTime},
};

/// Active plugin, until it is passed to [`Instance::deactivate`](super::Instance::deactivate).
pub struct Processor {
    pub(super) audio: PluginAudioProcessor<Callbacks>,
    max_block: usize,
    /// Transport at the start of each of the next buffers: position, tempo, and whether the song plays. `None` for a host
    /// without a transport.
    pub transport: Option<TransportEvent>,
    /// Event that changes the transport within each of the next buffers, at the frame in its header.
    pub later_transport: Option<TransportEvent>,
    /// Whether the next input buffers are flagged as constant.
    pub constant: bool,
    /// Wrapper around each call of the plugin's `process`, for monitoring. It must run the closure.
    pub call: fn(&mut dyn FnMut()),
    /// MIDI messages that [`Processor::run`] sends. Frames count from the start of the signal.
    pub notes: Vec<Midi>,
    /// Modulations that [`Processor::run`] sends: from its frame on, each adds its value to the parameter's.
    pub modulation: Vec<Change>,
    /// Sidechain input of [`Processor::run`], as long as the main signal; `None` if not connected.
    pub sidechain: Option<Vec<Vec<f32>>>,
    /// Notes that the plugin has sent in [`Processor::run`]. If it is `None`, the host's event queue refuses all events.
    pub sent: Option<Vec<Sent>>,
}

/// Change of a parameter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// First frame that has the new value, counted from the start of the signal.
    pub frame: usize,
    /// Id of the parameter, from [`parameter_id`](super::parameter_id).
    pub parameter: u32,
    /// New value in the plugin's CLAP units.
    pub value: f64,
}

/// MIDI message, with its time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Midi {
    /// Time in samples, counted from the start of the signal.
    pub frame: usize,
    /// Status byte and two data bytes.
    pub message: [u8; 3],
}

/// Note-on or note-off that the plugin has sent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sent {
    /// Time in samples, counted from the start of the signal.
    pub frame: usize,
    /// MIDI note number.
    pub key: u16,
    /// Velocity, 0..1; `None` for a note-off.
    pub velocity: Option<f64>,
}

impl Sent {
    /// Reads a note-on or note-off from `event`. The buffer of `event` begins at the sample `start`. Returns `None` for other
    /// events.
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
    /// Converts the change to an event of a buffer that begins at the sample `start`.
    pub(super) fn event(&self, start: usize) -> Result<ParamValueEvent> {
        let (time, id) = ((self.frame - start) as u32, clap_id(self.parameter)?);
        Ok(ParamValueEvent::new(time, id, Pckn::match_all(), self.value))
    }
}

impl Processor {
    pub(super) fn new(audio: PluginAudioProcessor<Callbacks>, max_block: usize) -> Self {
        Self {
            audio,
            max_block,
            transport: None,
            later_transport: None,
            constant: false,
            call: |call| call(),
            notes: Vec::new(),
            modulation: Vec::new(),
            sidechain: None,
            sent: None,
        }
    }

    /// Starts processing, as required before [`Processor::process`].
    pub fn start(&mut self) -> Result<()> {
        self.audio.start_processing()?;
        Ok(())
    }

    /// Stops processing. The plugin stays active.
    pub fn stop(&mut self) -> Result<()> {
        self.audio.stop_processing()?;
        Ok(())
    }

    /// Clears the plugin's audio state, such as delays and sounding voices. Parameters stay.
    pub fn reset(&mut self) {
        self.audio.reset();
    }

    /// Sets parameters between two buffers, by a flush (`clap_plugin_params.flush`).
    pub fn set(&mut self, changes: &[Change]) -> Result<()> {
        let mut handle = self.audio.plugin_handle();
        let params: PluginParams =
            handle.get_extension().context("the plugin has no parameters")?;
        let events = changes.iter().map(|change| change.event(0)).collect::<Result<Vec<_>>>()?;
        let events = InputEvents::from_buffer(&events);
        params.flush_active(&mut handle, &events, &mut OutputEvents::void());
        Ok(())
    }

    /// Returns the plugin's tail in samples; `None` if the tail is infinite.
    pub fn tail(&mut self) -> Result<Option<u32>> {
        let handle = self.audio.plugin_handle();
        let tail: PluginTail = handle.get_extension().context("the plugin has no tail")?;
        Ok(match tail.get(&handle) {
            TailLength::Finite(samples) => Some(samples),
            TailLength::Infinite => None,
        })
    }

    /// Processes one buffer from `input` to `output`; without `input`, in place in `output`. `changes` must be sorted; their
    /// frames count from the start of the buffer.
    pub fn process(
        &mut self,
        input: Option<&mut [&mut [f32]]>,
        output: &mut [&mut [f32]],
        changes: &[Change],
    ) -> Result<ProcessStatus> {
        let mut events = EventBuffer::with_capacity(changes.len());
        for change in changes {
            events.push(&change.event(0)?);
        }
        let input = input.map(|main| [main, &mut []]);
        self.process_all(input, output, events, &mut OutputEvents::void())
    }

    /// Processes one buffer. `input` has the main input and the sidechain; without it, processes in place in `output`. `events`
    /// are the host's events except [`Self::later_transport`]. `sent` receives the plugin's events.
    fn process_all(
        &mut self,
        input: Option<[&mut [&mut [f32]]; 2]>,
        output: &mut [&mut [f32]],
        mut events: EventBuffer,
        sent: &mut OutputEvents,
    ) -> Result<ProcessStatus> {
        let Self { transport, later_transport, constant, call, .. } = *self;
        let frames = output.first().map_or(0, |channel| channel.len());
        ensure!(frames <= self.max_block, "{frames} samples are more than {}", self.max_block);
        if let Some(later) = later_transport {
            events.push(&later);
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
            // SAFETY: these are the output's buffers, which have `frames` samples per channel and live as long as `output`. CLAP
            // allows the two ports of a pair to share buffers, and the plugin declares its main ports to be such a pair. Only the
            // plugin accesses the buffers during the call.
            None => unsafe { InputAudioBuffers::from_raw_buffers(&shared, frames as u32) },
        };
        let events = events.as_input();
        let started = self.audio.as_started_mut()?;
        let mut status = None;
        call(&mut || {
            let (output, transport) = (&mut output, transport.as_ref());
            status = Some(started.process(&input, output, &events, sent, None, transport));
        });
        Ok(status.context("the call was not made")??)
    }

    /// Replaces `signal` by the plugin's output. `blocks` yields the buffer lengths. If `in_place`, input and output share
    /// their buffers.
    ///
    /// `changes` must be sorted; their frames count from the start of the signal. In place, the sidechain is not passed.
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
            let mut events = EventBuffer::new();
            for change in changes.iter().filter(|change| (start..end).contains(&change.frame)) {
                events.push(&change.event(start)?);
            }
            for change in self.modulation.iter().filter(|it| (start..end).contains(&it.frame)) {
                let (time, id) = ((change.frame - start) as u32, clap_id(change.parameter)?);
                events.push(&ParamModEvent::new(time, id, Pckn::match_all(), change.value));
            }
            for note in self.notes.iter().filter(|note| (start..end).contains(&note.frame)) {
                events.push(&MidiEvent::new((note.frame - start) as u32, 0, note.message));
            }
            events.sort();
            let part = |signal: &[Vec<f32>]| -> Vec<Vec<f32>> {
                signal.iter().map(|channel| channel[start..end].to_vec()).collect()
            };
            let mut inputs = [&*signal, self.sidechain.as_deref().unwrap_or_default()].map(part);
            let mut inputs = inputs
                .each_mut()
                .map(|input| input.iter_mut().map(Vec::as_mut_slice).collect::<Vec<_>>());
            let mut output: Vec<&mut [f32]> =
                signal.iter_mut().map(|channel| &mut channel[start..end]).collect();
            if !in_place {
                // The plugin must not read the output buffer. If it did, NaN would spoil the result.
                output.iter_mut().for_each(|channel| channel.fill(f32::NAN));
            }
            let input = (!in_place).then(|| inputs.each_mut().map(Vec::as_mut_slice));
            let mut answers = EventBuffer::new();
            let mut sent = match self.sent {
                Some(_) => answers.as_output(),
                None => OutputEvents::void(),
            };
            self.process_all(input, &mut output, events, &mut sent)?;
            if let Some(sent) = &mut self.sent {
                sent.extend(answers.iter().filter_map(|event| Sent::read(event, start)));
            }
            start = end;
        }
        Ok(())
    }
}

/// Returns a transport with random values. `noise` returns numbers in -1..1.
pub fn random_transport(noise: &mut dyn FnMut() -> f64) -> TransportEvent {
    let mut any = |scale: f64| scale * noise();
    TransportEvent {
        header: EventHeader::new_core(0, EventFlags::empty()),
        flags: TransportFlags::from_bits_truncate(any(1e9).abs() as u32),
        song_pos_beats: BeatTime::from_float(any(1e6)),
        song_pos_seconds: SecondsTime::from_float(any(1e6)),
        tempo: any(1e6),
        tempo_inc: any(1.0),
        loop_start_beats: BeatTime::from_float(any(1e6)),
        loop_end_beats: BeatTime::from_float(any(1e6)),
        loop_start_seconds: SecondsTime::from_float(any(1e6)),
        loop_end_seconds: SecondsTime::from_float(any(1e6)),
        bar_start: BeatTime::from_float(any(1e6)),
        bar_number: any(2e9) as i32,
        time_signature_numerator: any(65_535.0) as u16,
        time_signature_denominator: any(65_535.0) as u16,
    }
}

/// Returns a transport at the start of a song at 120 beats per minute, playing or stopped.
pub fn transport_that(plays: bool) -> TransportEvent {
    let flags = if plays { TransportFlags::IS_PLAYING } else { TransportFlags::empty() };
    let at_rest = transport_at(120.0);
    TransportEvent { flags: at_rest.flags | flags, ..at_rest }
}

/// Returns a stopped transport at the start of a song, at `tempo` beats per minute.
pub fn transport_at(tempo: f64) -> TransportEvent {
    TransportEvent { flags: TransportFlags::HAS_TEMPO, tempo, ..random_transport(&mut || 0.0) }
}

/// Returns `transport` as an event at `frame` of a buffer.
pub fn at_frame(transport: TransportEvent, frame: u32) -> TransportEvent {
    TransportEvent { header: EventHeader::new_core(frame, EventFlags::empty()), ..transport }
}
