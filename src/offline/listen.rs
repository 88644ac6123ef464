//! What a filter hears in a file, moment by moment.

use super::{Error, Input, Source};
use crate::dsp::{Bands, Settings, ToneFilter};
use std::path::Path;

/// Runs the file `input` through a filter and hands its bands out every `hop` seconds (at least one sample):
/// `each` is told the time between them in seconds and what is heard at the end of each. Gives the length of the
/// file in seconds.
///
/// # Errors
/// When the file cannot be read, or `each` fails.
pub fn listen(
    input: &Path,
    settings: &Settings,
    hop: f64,
    mut each: impl FnMut(f64, &Bands) -> Result<(), Error>,
) -> Result<f64, Error> {
    let mut source = Source::open(&Input::new(input)?)?;
    let format = source.format();
    let rate = f64::from(format.rate);
    let mut filter = ToneFilter::new(rate, settings)
        .map_err(|source| Error::Filter { path: input.into(), source })?;
    let frames = (hop * rate).round().max(1.0);
    let mut channels = vec![Vec::new(); usize::from(format.channels)];
    let mut heard = 0;
    loop {
        source.read(&mut channels, frames as usize)?;
        if channels[0].is_empty() {
            return Ok(heard as f64 / rate);
        }
        heard += channels[0].len();
        filter.process(&mut channels.iter_mut().map(Vec::as_mut_slice).collect::<Vec<_>>());
        each(frames / rate, &filter.bands())?;
    }
}
