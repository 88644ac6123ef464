//! Meter data from the audio thread to the editor: the state of the bands, and the sound itself.
//!
//! A fixed set of packets circulates through two lock-free queues: the audio thread fills one for each update and sends
//! it, the editor reads it and sends it back. Neither side ever waits for the other. While no editor is open, nothing
//! is sent.
//!
//! An open editor does not change the sound. The audio thread reads one counter to learn whether an editor is open; if so, it
//! fills a packet 60 times a second. Updates are dropped while no packet is free. Levels, states and peaks are computed on the
//! editor's thread.

#[cfg(all(test, loom))]
use loom::sync::{Arc, Mutex, atomic::AtomicUsize};
use rtrb::{Consumer, Producer, RingBuffer};
#[cfg(not(all(test, loom)))]
use std::sync::{Arc, Mutex, atomic::AtomicUsize};
use std::{
    sync::{PoisonError, atomic::Ordering},
    time::Instant,
};
use tone_filter_dsp::Snapshot;

/// Updates per second, the refresh rate of most displays.
const RATE: f64 = 60.0;

/// The number of packets, and so the number of updates that the editor may be late by. While none is free, updates are
/// dropped.
const PACKETS: usize = 4;

/// The most samples in a packet: enough for the longest blocks, and for the time between two updates at 192 kHz plus a
/// block. Not a power of two, with which input and output would compete for the same cache lines.
const CAPACITY: usize = 9000;

/// Updates from one timed block to the next: seven or eight blocks are timed per second.
const TIMING_INTERVAL: usize = 8;

/// Content of the display: the bands at one moment, and the sound since the last update.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MeterUpdate {
    /// The state of the bands.
    pub bands: Snapshot,
    /// The peaks of the output since the last update, left and right, 1 at full scale.
    pub peaks: [f32; 2],
    /// Processing time as a fraction of a block's duration; 1 is the deadline.
    pub load: f32,
    /// Hz.
    pub sample_rate: f32,
    /// The number of the song's bar, from 0 on, while the host plays and has bars.
    pub bar: Option<i32>,
    /// The samples of the input and of the output, each the mean of the first and the last channel.
    pub sound: [Vec<f32>; 2],
}

/// The data of an update, with buffers of fixed length.
struct Packet {
    bands: Snapshot,
    load: f32,
    sample_rate: f32,
    bar: Option<i32>,
    /// The sum of the first and the last channel of the input.
    dry: Box<[f32]>,
    /// The first and the last channel of the output. The viewer computes their peaks and their mean.
    wet: [Box<[f32]>; 2],
    /// The number of valid samples in `dry` and `wet`.
    filled: usize,
}

/// The two ends of a new connection.
pub fn meters() -> (MeterInput, Meters) {
    let (full, output) = RingBuffer::new(PACKETS);
    let (mut back, empty) = RingBuffer::new(PACKETS);
    for _ in 0..PACKETS {
        // Not zeros: for those the system would map memory only when the audio thread first writes.
        let buffer = || vec![1.0; CAPACITY].into();
        let packet = Packet {
            bands: Snapshot::default(),
            load: 0.0,
            sample_rate: 0.0,
            bar: None,
            dry: buffer(),
            wet: [buffer(), buffer()],
            filled: 0,
        };
        // The queue has room for all of them.
        let _ = back.push(Box::new(packet));
    }
    let viewers = Arc::new(AtomicUsize::new(0));
    let output = Arc::new(Mutex::new(Output { full: output, back }));
    let meters = Meters { output, viewers: viewers.clone() };
    let input = MeterInput {
        packet: None,
        empty,
        full,
        viewers,
        sample_rate: 0.0,
        bar: None,
        load: 0.0,
        untimed: 0,
        period: 0,
        due: 0,
    };
    (input, meters)
}

/// The audio thread's end of the connection.
pub struct MeterInput {
    /// The packet that is being filled.
    packet: Option<Box<Packet>>,
    empty: Consumer<Box<Packet>>,
    full: Producer<Box<Packet>>,
    viewers: Arc<AtomicUsize>,
    /// Hz.
    sample_rate: f32,
    /// See [`MeterUpdate::bar`].
    pub bar: Option<i32>,
    /// See [`MeterUpdate::load`].
    load: f32,
    /// Updates until the next block is timed.
    untimed: usize,
    /// Frames between two updates.
    period: usize,
    /// Frames until the next update.
    due: usize,
}

impl MeterInput {
    /// Sets the sample rate in Hz.
    pub fn set_sample_rate(&mut self, sample_rate: f64) {
        self.period = (sample_rate / RATE) as usize;
        self.sample_rate = sample_rate as f32;
    }

    /// Whether a viewer is open.
    pub fn is_watched(&self) -> bool {
        self.viewers.load(Ordering::Relaxed) > 0
    }

