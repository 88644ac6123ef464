//! Plugin instance: ports, filter and event queue.

use crate::{
    abi::{Atom, Feature, Urid, Urids},
    events::{self, Message, Sounding, Writer},
    ports::{Port, Variant},
};
use std::{ffi::c_void, ptr};
use tone_filter_dsp::{Controls, KeyEvent, MessageQueue, Settings, ToneFilter};

const CHUNK: usize = 256;
const CHANNELS: usize = 2;

/// Addresses of the host's buffers for each channel of input, output and sidechain; NULL where a port is not connected.
type Audio = [[*mut f32; CHANNELS]; 3];

pub struct Instance {
    variant: &'static Variant,
    /// Ports in the order of their indices, each with the address of the host's data; NULL where a port is not connected.
    ports: Vec<(Port, *mut c_void)>,
    pub urids: Urids,
    /// Text settings, which have no port. The other fields are defaults, which the ports' values replace.
    pub portless: Settings,
    filter: ToneFilter,
    /// Messages from the host to the filter, and from the filter to the host.
    queue: MessageQueue<Message>,
    /// Notes that were sent to the host and have not ended.
    sounding: Sounding,
    /// Samples of a chunk of input and sidechain, by channel. They are copies, because the host's buffers may overlap.
    chunks: [[[f32; CHUNK]; CHANNELS]; 2],
    /// Host's tempo in beats a minute; `None` until the host sends one.
    tempo: Option<f64>,
    playing: bool,
    /// True from the creation or an activation until the next block. In this block, settings take effect at once.
    fresh: bool,
}

impl Instance {
    /// Creates an instance; `None` if the sample rate is out of range or the host lacks a feature.
    ///
    /// # Safety
    /// `features` must come from the host, as LV2 defines them.
    pub unsafe fn new(
        variant: &'static Variant,
        sample_rate: f64,
        features: *const *const Feature,
    ) -> Option<Self> {
        let portless = Settings::default();
        Some(Self {
            variant,
            ports: variant.ports().map(|port| (port, ptr::null_mut())).collect(),
            // SAFETY: the caller guarantees it.
            urids: unsafe { Urids::new(features) }?,
            filter: ToneFilter::new(sample_rate, &portless).ok()?.with_channels(variant.channels),
            portless,
            queue: MessageQueue::new(),
            sounding: Sounding::default(),
            chunks: [[[0.0; CHUNK]; CHANNELS]; 2],
            tempo: None,
            playing: false,
            // Some hosts never call `activate`.
            fresh: true,
        })
    }

    /// Sets the address of the data of port `index`. Real time.
    pub fn connect(&mut self, index: u32, data: *mut c_void) {
        if let Some((_, address)) = self.ports.get_mut(index as usize) {
            *address = data;
        }
    }

    /// Drops queued note-ons. With the next block, resets the filter, sends the other queued messages, and ends the detected
    /// notes.
    pub fn activate(&mut self) {
        self.fresh = true;
        self.queue.clear();
        self.queue.end_detected();
    }

    /// Processes `frames` frames. Real time.
    ///
    /// # Safety
    /// Each port must be connected to data of its type or NULL, audio to `frames` samples. Nothing else may access the data
    /// meanwhile.
    pub unsafe fn run(&mut self, frames: u32) {
        let frames = frames as usize;
        let [mut input, mut output, mut sidechain]: Audio = [[ptr::null_mut(); CHANNELS]; 3];
        let (mut events_in, mut events_out, mut latency) =
            (ptr::null(), ptr::null_mut(), ptr::null_mut::<f32>());
        for (port, data) in &self.ports {
            match *port {
                Port::Input(channel) => input[channel] = data.cast(),
                Port::Output(channel) => output[channel] = data.cast(),
                Port::Sidechain(channel) => sidechain[channel] = data.cast(),
                Port::EventsIn => events_in = data.cast::<Atom>().cast_const(),
                Port::EventsOut => events_out = data.cast(),
                Port::Latency => latency = data.cast(),
                Port::Setting(_) => {}
            }
        }
        let audio = [input, output, sidechain];
        let sequence = self.urids.sequence;
        // SAFETY: the caller guarantees it. The input and the output have separate buffers: the size in the output's head is the
        // available space.
        let events = || unsafe { events::read(events_in, sequence) };
        events().for_each(|(_, kind, content)| self.follow_song(kind, content));
        self.follow_settings();
        // SAFETY: the caller guarantees it.
        let mut writer = unsafe { Writer::new(events_out, sequence, self.urids.midi) };
        for (frame, kind, content) in events() {
            if kind == self.urids.midi {
                self.receive((frame, frames), content, &mut writer);
            }
        }
        for start in (0..frames).step_by(CHUNK) {
            // SAFETY: the chunk lies within the `frames` samples of each channel.
            unsafe { self.process(&audio, start, CHUNK.min(frames - start), &mut writer) };
        }
        // SAFETY: the caller guarantees it.
        if let Some(latency) = unsafe { latency.as_mut() } {
            *latency = self.filter.latency() as f32;
        }
    }

