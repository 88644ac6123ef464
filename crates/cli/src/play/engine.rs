//! Engine thread, which reads, filters and fills the speakers' ring.
//!
//! Decoding, resampling and a score may allocate and wait, which a device's thread must not do. Therefore the engine fills a
//! ring of 200 ms (40 ms for a microphone), and the device's thread only takes samples from it. If the engine is late, the
//! device's thread waits, at most for half the duration of the device's buffer.

use super::{controls::Controls, device::Microphone};
use rtrb::Producer;
use std::{sync::atomic::Ordering::Relaxed, thread, time::Duration};
use tone_filter_dsp::ToneFilter;
use tone_filter_offline::{Error, options::Options, pass::Pass, score::KeyPlayer};

/// Maximum number of frames that are read and filtered at a time. It is small, so that the keyboard takes effect quickly.
const CHUNK: usize = 256;

/// Interval at which the engine polls while it waits.
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
        let mut filter = ToneFilter::new(f64::from(microphone.rate), &options.settings)?
            .with_channels(usize::from(microphone.channels))
            .with_kernel(options.kernel);
        filter.set_routing(options.routing());
        filter.reset();
        let player = KeyPlayer::new(options.keys.as_deref(), &filter, 0);
        Ok(Self::Live(Box::new(Live { microphone, filter, player })))
    }

    fn filter(&mut self) -> &mut ToneFilter {
        match self {
            Self::File(pass) => &mut pass.filter,
            Self::Live(live) => &mut live.filter,
        }
    }

    fn channels(&self) -> usize {
        match self {
            Self::File(pass) => pass.format().channels.into(),
            Self::Live(live) => live.microphone.channels.into(),
        }
    }

    /// Drops what a microphone has recorded while nobody played it; it would stay late for ever.
    fn catch_up(&mut self) {
        if let Self::Live(live) = self {
            live.microphone.clear();
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

/// Plays `feed` into `ring` until the source ends or the user quits; the device reads the ring at `rate` Hz. Then waits
/// until the ring is empty or the user quits. Returns how many samples of a file were NaN or infinite, and became silence.
///
/// # Errors
/// If the rest of a file cannot be read.
pub fn play(
    mut feed: Feed,
    mut ring: Producer<f32>,
    rate: u32,
    controls: &Controls,
) -> Result<u64, Error> {
    let mut block = vec![Vec::new(); feed.channels()];
    let mut frames = 0;
    let mut settings = controls.state().settings;
    feed.catch_up();
    while !controls.quit.load(Relaxed) {
        if controls.paused.load(Relaxed) {
            controls.idle.store(true, Relaxed);
            feed.catch_up();
            thread::sleep(NAP);
            continue;
        }
        let wanted = controls.state().settings;
        // Succeeds: the settings are in range.
        if wanted != settings && feed.filter().set_settings(&wanted).is_ok() {
            settings = wanted;
        }
        if !feed.next(&mut block)? {
            break;
        }
        put(&block, &mut ring, controls);
        frames += block[0].len();
        let bands = feed.filter().bands();
        let mut state = controls.state();
        (state.bands, state.seconds) = (bands, frames as f64 / f64::from(rate));
        drop(state);
        if block[0].is_empty() {
            thread::sleep(NAP);
        }
    }
    controls.idle.store(true, Relaxed);
    // Waits until the device has taken the rest of the ring.
    while ring.slots() < ring.buffer().capacity() && !controls.quit.load(Relaxed) {
        thread::sleep(NAP);
    }
    Ok(match &feed {
        Feed::File(pass) => pass.not_finite,
        Feed::Live(_) => 0,
    })
}

/// Writes `block` to `ring`, interleaved. Waits while the ring is full; stops if the user quits.
fn put(block: &[Vec<f32>], ring: &mut Producer<f32>, controls: &Controls) {
    for frame in 0..block[0].len() {
        while ring.slots() < block.len() {
            if controls.quit.load(Relaxed) {
                return;
            }
            thread::sleep(NAP);
        }
        for channel in block {
            // Cannot fail: the ring has room.
            let _ = ring.push(channel[frame]);
        }
        controls.idle.store(false, Relaxed);
    }
}
