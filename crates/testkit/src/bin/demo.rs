//! `demo BUNDLE FOLDER`: plays the demo tune through the built plugin, in a CLAP host of our own.

use anyhow::{Context, Result};
use std::{
    env, fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};
use tone_filter_dsp::{BandMask, Setting, Settings, ToneFilter, notes::PUBLISHED};
use tone_filter_plot::Plot;
use tone_filter_testkit::{
    Signal,
    clap::{Change, Library, parameter_id},
    root,
    tune::{self, Written},
    wav,
};

/// Maximum length of a buffer in samples. The minimum is 64.
const MAX_BLOCK: usize = 512;

/// Plays the tune through the plugin, and writes audio files and a picture of the bands.
fn main() -> Result<()> {
    let mut paths = env::args_os().skip(1).map(PathBuf::from);
    let mut path = || paths.next().context("usage: demo BUNDLE FOLDER");
    let (bundle, folder) = (path()?, path()?);
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;

    let tune = root().join("assets/demo.wav");
    let (dry, rate) = wav::read(&tune)?;
    let default = Settings::default();
    let (wet, time) = play(&bundle, &dry, rate, &default)?;
    let (fully_wet, _) = play(&bundle, &dry, rate, &Settings { mix: 100.0, ..default })?;
    let (reference, _) = play(&bundle, &dry, rate, &Settings::REFERENCE)?;
    for (name, signal) in
        [("dry", &dry), ("wet", &wet), ("fully-wet", &fully_wet), ("reference", &reference)]
    {
        wav::write(&folder.join(format!("{name}.wav")), signal, rate)?;
    }
    let (accuracy, picture) = measure(&dry, rate)?;
    fs::write(folder.join("bands.png"), picture.png()).context("cannot write bands.png")?;

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
    println!("  fully-wet.wav  the notes alone: Mix 100 %");
    println!("  reference.wav  the preset Reference, the sound as it was published");
    println!("  bands.png      the bands over time: green bars are played, blue lines are not\n");
    let Accuracy { notes, detected, precision } = accuracy;
    println!(
        "Of the tune's {notes} notes from A3 up, {detected} were found (lit for half of their time at least); \
         {:.0} % of what was lit was right.\n",
        100.0 * precision
    );
    println!(
        "Use it in a DAW: run `cargo xtask install`, let the DAW scan for plugins, and insert"
    );
    println!("\"Tone Filter\" on a track.");
    Ok(())
}

/// Accuracy of the listener on the notes of the demo tune.
struct Accuracy {
    /// Number of notes in the tune's score.
    notes: usize,
    /// Number of notes whose band was on for at least half of their duration.
    detected: usize,
    /// Of the time in which bands from A3 up are on, the fraction (0..1) in which the score has the band's note or its echoes
    /// still sound.
    precision: f64,
}

/// Compares the listener's decisions on `dry` with the score, and draws the bands. The sound is the default with lookahead.
fn measure(dry: &Signal, rate: u32) -> Result<(Accuracy, Plot)> {
    /// Time in seconds for which the echoes of a note sound after its end.
    const ECHO: f64 = 0.8;
    let settings = Settings { lookahead: true, ..Settings::default() };
    let mut filter = ToneFilter::new(rate.into(), &settings)?;
    let latency = filter.latency();
    let mut signal = dry.clone();
    signal.iter_mut().for_each(|channel| channel.resize(channel.len() + latency, 0.0));
    let hop = 512;
    let mut plot = Plot::new("demo.wav", hop as f64 / f64::from(rate), &settings);
    let mut moments = Vec::new();
    let mut channels: Vec<&mut [f32]> = signal.iter_mut().map(Vec::as_mut_slice).collect();
    filter.process_with(&mut channels, |frames, filter| {
        let time = (frames as f64 - latency as f64) / f64::from(rate);
        moments.push((time, filter.snapshot().played.unwrap_or(BandMask::NONE)));
        if time >= 0.0 && frames % hop == 0 {
            plot.push(&filter.bands());
        }
    });

    let score = tune::score();
    let is_detected = |note: &&Written| {
        let [start, end] = note.seconds;
        let during = moments.iter().filter(|(time, _)| (start..end).contains(time));
        let lit: Vec<bool> = during.map(|(_, played)| played.contains(note.tone)).collect();
        2 * lit.iter().filter(|lit| **lit).count() >= lit.len()
    };
    let detected = score.iter().filter(is_detected).count();
    let (mut lit, mut correct) = (0, 0);
    for (time, played) in &moments {
        for tone in (0..PUBLISHED).filter(|tone| played.contains(*tone)) {
            let sounds = |[start, end]: [f64; 2]| (start..end + ECHO).contains(time);
            lit += 1;
            correct +=
                usize::from(score.iter().any(|note| note.tone == tone && sounds(note.seconds)));
        }
    }
    let precision = f64::from(correct as u32) / f64::from(lit);
    Ok((Accuracy { notes: score.len(), detected, precision }, plot))
}

/// Plays `dry` through the plugin, and then its tail. Returns the plugin's output and the processing time.
fn play(bundle: &Path, dry: &Signal, rate: u32, settings: &Settings) -> Result<(Signal, Duration)> {
    let mut instance = Library::load(bundle)?.instance()?;
    for setting in Setting::all().filter(|setting| !matches!(setting, Setting::Text(_))) {
        let (parameter, text) = (parameter_id(setting.id()), setting.text(&(*settings).into()));
        let value = instance.text_to_value(parameter, &text)?;
        let value = value.with_context(|| format!("{}: {text}", setting.id()))?;
        instance.set(&[Change { frame: 0, parameter, value }])?;
    }
    instance.select(dry.len())?;
    let mut processor = instance.activate(rate.into(), MAX_BLOCK)?;
    // All buffer lengths from 64 to `MAX_BLOCK`, in a mixed order.
    let mut blocks = (0..).map(|index| 64 + index * 197 % (MAX_BLOCK - 63));

    // As in hosts, audio is processed on a separate thread.
    let played = std::thread::scope(|scope| {
        let audio = scope.spawn(|| -> Result<_> {
            let mut wet = dry.clone();
            let started = Instant::now();
            processor.run(&mut wet, true, &mut blocks, &[])?;
            // Asked after the processing: before, the plugin does not know its tail.
            let tail = processor.tail()?.context("the tail never ends")?;
            let mut end = vec![vec![0.0; tail as usize]; wet.len()];
            processor.run(&mut end, true, &mut blocks, &[])?;
            let time = started.elapsed();
            wet.iter_mut().zip(end).for_each(|(channel, end)| channel.extend(end));
            Ok((wet, time))
        });
        audio.join().expect("the audio thread does not panic")
    })?;
    Ok(played)
}