    /// Runs `process` on `channels`. While a viewer is open, the input and the output are recorded for it.
    ///
    /// Neither waits nor allocates.
    pub fn measure<R>(
        &mut self,
        channels: &mut [&mut [f32]],
        process: impl FnOnce(&mut [&mut [f32]]) -> R,
    ) -> R {
        if !self.is_watched() {
            self.discard();
            return process(channels);
        }
        if self.packet.is_none() {
            self.packet = self.empty.pop().ok();
        }
        let frames = channels.iter().map(|channel| channel.len()).min().unwrap_or(0);
        let mut start = None;
        if let Some(packet) = &mut self.packet {
            // To read the clock for every short block would cost more than everything else here. It is no system call
            // on the supported systems.
            start = (packet.filled == 0 && self.untimed == 0).then(Instant::now);
            packet.write_dry(channels, frames);
        }
        let result = process(channels);
        if let Some(start) = start {
            self.untimed = TIMING_INTERVAL;
            self.update_load(start.elapsed().as_secs_f32(), frames);
        }
        if let Some(packet) = &mut self.packet {
            packet.write_wet(channels, frames);
        }
        result
    }

    /// Discards recorded sound, which would be old when the next viewer opens.
    fn discard(&mut self) {
        if let Some(packet) = &mut self.packet {
            packet.filled = 0;
        }
    }

    /// Updates the load with the measurement that `frames` took `seconds`.
    fn update_load(&mut self, seconds: f32, frames: usize) {
        let load = seconds * self.sample_rate / frames.max(1) as f32;
        // An average, as single blocks differ.
        self.load += 0.25 * (load - self.load);
    }

    /// Counts `frames`, and sends an update with the result of `bands` when one is due. True if one was sent.
    ///
    /// Neither waits nor allocates.
    pub fn advance(&mut self, frames: usize, bands: impl FnOnce() -> Snapshot) -> bool {
        if !self.is_watched() {
            return false;
        }
        self.due = self.due.saturating_sub(frames);
        if self.due > 0 {
            return false;
        }
        let Some(mut packet) = self.packet.take().or_else(|| self.empty.pop().ok()) else {
            return false;
        };
        self.due = self.period;
        self.untimed = self.untimed.saturating_sub(1);
        packet.bands = bands();
        packet.load = self.load;
        packet.sample_rate = self.sample_rate;
        packet.bar = self.bar;
        // The queue has room for all packets.
        self.full.push(packet).is_ok()
    }
}

impl Packet {
    /// Copies `frames` of the input's `channels`, as far as the buffer has room.
    fn write_dry(&mut self, channels: &[&mut [f32]], frames: usize) {
        let (Some(left), Some(right)) = (channels.first(), channels.last()) else { return };
        let free = self.dry[self.filled..].iter_mut();
        for ((to, left), right) in free.zip(&left[..frames]).zip(&right[..frames]) {
            *to = left + right;
        }
    }

    /// Copies `frames` of the output's `channels`, as far as the buffers have room.
    fn write_wet(&mut self, channels: &[&mut [f32]], frames: usize) {
        let end = CAPACITY.min(self.filled + frames);
        for (to, from) in self.wet.iter_mut().zip([channels.first(), channels.last()]) {
            let Some(from) = from else { continue };
            to[self.filled..end].copy_from_slice(&from[..end - self.filled]);
        }
        self.filled = end;
    }
}

/// The editor's ends of the queues, shared by all viewers.
struct Output {
    full: Consumer<Box<Packet>>,
    back: Producer<Box<Packet>>,
}

/// The editor's end of the connection, which opens viewers.
#[derive(Clone)]
pub struct Meters {
    /// Locked by viewers only, on the window's thread.
    output: Arc<Mutex<Output>>,
    viewers: Arc<AtomicUsize>,
}

impl Meters {
    /// Opens a viewer. Updates are sent while one is open.
    pub fn open(&self) -> MeterViewer {
        let mut viewer = MeterViewer(self.clone());
        if self.viewers.fetch_add(1, Ordering::Relaxed) == 0 {
            // Discards the updates that the last viewer has not read.
            viewer.latest();
        }
        viewer
    }
}

/// Receives updates for an open window.
pub struct MeterViewer(Meters);

impl MeterViewer {
    /// The latest update since the last call, if there is one, with the sound of all updates since then.
    pub fn latest(&mut self) -> Option<MeterUpdate> {
        let mut output = self.0.output.lock().unwrap_or_else(PoisonError::into_inner);
        let mut update = None;
        // Bounded: the audio thread may fill packets as fast as they are sent back.
        for _ in 0..PACKETS {
            let Ok(mut packet) = output.full.pop() else { break };
            let latest = update.get_or_insert_with(MeterUpdate::default);
            let [dry, wet] = &mut latest.sound;
            dry.extend(packet.dry[..packet.filled].iter().map(|sum| 0.5 * sum));
            let [left, right] = packet.wet.each_ref().map(|channel| &channel[..packet.filled]);
            wet.extend(left.iter().zip(right).map(|(left, right)| 0.5 * (left + right)));
            for (peak, channel) in latest.peaks.iter_mut().zip([left, right]) {
                *peak = channel.iter().fold(*peak, |peak, sample| peak.max(sample.abs()));
            }
            latest.bands = packet.bands.clone();
            (latest.load, latest.sample_rate) = (packet.load, packet.sample_rate);
            latest.bar = packet.bar;
            packet.filled = 0;
            // The queue has room for all packets.
            let _ = output.back.push(packet);
        }
        update
    }
}

impl Drop for MeterViewer {
    fn drop(&mut self) {
        self.0.viewers.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(all(test, loom))]
mod model;

#[cfg(all(test, not(loom)))]
mod tests;
