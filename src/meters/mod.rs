//! Meter data from the audio thread to the editor: the state of the bands, input and output.
//!
//! A fixed set of packets circulates through two lock-free queues: the audio thread fills a packet and sends it, the editor
//! reads the packet and sends it back. The threads never wait for each other. While an editor is open, the audio thread sends
//! 60 updates per second: fewer and longer ones to a late editor, and none while no packet is free. Levels, states and peaks are
//! computed on the editor's thread.

use plugin_guard::lock;
use rtrb::{Consumer, Producer, RingBuffer};
use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Instant,
};
use tone_filter_dsp::Snapshot;

/// Updates per second: the refresh rate of most displays.
const RATE: f64 = 60.0;
/// Number of packets, and so the maximum number of updates that wait for the editor.
const PACKETS: usize = 4;

/// Maximum number of samples in a packet, per signal. Enough for the host's longest buffers, and for the time between two
/// updates at 192 kHz plus a buffer. Not a power of two: input and output would then compete for the same cache lines.
const CAPACITY: usize = 9000;
/// Interval in updates at which the processing of a buffer is timed.
const TIMING_INTERVAL: usize = 8;

/// Data for the display: a snapshot of the bands, and the signals since the last update.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MeterUpdate {
    /// State of the bands at the end of the last buffer.
    pub bands: Snapshot,
    /// Peaks of the output since the last update, left and right; 1 is full scale.
    pub peaks: [f32; 2],
    /// Smoothed processing time of a buffer, as a fraction of the buffer's duration; 1 is the deadline.
    pub load: f32,
    /// Sample rate in Hz.
    pub sample_rate: f32,
    /// Bar number of the host's song, counted from 0; `None` while the host is stopped or reports no bars.
    pub bar: Option<i32>,
    /// Samples of the input and of the output since the last update. Each sample is the mean of the first and the last channel.
    pub sound: [Vec<f32>; 2],
    /// Number of input samples since the last update for which no packet had room. They are missing in `sound`.
    pub lost: u64,
    /// Samples of the input since the last update: of its first and of its last channel.
    pub input: [Vec<f32>; 2],
}

struct Packet {
    /// Data for the editor. `peaks`, `sound` and `input` are not set here; the viewer computes them.
    update: MeterUpdate,
    /// Samples of the input's first and last channel.
    dry: [Box<[f32]>; 2],
    /// Samples of the output's first and last channel.
    wet: [Box<[f32]>; 2],
    /// Number of valid samples in `dry` and `wet`.
    filled: usize,
}

/// Creates a connection, and returns the audio thread's end and the editor's end.
pub fn meters() -> (MeterInput, Meters) {
    let (full, output) = RingBuffer::new(PACKETS);
    let (mut back, empty) = RingBuffer::new(PACKETS);
    for _ in 0..PACKETS {
        // Not zeros: for zeros, the system would map memory only at the first write, which is on the audio thread.
        let buffers = || [(); 2].map(|()| vec![1.0; CAPACITY].into());
        let update = MeterUpdate::default();
        let packet = Packet { update, dry: buffers(), wet: buffers(), filled: 0 };
        // The queue has room for all packets.
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
        lost: 0,
        untimed: 0,
        period: 0,
        due: 0,
    };
    (input, meters)
}

/// Audio thread's end of the connection.
pub struct MeterInput {
    packet: Option<Box<Packet>>,
    empty: Consumer<Box<Packet>>,
    full: Producer<Box<Packet>>,
    viewers: Arc<AtomicUsize>,
    sample_rate: f32,
    /// See [`MeterUpdate::bar`].
    pub bar: Option<i32>,
    /// See [`MeterUpdate::load`].
    load: f32,
    /// See [`MeterUpdate::lost`].
    lost: u64,
    /// Number of updates until the next buffer is timed.
    untimed: usize,
    /// Frames between two updates.
    period: usize,
    /// Frames until the next update is due.
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

    /// Runs `process` on `channels`. While a viewer is open, records input and output for it. Does not wait or allocate.
    pub fn measure<R>(
        &mut self,
        channels: &mut [&mut [f32]],
        process: impl FnOnce(&mut [&mut [f32]]) -> R,
    ) -> R {
        if !self.is_watched() {
            // Recorded samples would be old when the next viewer opens.
            self.lost = 0;
            if let Some(packet) = &mut self.packet {
                packet.filled = 0;
            }
            return process(channels);
        }
        if self.packet.is_none() {
            self.packet = self.empty.pop().ok();
        }
        let frames = channels.iter().map(|channel| channel.len()).min().unwrap_or(0);
        let mut start = None;
        let free = self.packet.as_ref().map_or(0, |packet| CAPACITY - packet.filled);
        self.lost += frames.saturating_sub(free) as u64;
        if let Some(packet) = &mut self.packet {
            // Reading the clock makes no system call, but for every short buffer it would cost more than all else here.
            start = (packet.filled == 0 && self.untimed == 0).then(Instant::now);
            copy(&mut packet.dry, packet.filled, channels, frames);
        }
        let result = process(channels);
        if let Some(start) = start {
            self.untimed = TIMING_INTERVAL;
            self.update_load(start.elapsed().as_secs_f32(), frames);
        }
        if let Some(packet) = &mut self.packet {
            packet.filled = copy(&mut packet.wet, packet.filled, channels, frames);
        }
        result
    }

