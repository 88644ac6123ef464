//! Shared code of both examples: a simulated game, and reading and writing of sound files.

use hound::{SampleFormat, WavReader, WavSpec, WavWriter};
use std::{error::Error, path::Path};
use tone_filter_dsp::{BandState, Bands, KeyEvent, Keyboard, Keys, Settings, notes::PUBLISHED};

/// Result with an error of any type.
pub type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Stereo frames: left and right, full scale is 1.
pub type Sound = Vec<[f32; 2]>;

/// Runs an example. Its arguments are the WAV file to read, and the file to write the output of `render` to.
pub fn run(render: fn(u32, &Sound) -> Result<Sound>) -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let (Some(input), Some(output)) = (arguments.next(), arguments.next()) else {
        return Err("name a WAV file with two channels of 16 bits, and one to write".into());
    };
    render_file(render, input.as_ref(), output.as_ref())
}

/// Reads a 16-bit stereo WAV file, and writes the output of `render` as 32-bit floats.
///
/// `render` gets the sample rate in Hz and the input.
pub fn render_file(
    render: fn(u32, &Sound) -> Result<Sound>,
    input: &Path,
    output: &Path,
) -> Result<()> {
    let mut file = WavReader::open(input)?;
    let spec = file.spec();
    if (spec.channels, spec.bits_per_sample) != (2, 16) {
        return Err("the file must have two channels of 16 bits".into());
    }
    let samples = file.samples::<i16>().map(|sample| Ok(f32::from(sample?) / 32_768.0));
    let samples = samples.collect::<hound::Result<Vec<_>>>()?;
    let sound = render(spec.sample_rate, &samples.as_chunks().0.to_vec())?;
    let spec = WavSpec { bits_per_sample: 32, sample_format: SampleFormat::Float, ..spec };
    let mut file = WavWriter::create(output, spec)?;
    sound.into_iter().flatten().try_for_each(|sample| file.write_sample(sample))?;
    Ok(file.finalize()?)
}

/// Prints the bands from A3 up as characters, an octave per line: `o` for a sounding band, `#` for a band at the ceiling, `.`
/// for other bands.
pub fn print(bands: &Bands) {
    for octave in bands.bands[..PUBLISHED].chunks(12) {
        let line = octave.iter().map(|band| match band.state {
            BandState::Inactive => " .",
            BandState::Sounding => " o",
            BandState::Saturated => " #",
        });
        println!("{}", line.collect::<String>());
    }
    println!();
}

/// Buffer length in frames. The game may change the sound before each buffer.
pub const FRAMES: usize = 512;

/// Returns the game's settings and keys for the buffer number `count`.
///
/// Over the first 100 buffers, the music morphs into the effect. From buffer 300 on, only A and C pass, in every octave.
pub fn state(count: usize) -> (Settings, Keyboard) {
    let keys = if count < 300 { Keys::Off } else { Keys::HoldAny };
    let settings = Settings { morph: count.min(100) as f32, keys, ..Settings::default() };
    let mut keyboard = Keyboard::default();
    if count >= 300 {
        keyboard.play(KeyEvent::Key(69, 1.0));
        keyboard.play(KeyEvent::Key(72, 0.75));
    }
    (settings, keyboard)
}
