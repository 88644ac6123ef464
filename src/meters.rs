//! Pictures of the bands, and the sound itself, on their way from the audio thread to the editor.
//!
//! A triple buffer hands the latest picture over, and rings the samples: neither side ever waits for the
//! other. While nobody looks, nothing is sent.

use crate::dsp::Bands;
#[cfg(all(test, loom))]
use loom::sync::{Arc, Mutex, atomic::AtomicUsize};
use rtrb::{Consumer, Producer, RingBuffer};
#[cfg(not(all(test, loom)))]
use std::sync::{Arc, Mutex, atomic::AtomicUsize};
use std::{
    mem::take,
    sync::{PoisonError, atomic::Ordering},
    time::Instant,
};
use triple_buffer::{Input, Output, triple_buffer};

/// Pictures a second: a little more than most displays show, so that none is shown twice.
const RATE: f64 = 90.0;

/// Samples that wait for the editor, of either side: 85 ms at 192 kHz. What does not fit is not shown.
const WAITING: usize = 1 << 14;

/// Peaks that are looked for side by side, which is what vectors are good at.
const LANES: usize = 8;

/// What the editor is shown of one moment.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Picture {
    /// What the bands hear.
    pub bands: Bands,
    /// The highest of the output since the last picture, left and right, 1 at full scale.
    pub peaks: [f32; 2],
    /// Share of the time that there is for a block of audio, 0..1.
    pub load: f32,
    /// Hz.
    pub sample_rate: f32,
}

/// The two ends of a new connection.
pub fn meters() -> (MeterInput, Meters) {
    let (input, output) = triple_buffer(&Picture::default());
    let viewers = Arc::new(AtomicUsize::new(0));
    let (dry, dry_output) = ring();
    let (wet, wet_output) = ring();
    let output =
        Arc::new(Mutex::new(Outputs { pictures: output, sound: [dry_output, wet_output] }));
    let meters = Meters { output, viewers: viewers.clone() };
    let input = MeterInput {
        input,
        sound: [dry, wet],
        viewers,
        sample_rate: 0.0,
        load: 0.0,
        peaks: [[0.0; LANES]; 2],
        period: 0,
        due: 0,
    };
    (input, meters)
}

/// A ring whose memory is there: the system would otherwise come with it when the audio thread first writes.
fn ring() -> (Producer<f32>, Consumer<f32>) {
    let (mut input, mut output) = RingBuffer::new(WAITING);
    if let Ok(silence) = input.write_chunk(WAITING) {
        silence.commit_all();
    }
    if let Ok(silence) = output.read_chunk(WAITING) {
        silence.commit_all();
    }
    (input, output)
}

/// The audio thread's end.
pub struct MeterInput {
    input: Input<Picture>,
    /// Dry and wet.
    sound: [Producer<f32>; 2],
    viewers: Arc<AtomicUsize>,
    /// Hz.
    sample_rate: f32,
    /// Share of the time that there is for a block.
    load: f32,
    /// The highest of every [`LANES`]th sample, left and right, since the last picture.
    peaks: [[f32; LANES]; 2],
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
            return process(channels);
        }
        send(&mut self.sound[0], channels);
        // One block a picture is timed: with short blocks, reading the clock for each would cost more than
        // all the rest here. It is no system call on any system that we know of.
        let begun = (self.due <= frames(channels)).then(Instant::now);
        let result = process(channels);
        if let Some(begun) = begun {
            self.note_load(begun.elapsed().as_secs_f32(), frames(channels));
        }
        send(&mut self.sound[1], channels);
        self.note_peaks(channels);
        result
    }

    /// Notes that `frames` took `seconds`.
    fn note_load(&mut self, seconds: f32, frames: usize) {
        let load = seconds * self.sample_rate / frames.max(1) as f32;
        // Blocks differ; an eye wants a mean.
        self.load += 0.05 * (load - self.load);
    }

    fn note_peaks(&mut self, channels: &[&mut [f32]]) {
        for (index, peaks) in self.peaks.iter_mut().enumerate() {
            // One channel is both left and right.
            let Some(channel) = channels.get(index).or(channels.first()) else { continue };
            let (chunks, rest) = channel.as_chunks::<LANES>();
            for chunk in chunks {
                raise(peaks, chunk);
            }
            raise(peaks, rest);
        }
    }

    /// Lets `frames` pass and sends what `bands` gives when a picture is due; true if it did.
    ///
    /// Neither waits nor allocates.
    pub fn advance(&mut self, frames: usize, bands: impl FnOnce() -> Bands) -> bool {
        if !self.is_watched() {
            return false;
        }
        self.due = self.due.saturating_sub(frames);
        if self.due > 0 {
            return false;
        }
        self.due = self.period;
        let picture = self.input.input_buffer_mut();
        picture.bands = bands();
        picture.peaks = take(&mut self.peaks).map(|peaks| peaks.into_iter().fold(0.0, f32::max));
        picture.load = self.load;
        picture.sample_rate = self.sample_rate;
        self.input.publish();
        true
    }
}

