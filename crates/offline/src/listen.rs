//! What a filter hears in a file, moment by moment.

use super::{
    Error, Input, Source,
    score::{Player, Score},
};
use std::path::Path;
use tone_filter_dsp::{Bands, Settings, ToneFilter, kernel::Kernel};

/// Runs the file `input` through a filter on `kernel` that listens whatever the focus, while `keys` are played on it, and
/// hands out what it hears: the filter itself to `block` after each of its blocks, and its bands to `moment` every `hop`
/// seconds (at least one sample) of the file, with the time since the last one. There, bands that settings or keys keep
/// from sounding are muted and not played. Calls `progress` with the share of the work that is
/// done, 0 to 1, if the length of the file is known. Returns that length in seconds.
///
/// # Errors
/// When the file cannot be read, or `moment` fails.
pub fn listen(
    input: &Path,
    (settings, keys): (&Settings, &Score),
    kernel: Kernel,
    hop: f64,
    mut block: impl FnMut(&ToneFilter),
    mut moment: impl FnMut(f64, &Bands) -> Result<(), Error>,
    progress: impl Fn(f64),
) -> Result<f64, Error> {
    let mut source = Source::open(&Input::new(input)?)?;
    let format = source.format();
    let rate = f64::from(format.rate);
    let count = usize::from(format.channels);
    let settings = Settings { midi_out: true, ..*settings };
    let filter = ToneFilter::new(rate, &settings)
        .map_err(|source| Error::Filter { path: input.into(), source })?;
    let mut filter = filter.with_channels(count).with_kernel(kernel);
    let mut player = Player::new(keys, &filter);
    let latency = filter.latency();
    // Silence that pushes the end of the file out of the filter.
    let mut silence = latency;
    let mut channels = vec![Vec::new(); count];
    let mut read = 0;
    let hop = (hop * rate).round().max(1.0) as usize;
    let mut frames = latency + hop;
    loop {
        source.read(&mut channels, frames)?;
        let here = channels[0].len();
        let added = silence.min(frames - here);
        if here + added == 0 {
            return Ok(read as f64 / rate);
        }
        channels.iter_mut().for_each(|channel| channel.resize(here + added, 0.0));
        silence -= added;
        read += here;
        if let Some(frames) = source.frames() {
            progress(read as f64 / frames.max(read as u64) as f64);
        }
        player.process(&mut filter, &mut channels, 0..here + added, &mut block);
        moment(hop as f64 / rate, &filter.bands())?;
        frames = hop;
    }
}
