//! Engine thread, which reads, filters and fills the speakers' ring.
//!
//! Decoding, resampling and a score may allocate and wait, which a device's thread must not do. Therefore the engine fills a ring
//! of 200 ms (40 ms for a microphone), and the device's thread only takes samples from it. If the engine is late, the device's
//! thread waits for up to half of its buffer.

use super::{controls::Controls, device::Microphone};
use rtrb::Producer;
use std::{thread, time::Duration};
use tone_filter_dsp::ToneFilter;
use tone_filter_offline::{Error, options::Options, pass::Pass, score::KeyPlayer};

/// Number of frames that are read and filtered at a time. It is small, so that the keyboard takes effect quickly.
const CHUNK: usize = 256;

/// Interval at which an idle engine polls.
const NAP: Duration = Duration::from_millis(1);

/// Source that the engine plays.
pub enum Feed<'a> {
    File(Box<Pass<'a>>),
    Live(Box<Live>),
}

/// Microphone, with the filter for its signal.
pub struct Live {
    microphone: Microphone,
    filter: ToneFilter,
    player: KeyPlayer,
}

impl Feed<'_> {
    /// Creates the source for live sound: `microphone`, and a filter for its signal.
    ///
    /// # Errors
    /// If the filter cannot work at the microphone's sample rate.
    pub fn microphone(microphone: Microphone, options: &Options) -> anyhow::Result<Self> {
        let mut filter = ToneFilter::new(f64::from(microphone.rate()), &options.settings)?
            .with_channels(usize::from(microphone.channels()))
            .with_kernel(options.kernel);
        filter.set_routing(options.routing());
        filter.reset();
        let player = KeyPlayer::new(&options.keys, &filter);
        Ok(Self::Live(Box::new(Live { microphone, filter, player })))
    }

    fn filter(&mut self) -> &mut ToneFilter {
        match self {
            Self::File(pass) => pass.filter(),
            Self::Live(live) => &mut live.filter,
        }
    }

    fn channels(&self) -> usize {
        match self {
            Self::File(pass) => pass.format().channels.into(),
            Self::Live(live) => live.microphone.channels().into(),
        }
    }

    /// Replaces the content of `block` by the next filtered samples. The block may be empty before the end. Returns false at
    /// the end.
    fn next(&mut self, block: &mut [Vec<f32>]) -> Result<bool, Error> {
        match self {
            Self::File(pass) => pass.next(block, CHUNK),
            Self::Live(live) => {
                let Live { microphone, filter, player } = &mut **live;
                microphone.read(block, CHUNK);
                let frames = block[0].len();
                player.process(filter, block, 0..frames, |_| ());
                Ok(true)
            }
        }
    }
}

/// Engine that writes the filtered source to the ring.
pub struct Engine<'a> {
    feed: Feed<'a>,
    /// Ring to the device; its samples are interleaved.
    ring: Producer<f32>,
    controls: &'a Controls,
    /// Sample rate in Hz.
    rate: u32,
}

impl<'a> Engine<'a> {
    /// Creates the engine that plays `feed` into `ring` at `rate` Hz.
    pub fn new(feed: Feed<'a>, ring: Producer<f32>, rate: u32, controls: &'a Controls) -> Self {
        Self { feed, ring, controls, rate }
    }

    /// Plays until the source ends or the user quits. Returns how many samples of a file were NaN or infinite, and became
    /// silence.
    ///
    /// # Errors
    /// If the rest of a file cannot be read.
    pub fn run(mut self) -> Result<u64, Error> {
        let mut block = vec![Vec::new(); self.feed.channels()];
        let mut frames = 0;
        let mut settings = self.controls.settings();
        while !self.controls.has_quit() {
            if self.controls.paused() {
                self.controls.set_idle(true);
                thread::sleep(NAP);
                continue;
            }
            let wanted = self.controls.settings();
            // Succeeds: the settings are in range.
            if wanted != settings && self.feed.filter().set_settings(&wanted).is_ok() {
                settings = wanted;
            }
            if !self.feed.next(&mut block)? {
                break;
            }
            self.put(&block);
            frames += block[0].len();
            let seconds = frames as f64 / f64::from(self.rate);
            self.controls.advance(self.feed.filter().bands(), seconds);
            if block[0].is_empty() {
                thread::sleep(NAP);
            }
        }
        self.controls.set_idle(true);
        // Waits until the device has taken the rest of the ring.
        while self.ring.slots() < self.ring.buffer().capacity() && !self.controls.has_quit() {
            thread::sleep(NAP);
        }
        Ok(match &self.feed {
            Feed::File(pass) => pass.not_finite(),
            Feed::Live(_) => 0,
        })
    }

    /// Writes `block` to the ring, interleaved. Waits while the ring is full.
    fn put(&mut self, block: &[Vec<f32>]) {
        for frame in 0..block[0].len() {
            while self.ring.slots() < block.len() {
                if self.controls.has_quit() {
                    return;
                }
                thread::sleep(NAP);
            }
            for channel in block {
                // Cannot fail: the ring has room.
                let _ = self.ring.push(channel[frame]);
            }
            self.controls.set_idle(false);
        }
    }
}
