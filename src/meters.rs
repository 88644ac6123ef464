//! Pictures of the bands on their way from the audio thread to the editor.
//!
//! A triple buffer hands the latest one over: neither side ever waits for the other. While nobody
//! looks, nothing is sent.

use crate::dsp::Bands;
use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicUsize, Ordering},
};
use triple_buffer::{Input, Output, triple_buffer};

/// Pictures a second: a little more than most displays show, so that none is shown twice.
const RATE: f64 = 90.0;

/// The two ends of a new connection.
pub fn meters() -> (MeterInput, Meters) {
    let (input, output) = triple_buffer(&Bands::default());
    let viewers = Arc::new(AtomicUsize::new(0));
    let meters = Meters { output: Arc::new(Mutex::new(output)), viewers: viewers.clone() };
    (MeterInput { input, viewers, period: 0, due: 0 }, meters)
}

/// The audio thread's end.
pub struct MeterInput {
    input: Input<Bands>,
    viewers: Arc<AtomicUsize>,
    /// Frames between two pictures.
    period: usize,
    /// Frames until the next one.
    due: usize,
}

impl MeterInput {
    /// Tells how many frames a second [`MeterInput::advance`] will see.
    pub fn set_sample_rate(&mut self, sample_rate: f64) {
        self.period = (sample_rate / RATE) as usize;
    }

    /// Lets `frames` pass and sends what `bands` gives when a picture is due; true if it did.
    ///
    /// Neither waits nor allocates.
    pub fn advance(&mut self, frames: usize, bands: impl FnOnce() -> Bands) -> bool {
        if self.viewers.load(Ordering::Relaxed) == 0 {
            return false;
        }
        self.due = self.due.saturating_sub(frames);
        if self.due > 0 {
            return false;
        }
        self.due = self.period;
        self.input.write(bands());
        true
    }
}

/// The editor's end, from which viewers are opened.
#[derive(Clone)]
pub struct Meters {
    /// Only viewers lock it, which live on the window's thread.
    output: Arc<Mutex<Output<Bands>>>,
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
    pub fn latest(&mut self) -> Option<Bands> {
        let mut output = self.0.output.lock().unwrap_or_else(PoisonError::into_inner);
        output.update().then(|| *output.output_buffer())
    }
}

impl Drop for MeterViewer {
    fn drop(&mut self) {
        self.0.viewers.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dsp::Band;

    /// A picture in which every number tells which one it is.
    fn picture(number: u32) -> Bands {
        let value = number as f32;
        let band = Band {
            power: value,
            ratio: value,
            angular_frequency: value,
            phasor: [value; 2],
            drive: value,
            ..Band::default()
        };
        Bands { bands: [band; 48], total_power: value }
    }

    fn open() -> (MeterInput, Meters, MeterViewer) {
        let (mut input, meters) = meters();
        input.set_sample_rate(48_000.0);
        let viewer = meters.open();
        (input, meters, viewer)
    }

    #[test]
    fn nothing_is_sent_unless_somebody_looks() {
        let (mut input, meters, viewer) = open();
        drop(viewer);
        assert!(!input.advance(1 << 20, || panic!("nobody looks")));

        let mut viewer = meters.open();
        drop(meters.open());
        assert!(input.advance(1 << 20, || picture(1)), "one of two viewers is still open");
        assert_eq!(viewer.latest(), Some(picture(1)));
    }

    #[test]
    fn a_picture_is_seen_once() {
        let (mut input, _meters, mut viewer) = open();
        assert_eq!(viewer.latest(), None);
        input.advance(1 << 20, || picture(1));
        input.advance(1 << 20, || picture(2));
        assert_eq!(viewer.latest(), Some(picture(2)));
        assert_eq!(viewer.latest(), None);
    }

    #[test]
    fn pictures_are_sent_at_the_rate_and_no_faster() {
        for frames in [1, 64, 100, 533, 534] {
            let (mut input, _meters, _viewer) = open();
            let sent = (0..10 * 48_000 / frames)
                .filter(|_| input.advance(frames, || picture(0)))
                .count() as f64;
            let blocks = ((48_000.0 / RATE).floor() / frames as f64).ceil();
            let expected = 10.0 * 48_000.0 / (blocks * frames as f64);
            assert!((sent - expected).abs() <= 0.01 * expected, "{frames}: {sent} of {expected}");
        }
    }

    #[test]
    fn a_picture_is_never_torn_and_never_older_than_the_last() {
        const LAST: u32 = 200_000;
        let (mut input, _meters, mut viewer) = open();
        let writer = std::thread::spawn(move || {
            for number in 1..=LAST {
                assert!(input.advance(1 << 20, || picture(number)));
            }
        });
        let (mut last, mut seen) = (0.0, 0);
        while last < LAST as f32 {
            if let Some(bands) = viewer.latest() {
                assert_eq!(bands, picture(bands.total_power as u32), "torn");
                assert!(bands.total_power > last, "{} after {last}", bands.total_power);
                last = bands.total_power;
                seen += 1;
            }
        }
        writer.join().unwrap();
        assert!(seen > 1, "the two threads never met");
    }
}