    /// Processes `frames` frames (at most [`CHUNK`]) from `start` on.
    ///
    /// # Safety
    /// As for [`Instance::run`]; audio ports need `start + frames` samples.
    unsafe fn process(
        &mut self,
        [input, output, sidechain]: &Audio,
        start: usize,
        frames: usize,
        writer: &mut Writer,
    ) {
        let Self { chunks, filter, queue, sounding, variant, .. } = self;
        for (chunk, buffer) in chunks.iter_mut().flatten().zip(input.iter().chain(sidechain)) {
            match buffer.is_null() {
                true => chunk.fill(0.0),
                // SAFETY: the caller guarantees the source; `chunk` belongs to the instance and has room for it.
                false => unsafe {
                    ptr::copy_nonoverlapping(buffer.add(start), chunk.as_mut_ptr(), frames);
                },
            }
        }
        let connected = variant.sidechain && sidechain.iter().any(|buffer| !buffer.is_null());
        let [main, sidechain] = chunks;
        let sidechain = sidechain.each_ref().map(|channel| &channel[..frames]);
        let sidechain = &sidechain[..if connected { variant.channels } else { 0 }];
        let mut channels = main.each_mut().map(|channel| &mut channel[..frames]);
        queue.process(filter, &mut channels[..variant.channels], sidechain, |at, message| {
            writer.write((start + at) as u32, message, sounding);
        });
        for (chunk, buffer) in channels.iter().zip(output).filter(|(_, buffer)| !buffer.is_null()) {
            // SAFETY: the caller guarantees it.
            unsafe { ptr::copy_nonoverlapping(chunk.as_ptr(), buffer.add(start), frames) };
        }
    }

    /// Queues a message for `frame`. A frame outside the block of `frames` frames is moved into the block: behind the block, it
    /// would delay later messages. Ignores empty messages, and messages of more than three bytes.
    fn receive(&mut self, (frame, frames): (i64, usize), content: &[u8], writer: &mut Writer) {
        let mut message: Message = [0; 3];
        if (1..=message.len()).contains(&content.len()) {
            message[..content.len()].copy_from_slice(content);
            let Self { filter, queue, sounding, .. } = self;
            let frame = frame.max(0).min(frames.saturating_sub(1) as i64) as usize;
            queue.push(filter, frame, message, |at, message| {
                writer.write(at as u32, message, sounding);
            });
        }
    }

    /// Reads tempo and speed from a position event. When the song stops, drops queued note-ons and releases all keys. Ignores
    /// other events.
    fn follow_song(&mut self, kind: Urid, content: &[u8]) {
        let urids = &self.urids;
        let Some((position, properties)) = events::object(content) else { return };
        if kind != urids.object || position != urids.position {
            return;
        }
        for (key, _, value) in properties.filter(|(_, kind, _)| *kind == urids.float) {
            let Some(value) = value.first_chunk().map(|value| f32::from_ne_bytes(*value)) else {
                continue;
            };
            if key == urids.tempo {
                self.tempo = Some(value.into());
            } else if key == urids.speed {
                if self.playing && value == 0.0 {
                    self.queue.clear();
                    self.filter.play(KeyEvent::ReleaseAll);
                }
                self.playing = value != 0.0;
            }
        }
    }

    /// Passes the ports' values and the text settings to the filter, which smooths the change. If [`Self::fresh`] is true, resets
    /// the filter, so that the settings take effect at once.
    fn follow_settings(&mut self) {
        let mut controls = Controls::from(self.portless);
        for (port, data) in self.ports.iter().filter(|(port, _)| port.is_setting()) {
            // SAFETY: while the host runs the plugin, a setting's port is connected to a float or to NULL.
            let value = unsafe { data.cast::<f32>().as_ref() }.copied();
            let value = value.filter(|value| !value.is_nan());
            if let Some(value) = value {
                port.set(&mut controls, value);
            }
        }
        let settings = &mut controls.settings;
        *settings = self.tempo.map_or(*settings, |tempo| settings.at_tempo(tempo));
        // The ports clamp values to their ranges, so this cannot fail.
        let _ = self.filter.set_controls(&controls);
        self.filter.detect_notes(controls.routing.midi_out);
        if std::mem::take(&mut self.fresh) {
            self.filter.reset();
        }
    }
}
