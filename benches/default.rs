//! Cost of each stage with the settings of a new instance: six notes in stereo, in blocks of 64 samples at 48 kHz.
//!
//! Filters that differ by one stage process the same signal in turns. The cost of a stage is the difference between the fastest
//! turns of two filters.

use std::{f64::consts::TAU, hint::black_box, time::Instant};
use tone_filter_dsp::{BLOCK, Scout, Settings, Stereo, ToneFilter, notes::frequency};
use tone_filter_testkit::signals::noise;

const RATE: f64 = 48_000.0;
const NOTES: [usize; 6] = [0, 7, 12, 16, 19, 28];
/// Number of blocks that a filter processes in a turn: about ten frames of the listener.
const BLOCKS: usize = 90;
const TURNS: usize = 600;

/// Returns the sound of a turn in stereo: six notes with overtones and a little noise. The right channel is quieter.
fn song() -> [Vec<f32>; 2] {
    let mut noise = noise(3);
    [1.0, 0.7].map(|gain| {
        let sample = |t: usize| {
            let note = |tone: usize| -> f64 {
                let w = TAU * frequency(tone, 440.0, 0.0) / RATE;
                (1..=4).map(|n| 0.1 / f64::from(n) * (f64::from(n) * w * t as f64).sin()).sum()
            };
            (gain * NOTES.map(note).iter().sum::<f64>() + 0.01 * noise()) as f32
        };
        (0..BLOCKS * BLOCK).map(sample).collect()
    })
}

struct Stages {
    filter: ToneFilter,
    /// Listener that decides for the filter before the measured time. `None` if the filter needs no listener, or its own
    /// listener is to be measured.
    scout: Option<Scout>,
    /// Seconds that the fastest turn took.
    fastest: f64,
}

impl Stages {
    fn new(settings: &Settings) -> Self {
        let filter = ToneFilter::new(RATE, settings).expect("the settings are in range");
        Self { filter, scout: None, fastest: f64::INFINITY }
    }

    /// Creates a filter without its own listener: a scout supplies the decisions.
    fn scouted(settings: &Settings) -> Self {
        let stages = Self::new(settings);
        Self { scout: stages.filter.scout(), ..stages }
    }

    fn turn(&mut self, song: &[Vec<f32>; 2]) {
        if let Some(scout) = &mut self.scout {
            self.filter.follow_scout(scout.listen(song));
        }
        let mut channels = song.clone();
        let [left, right] = &mut channels;
        let start = Instant::now();
        for (left, right) in left.chunks_mut(BLOCK).zip(right.chunks_mut(BLOCK)) {
            self.filter.process(&mut [left, right]);
        }
        self.fastest = self.fastest.min(start.elapsed().as_secs_f64());
        black_box(&channels);
    }
}

fn main() {
    let whole = Settings::default();
    let focused = Settings { auto: false, stereo: Stereo::Mono, ..whole };
    let mut stages = [
        Stages::new(&Settings { focus: 0.0, ..focused }),
        Stages::scouted(&focused),
        Stages::scouted(&Settings { auto: false, ..whole }),
        Stages::scouted(&whole),
        Stages::new(&whole),
    ];
    let song = song();
    for _ in 0..TURNS {
        stages.iter_mut().for_each(|stage| stage.turn(&song));
    }
    let deadline = BLOCK as f64 / RATE;
    let [bare, focused, placed, scouted, all] = stages.map(|stage| stage.fastest / BLOCKS as f64);
    let kernel = bare + placed - focused;
    println!(
        "a block of {BLOCK} samples in stereo at {RATE} Hz        ns   of the deadline   of the bank"
    );
    for (name, seconds) in [
        ("bank of 77 tones, with the mix", bare),
        ("  the notes' places in it", placed - focused),
        ("focus", focused - bare),
        ("level, K-weighting and limiter", scouted - placed),
        ("listener", all - scouted),
        ("all", all),
    ] {
        let [nanoseconds, share, of_kernel] =
            [1e9 * seconds, 100.0 * seconds / deadline, 100.0 * seconds / kernel];
        println!("{name:40} {nanoseconds:12.0} {share:15.3} % {of_kernel:11.1} %");
    }
}