    /// Updates the smoothed load after `frames` frames were processed in `seconds`.
    fn update_load(&mut self, seconds: f32, frames: usize) {
        let load = seconds * self.sample_rate / frames.max(1) as f32;
        self.load += 0.25 * (load - self.load);
    }

    /// Advances the time by `frames`. If an update is due, sends one with the result of `bands`, unless no packet is free, or the
    /// editor is late and the packet has room for more sound. Returns whether it was sent. Does not wait or allocate.
    pub fn advance(&mut self, frames: usize, bands: impl FnOnce() -> Snapshot) -> bool {
        if !self.is_watched() {
            return false;
        }
        self.due = self.due.saturating_sub(frames);
        if self.due > 0 {
            return false;
        }
        let is_late = self.full.slots() < PACKETS;
        let filled = self.packet.as_ref().map_or(0, |packet| packet.filled);
        let room = CAPACITY.saturating_sub(self.period);
        if is_late && self.period > 0 && (1..=room).contains(&filled) {
            // The window is late. The packet continues to record, so that no sound is lost.
            return false;
        }
        let Some(mut packet) = self.packet.take().or_else(|| self.empty.pop().ok()) else {
            return false;
        };
        self.due = self.period;
        self.untimed = self.untimed.saturating_sub(1);
        let update = &mut packet.update;
        (update.bands, update.load, update.bar) = (bands(), self.load, self.bar);
        (update.sample_rate, update.lost) = (self.sample_rate, std::mem::take(&mut self.lost));
        // The queue has room for all packets.
        self.full.push(packet).is_ok()
    }
}

/// Copies `frames` samples of the first and the last channel to `buffers` from index `from` on, or as many as fit. Returns the end.
fn copy(
    buffers: &mut [Box<[f32]>; 2],
    from: usize,
    channels: &[&mut [f32]],
    frames: usize,
) -> usize {
    let end = CAPACITY.min(from + frames);
    for (to, channel) in buffers.iter_mut().zip([channels.first(), channels.last()]) {
        let Some(channel) = channel else { continue };
        to[from..end].copy_from_slice(&channel[..end - from]);
    }
    end
}

/// Editor's ends of both queues, shared by all viewers.
struct Output {
    full: Consumer<Box<Packet>>,
    back: Producer<Box<Packet>>,
}

/// Editor's end of the connection, which opens viewers.
#[derive(Clone)]
pub struct Meters {
    /// The audio thread must not lock it.
    output: Arc<Mutex<Output>>,
    viewers: Arc<AtomicUsize>,
}

impl Meters {
    /// Opens a viewer. The audio thread sends updates while at least one viewer is open.
    pub fn open(&self) -> MeterViewer {
        let mut viewer = MeterViewer(self.clone());
        if self.viewers.fetch_add(1, Ordering::Relaxed) == 0 {
            // Discards updates that earlier viewers have not read.
            viewer.latest();
        }
        viewer
    }
}

/// Receiver of updates for an open window.
pub struct MeterViewer(Meters);

impl MeterViewer {
    /// Merges all updates since the last call. Peaks, samples and lost samples are those of all updates, the other fields
    /// those of the latest. `None` without an update.
    pub fn latest(&mut self) -> Option<MeterUpdate> {
        let mut output = lock(&self.0.output);
        let mut update = None;
        // Bounded, as the audio thread may fill packets as fast as they are sent back.
        for _ in 0..PACKETS {
            let Ok(mut packet) = output.full.pop() else { break };
            let latest = update.get_or_insert_with(MeterUpdate::default);
            let filled = packet.filled;
            for (means, channels) in latest.sound.iter_mut().zip([&packet.dry, &packet.wet]) {
                let [left, right] = channels.each_ref().map(|channel| &channel[..filled]);
                means.extend(left.iter().zip(right).map(|(left, right)| 0.5 * (left + right)));
            }
            for (input, channel) in latest.input.iter_mut().zip(&packet.dry) {
                input.extend_from_slice(&channel[..filled]);
            }
            for (peak, channel) in latest.peaks.iter_mut().zip(&packet.wet) {
                *peak = channel[..filled].iter().fold(*peak, |peak, sample| peak.max(sample.abs()));
            }
            let MeterUpdate { bands, load, sample_rate, bar, lost, .. } = &packet.update;
            latest.bands.clone_from(bands);
            (latest.load, latest.sample_rate, latest.bar) = (*load, *sample_rate, *bar);
            latest.lost += *lost;
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

#[cfg(test)]
mod tests;
