//! Bands and notes of a file over time.

use crate::{
    error::{Error, Fault},
    level::Level,
    score::{KeyPlayer, MidiFile},
    silence_reasons::{Cause, Unheard},
    source::{Input, Source},
};
use tone_filter_dsp::{Bands, Kernel, Settings, ToneFilter};

/// Result of [`analyse`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Analysed {
    /// Length of the file in seconds.
    pub seconds: f64,
    /// Number of samples, over all channels, that are NaN or infinite and count as silence.
    pub not_finite: u64,
    /// Reason why no note sounds, or a warning that left and right cancel; `None` if neither applies.
    pub unheard: Option<Cause>,
}

/// Filters `input` with `settings` on `kernel`, and plays `keys`. Notes are detected even at a focus of 0 %.
///
/// Calls `block` after each of the filter's blocks. Calls `moment` with the bands every `hop` seconds. The hop is rounded to
/// whole samples, at least one; `moment` gets the rounded hop in seconds, too. In these bands, a band that settings or keys
/// mute is inactive, and is missing in `played`. Calls `progress` with the fraction of the work done, 0 to 1, if the length of
/// the file is known.
///
/// # Errors
/// If the file cannot be read, or `moment` fails.
pub fn analyse(
    input: &Input,
    (settings, keys): (&Settings, Option<&MidiFile>),
    kernel: Kernel,
    hop: f64,
    mut block: impl FnMut(&ToneFilter),
    mut moment: impl FnMut(f64, &Bands) -> Result<(), Error>,
    progress: impl Fn(f64),
) -> Result<Analysed, Error> {
    let mut source = Source::open(input)?;
    let format = source.format();
    let rate = f64::from(format.rate);
    let count = usize::from(format.channels);
    let filter =
        ToneFilter::new(rate, settings).map_err(|error| Fault::Filter(error).at(&input.path))?;
    let mut filter = filter.with_channels(count).with_kernel(kernel);
    filter.detect_notes(true);
    filter.reset();
    let mut player = KeyPlayer::new(keys, &filter, 0);
    let latency = filter.latency();
    // Number of frames of silence still to be appended to the input. They push the last sound out of the filter.
    let mut silence = latency;
    let mut channels = vec![Vec::new(); count];
    let (mut read, mut not_finite) = (0, 0);
    let (mut unheard, mut level) = (Unheard::default(), Level::default());
    let hop = (hop * rate).round().max(1.0) as usize;
    let mut frames = latency + hop;
    loop {
        not_finite += source.read(&mut channels, frames)?;
        let frames_read = channels[0].len();
        let added = silence.min(frames - frames_read);
        if frames_read + added == 0 {
            let unheard = unheard.cause(settings, false, &level);
            return Ok(Analysed { seconds: read as f64 / rate, not_finite, unheard });
        }
        channels.iter().for_each(|channel| level.add(channel));
        unheard.add_input(&channels);
        channels.iter_mut().for_each(|channel| channel.resize(frames_read + added, 0.0));
        silence -= added;
        read += frames_read;
        if let Some(frames) = source.frames() {
            progress(read as f64 / frames.max(read as u64) as f64);
        }
        player.process(&mut filter, &mut channels, 0..frames_read + added, |filter| {
            unheard.push(filter);
            block(filter);
        });
        let bands = filter.bands();
        unheard.observe_bands(&bands);
        moment(hop as f64 / rate, &bands)?;
        frames = hop;
    }
}
