//! `cargo xtask demo`: the built plugin plays the demo tune in a real host.

use crate::{
    bundle,
    host::{Change, Library, parameter_id},
    root, target,
};
use anyhow::{Context, Result};
use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};
use tone_filter::{dsp::Settings, offline::plot::Plot};

/// The longest block; the shortest has 64 samples.
const MAX_BLOCK: usize = 512;

/// Sound, one vector a channel.
type Signal = Vec<Vec<f32>>;

/// Builds the plugin, plays the tune through it, and writes what there is to hear and to see.
///
/// # Errors
/// When the plugin does not build, load or play, or the results cannot be written.
pub fn demo() -> Result<()> {
    bundle::bundle_release()?;
    let bundle = bundle::clap()?;
    let folder = target()?.join("demo");
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;

    let tune = root().join("assets/demo.wav");
    let (dry, rate) = read(&tune)?;
    let (wet, time) = play(&bundle, &dry, rate, None)?;
    let (resonators, _) = play(&bundle, &dry, rate, Some("100 %"))?;
    write(&folder.join("dry.wav"), &dry, rate)?;
    write(&folder.join("wet.wav"), &wet, rate)?;
    write(&folder.join("fully-wet.wav"), &resonators, rate)?;
    let picture = Plot::of_file(&tune, &Settings::default())?.png();
    fs::write(folder.join("bands.png"), picture).context("cannot write bands.png")?;

    let seconds = wet[0].len() as f64 / f64::from(rate);
    println!(
        "\nPlayed assets/demo.wav through {} in a CLAP host,\nin blocks of 64 to {MAX_BLOCK} samples: \
         {seconds:.1} s of audio in {:.2} s, {:.0} times real time.\n",
        bundle.display(),
        time.as_secs_f64(),
        seconds / time.as_secs_f64(),
    );
    println!("Listen and look, in {}:", folder.display());
    println!("  dry.wav        the tune (all WAV files are 32-bit float)");
    println!("  wet.wav        the tune through the plugin as it comes: Mix 50 %");
    println!("  fully-wet.wav  the resonators alone: Mix 100 %");
    println!("  bands.png      the 48 bands over time\n");
    println!(
        "Use it in a DAW: run `cargo xtask install`, let the DAW scan for plugins, and insert"
    );
    println!("\"Tone Filter\" on a track.");
    Ok(())
}

/// Plays `dry` and the tail after it; the plugin's output and the time that took.
fn play(bundle: &Path, dry: &Signal, rate: u32, mix: Option<&str>) -> Result<(Signal, Duration)> {
    let library = Library::load(bundle)?;
    let descriptor = library.plugins()?.into_iter().next().context("the bundle is empty")?;
    let mut instance = library.instantiate(&descriptor.id)?;
    if let Some(text) = mix {
        let parameter = parameter_id("mix");
        let value = instance.text_to_value(parameter, text)?.context("Mix takes no percentage")?;
        instance.set(&[Change { frame: 0, parameter, value }])?;
    }
    instance.select(dry.len())?;
    let mut processor = instance.activate(rate.into(), MAX_BLOCK)?;
    // Any sequence of lengths will do that visits them all.
    let mut blocks = (0..).map(|index| 64 + index * 197 % (MAX_BLOCK - 63));

    // A host's audio runs on a thread of its own.
    let played = std::thread::scope(|scope| {
        let audio = scope.spawn(|| -> Result<_> {
            let mut wet = dry.clone();
            let started = Instant::now();
            processor.run(&mut wet, true, &mut blocks, &[])?;
            // Only a plugin that has run knows how long its tail is.
            let tail = processor.tail()?.context("the tail never ends")?;
            let mut end = vec![vec![0.0; tail as usize]; wet.len()];
            processor.run(&mut end, true, &mut blocks, &[])?;
            let time = started.elapsed();
            wet.iter_mut().zip(end).for_each(|(channel, end)| channel.extend(end));
            Ok((wet, time))
        });
        audio.join().expect("the audio thread does not panic")
    })?;
    instance.deactivate(processor);
    Ok(played)
}

/// A 16-bit WAV file, full scale 1.
fn read(path: &Path) -> Result<(Signal, u32)> {
    let read = || -> hound::Result<_> {
        let mut file = hound::WavReader::open(path)?;
        let spec = file.spec();
        let mut signal = vec![Vec::new(); spec.channels.into()];
        for (index, sample) in file.samples::<i16>().enumerate() {
            signal[index % usize::from(spec.channels)].push(f32::from(sample?) / 32_768.0);
        }
        Ok((signal, spec.sample_rate))
    };
    read().with_context(|| format!("cannot read {}", path.display()))
}

/// A WAV file of 32-bit floats: exactly what the plugin made.
fn write(path: &Path, signal: &Signal, sample_rate: u32) -> Result<()> {
    let spec = hound::WavSpec {
        channels: signal.len() as u16,
        sample_rate,
        bits_per_sample: 32,
        sample_format: hound::SampleFormat::Float,
    };
    let write = || -> hound::Result<()> {
        let mut file = hound::WavWriter::create(path, spec)?;
        for frame in 0..signal[0].len() {
            for channel in signal {
                file.write_sample(channel[frame])?;
            }
        }
        file.finalize()
    };
    write().with_context(|| format!("cannot write {}", path.display()))
}
