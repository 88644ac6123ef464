//! The bands and the notes of a file over time.

use super::{
    Error, Input, Level, Source,
    score::{Player, Score},
    unheard::{Cause, Unheard},
};
use tone_filter_dsp::{Bands, Kernel, Settings, ToneFilter};

/// Result of [`analyse`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Analysed {
    /// The length of the file.
    pub seconds: f64,
    /// Samples of all channels that are NaN or infinite, and count as silence.
    pub not_finite: u64,
    /// Why no note sounds, if none does.
    pub unheard: Option<Cause>,
}

/// Runs `input` through a filter on `kernel` that detects notes at any focus, while the score `keys` is played
/// on it. `block` gets the filter after each of its blocks; `moment` gets the time since the last moment in seconds and
/// the bands, every `hop` seconds (at least one sample) of the file. Bands that settings or keys keep from sounding are
/// muted and not played there. `progress` gets the share of the work that is done, 0 to 1, if the length of the file is
/// known.
///
/// # Errors
/// When the file cannot be read, or `moment` fails.
pub fn analyse(
    input: &Input,
    (settings, keys): (&Settings, &Score),
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
    let filter = ToneFilter::new(rate, settings)
        .map_err(|source| Error::Filter { path: input.path().into(), source })?;
    let mut filter = filter.with_channels(count).with_kernel(kernel);
    filter.detect_notes(true);
    filter.reset();
    let mut player = Player::new(keys, &filter);
    let latency = filter.latency();
    // Silence that pushes the end of the file out of the filter.
    let mut silence = latency;
    let mut channels = vec![Vec::new(); count];
    let (mut read, mut not_finite) = (0, 0);
    let (mut unheard, mut level) = (Unheard::default(), Level::default());
    let hop = (hop * rate).round().max(1.0) as usize;
    let mut frames = latency + hop;
    loop {
        not_finite += source.read(&mut channels, frames)?;
        let here = channels[0].len();
        let added = silence.min(frames - here);
        if here + added == 0 {
            let unheard = unheard.cause(settings, false, &level);
            return Ok(Analysed { seconds: read as f64 / rate, not_finite, unheard });
        }
        channels.iter().for_each(|channel| level.add(channel));
        channels.iter_mut().for_each(|channel| channel.resize(here + added, 0.0));
        silence -= added;
        read += here;
        if let Some(frames) = source.frames() {
            progress(read as f64 / frames.max(read as u64) as f64);
        }
        player.process(&mut filter, &mut channels, 0..here + added, |filter| {
            unheard.push(filter);
            block(filter);
        });
        let bands = filter.bands();
        unheard.look(&bands);
        moment(hop as f64 / rate, &bands)?;
        frames = hop;
    }
}