/// The length of the shortest of `channels`.
fn frames(channels: &[&mut [f32]]) -> usize {
    channels.iter().map(|channel| channel.len()).min().unwrap_or(0)
}

/// Makes each of `peaks` at least as high as its sample.
fn raise(peaks: &mut [f32; LANES], samples: &[f32]) {
    for (peak, sample) in peaks.iter_mut().zip(samples) {
        // `f32::max` would also look for NaN.
        *peak = if sample.abs() > *peak { sample.abs() } else { *peak };
    }
}

/// Puts the mean of the first and the last of `channels` into `ring`, as far as there is room.
fn send(ring: &mut Producer<f32>, channels: &[&mut [f32]]) {
    let (Some(left), Some(right)) = (channels.first(), channels.last()) else { return };
    let Ok(mut chunk) = ring.write_chunk(ring.slots().min(frames(channels))) else { return };
    let (first, second) = chunk.as_mut_slices();
    let (left, right) = (left.split_at(first.len()), right.split_at(first.len()));
    for (to, left, right) in [(first, left.0, right.0), (second, left.1, right.1)] {
        for ((to, left), right) in to.iter_mut().zip(left).zip(right) {
            *to = 0.5 * (left + right);
        }
    }
    chunk.commit_all();
}

/// What viewers take turns with.
struct Outputs {
    pictures: Output<Picture>,
    /// Dry and wet.
    sound: [Consumer<f32>; 2],
}

/// The editor's end, from which viewers are opened.
#[derive(Clone)]
pub struct Meters {
    /// Only viewers lock it, which live on the window's thread.
    output: Arc<Mutex<Outputs>>,
    viewers: Arc<AtomicUsize>,
}

impl Meters {
    /// Has pictures sent for as long as the viewer lives.
    pub fn open(&self) -> MeterViewer {
        self.viewers.fetch_add(1, Ordering::Relaxed);
        MeterViewer(self.clone())
    }
}

/// An open window's eye.
pub struct MeterViewer(Meters);

impl MeterViewer {
    /// The latest picture, if it is a new one.
    pub fn latest(&mut self) -> Option<Picture> {
        let mut output = self.0.output.lock().unwrap_or_else(PoisonError::into_inner);
        output.pictures.update().then(|| *output.pictures.output_buffer())
    }

    /// The dry and the wet samples since the last time.
    pub fn samples(&mut self) -> [Vec<f32>; 2] {
        let mut output = self.0.output.lock().unwrap_or_else(PoisonError::into_inner);
        output.sound.each_mut().map(|sound| {
            let Ok(chunk) = sound.read_chunk(sound.slots()) else { return Vec::new() };
            let (first, second) = chunk.as_slices();
            let samples = [first, second].concat();
            chunk.commit_all();
            samples
        })
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
