//! Pictures of the bands, and the sound itself, on their way from the audio thread to the editor.
//!
//! A few packets go to and fro: the audio thread fills one for the time of a picture and sends it, the editor
//! reads it and sends it back. Neither side ever waits for the other. While nobody looks, nothing is sent.

use crate::dsp::Snapshot;
#[cfg(all(test, loom))]
use loom::sync::{Arc, Mutex, atomic::AtomicUsize};
use rtrb::{Consumer, Producer, RingBuffer};
#[cfg(not(all(test, loom)))]
use std::sync::{Arc, Mutex, atomic::AtomicUsize};
use std::{
    sync::{PoisonError, atomic::Ordering},
    time::Instant,
};

/// Pictures a second: what most displays show.
const RATE: f64 = 60.0;

/// Packets on their way: what the editor may be late by. What comes when there is none is not shown.
const PACKETS: usize = 4;

/// Samples in a packet at most: of the longest blocks, or of a picture's time at 192 kHz and a block. Not a power
/// of two, because dry and wet would then want the same places in a cache.
const ROOM: usize = 9000;

/// Pictures from one block that is timed to the next: seven or eight a second.
const TIMED: usize = 8;

/// What the editor is shown of one moment, and what there was to hear since the last.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Picture {
    /// What the bands hold.
    pub bands: Snapshot,
    /// The highest of the output since the last picture, left and right, 1 at full scale.
    pub peaks: [f32; 2],
    /// Share of the time that there is for a block of audio, 0..1.
    pub load: f32,
    /// Hz.
    pub sample_rate: f32,
    /// What went in and what came out, the mean of the first and the last channel.
    pub sound: [Vec<f32>; 2],
}

/// A picture on its way.
struct Packet {
    bands: Snapshot,
    load: f32,
    sample_rate: f32,
    /// The sum of the first and the last channel of the input, of which [`Packet::filled`] samples are there.
    dry: Box<[f32]>,
    /// These channels of the output: their peaks and their sum are the viewer's work.
    wet: [Box<[f32]>; 2],
    filled: usize,
}

/// The two ends of a new connection.
pub fn meters() -> (MeterInput, Meters) {
    let (full, output) = RingBuffer::new(PACKETS);
    let (mut back, empty) = RingBuffer::new(PACKETS);
    for _ in 0..PACKETS {
        // Not zeros: those the system would come with only when the audio thread first writes.
        let room = || vec![1.0; ROOM].into();
        let packet = Packet {
            bands: Snapshot::default(),
            load: 0.0,
            sample_rate: 0.0,
            dry: room(),
            wet: [room(), room()],
            filled: 0,
        };
        // There is room for all of them.
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
        load: 0.0,
        untimed: 0,
        period: 0,
        due: 0,
    };
    (input, meters)
}

/// The audio thread's end.
pub struct MeterInput {
    /// What is being filled.
    packet: Option<Box<Packet>>,
    empty: Consumer<Box<Packet>>,
    full: Producer<Box<Packet>>,
    viewers: Arc<AtomicUsize>,
    /// Hz.
    sample_rate: f32,
    /// Share of the time that there is for a block.
    load: f32,
    /// Pictures until a block is timed.
    untimed: usize,
    /// Frames between two pictures.
    period: usize,
    /// Frames until the next one.
    due: usize,
}

impl MeterInput {
    /// Tells how many frames a second [`MeterInput::advance`] will see.
    pub fn set_sample_rate(&mut self, sample_rate: f64) {
        self.period = (sample_rate / RATE) as usize;
        self.sample_rate = sample_rate as f32;
    }

    /// Whether anybody looks.
    pub fn is_watched(&self) -> bool {
        self.viewers.load(Ordering::Relaxed) > 0
    }

    /// Has `process` work on `channels`. Who looks is sent what went in and what came out.
    ///
    /// Neither waits nor allocates.
    pub fn measure<R>(
        &mut self,
        channels: &mut [&mut [f32]],
        process: impl FnOnce(&mut [&mut [f32]]) -> R,
    ) -> R {
        if !self.is_watched() {
            self.forget();
            return process(channels);
        }
        if self.packet.is_none() {
            self.packet = self.empty.pop().ok();
        }
        let frames = channels.iter().map(|channel| channel.len()).min().unwrap_or(0);
        let mut begun = None;
        if let Some(packet) = &mut self.packet {
            // With short blocks, reading the clock for each would cost more than all the rest here. It is no
            // system call on any system that we know of.
            begun = (packet.filled == 0 && self.untimed == 0).then(Instant::now);
            packet.write_dry(channels, frames);
        }
        let result = process(channels);
        if let Some(begun) = begun {
            self.untimed = TIMED;
            self.note_load(begun.elapsed().as_secs_f32(), frames);
        }
        if let Some(packet) = &mut self.packet {
            packet.write_wet(channels, frames);
        }
        result
    }

    /// Leaves nothing for who looks next.
    fn forget(&mut self) {
        if let Some(packet) = &mut self.packet {
            packet.filled = 0;
        }
    }

    /// Notes that `frames` took `seconds`.
    fn note_load(&mut self, seconds: f32, frames: usize) {
        let load = seconds * self.sample_rate / frames.max(1) as f32;
        // Blocks differ; an eye wants a mean.
        self.load += 0.25 * (load - self.load);
    }

    /// Lets `frames` pass and sends what `bands` gives when a picture is due; true if it did.
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
        // There is room for all packets that there are.
        self.full.push(packet).is_ok()
    }
}

impl Packet {
    /// Takes over `frames` of the input's `channels`, as far as there is room.
    fn write_dry(&mut self, channels: &[&mut [f32]], frames: usize) {
        let (Some(left), Some(right)) = (channels.first(), channels.last()) else { return };
        let room = self.dry[self.filled..].iter_mut();
        for ((to, left), right) in room.zip(&left[..frames]).zip(&right[..frames]) {
            *to = left + right;
        }
    }

    /// Takes over `frames` of the output's `channels`, as far as there is room.
    fn write_wet(&mut self, channels: &[&mut [f32]], frames: usize) {
        let end = ROOM.min(self.filled + frames);
        for (to, from) in self.wet.iter_mut().zip([channels.first(), channels.last()]) {
            let Some(from) = from else { continue };
            to[self.filled..end].copy_from_slice(&from[..end - self.filled]);
        }
        self.filled = end;
    }
}

/// What viewers take turns with.
struct Output {
    full: Consumer<Box<Packet>>,
    back: Producer<Box<Packet>>,
}

/// The editor's end, from which viewers are opened.
#[derive(Clone)]
pub struct Meters {
    /// Only viewers lock it, which live on the window's thread.
    output: Arc<Mutex<Output>>,
    viewers: Arc<AtomicUsize>,
}

impl Meters {
    /// Has pictures sent for as long as the viewer lives.
    pub fn open(&self) -> MeterViewer {
        let mut viewer = MeterViewer(self.clone());
        if self.viewers.fetch_add(1, Ordering::Relaxed) == 0 {
            // What the last one did not see is from long ago.
            viewer.latest();
        }
        viewer
    }
}

/// An open window's eye.
pub struct MeterViewer(Meters);

impl MeterViewer {
    /// The latest picture, if it is a new one.
    pub fn latest(&mut self) -> Option<Picture> {
        let mut output = self.0.output.lock().unwrap_or_else(PoisonError::into_inner);
        let mut picture = None;
        while let Ok(mut packet) = output.full.pop() {
            let latest = picture.get_or_insert_with(Picture::default);
            let [dry, wet] = &mut latest.sound;
            dry.extend(packet.dry[..packet.filled].iter().map(|sum| 0.5 * sum));
            let [left, right] = packet.wet.each_ref().map(|channel| &channel[..packet.filled]);
            wet.extend(left.iter().zip(right).map(|(left, right)| 0.5 * (left + right)));
            for (peak, channel) in latest.peaks.iter_mut().zip([left, right]) {
                *peak = channel.iter().fold(*peak, |peak, sample| peak.max(sample.abs()));
            }
            latest.bands = packet.bands.clone();
            (latest.load, latest.sample_rate) = (packet.load, packet.sample_rate);
            packet.filled = 0;
            // There is room for all packets that there are.
            let _ = output.back.push(packet);
        }
        picture
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
