//! Band-limited waveforms: for each one, a row of tables with increasing numbers of harmonics.
//!
//! A note reads the table with the most harmonics that stay below half the sample rate. Tables do not depend on
//! the rate, so all filters of a process share them.

use super::fourier::Fourier;
use crate::settings::Voice;
use std::{
    f64::consts::{PI, SQRT_2, TAU},
    sync::LazyLock,
};

/// Bound of the number of harmonics. The largest table below it has 343: all harmonics of A3 up to 75 kHz.
const MOST_HARMONICS: usize = 400;

/// Maximum ratio between the numbers of harmonics of neighbouring tables; small numbers grow by 1 instead. A note up to half a
/// semitone sharp then keeps its harmonics below half the sample rate, and one up to half a semitone flat has all harmonics up
/// to 0.4 times the rate.
const GROWTH: f64 = 1.19;
/// Minimum number of samples for each harmonic, with which the errors of linear interpolation are at -90 dB.
const SAMPLES_PER_HARMONIC: usize = 48;
/// Minimum number of samples in a table.
const LEAST_SAMPLES: usize = 2048;
/// Number of tabulated driven sines, at equal ratios of the drive from 1 to [`MOST_DRIVE`].
pub const SHAPES: usize = 7;
const MOST_DRIVE: f64 = 400.0;
/// Number of samples from which the series of a driven sine is computed: so many that aliases are at -100 dB.
const SERIES_LENGTH: usize = 1 << 16;
/// RMS of the steps of the chip's triangle, 0..15, without their mean.
pub const STEPS_RMS: f64 = 4.609_772_228_646_444;
/// Number of bits for the difference between a sample and the next one.
const DIFFERENCE_BITS: u32 = 15;
/// Number of samples that are read together.
pub const CHUNK: usize = 16;

/// One period of a waveform.
#[derive(Debug)]
pub struct Table {
    /// Binary logarithm of the number of samples.
    bits: u32,
    /// Samples, each with the difference to the next one in its lowest [`DIFFERENCE_BITS`] bits. One access for both makes
    /// reading twice as fast.
    samples: Vec<u32>,
    /// Amplitude of a sample of 1.
    pub unit: f32,
}

impl Table {
    /// Creates a table of one period. The number of `samples` must be a power of two.
    fn new(samples: &[f64]) -> Self {
        let peak = samples.iter().fold(f64::MIN_POSITIVE, |peak, sample| peak.max(sample.abs()));
        let unit = peak / f64::from((1 << 16) - 1);
        let rounded: Vec<i32> =
            samples.iter().map(|sample| (sample / unit).round() as i32).collect();
        let next = rounded.iter().cycle().skip(1);
        let pair = |(&sample, &next): (&i32, &i32)| {
            let difference = next - sample;
            // No waveform rises by more than a twelfth of its height within a sample.
            debug_assert!(difference.unsigned_abs() < 1 << 14, "{difference}");
            (sample << DIFFERENCE_BITS | difference & ((1 << DIFFERENCE_BITS) - 1)) as u32
        };
        let samples = rounded.iter().zip(next).map(pair).collect();
        Self { bits: rounded.len().trailing_zeros(), samples, unit: unit as f32 }
    }

    /// Returns the samples at `phases`, where 2^32 is a period, in units of [`Self::unit`].
    #[inline(always)]
    pub fn read(&self, phases: &[u32; CHUNK]) -> [f32; CHUNK] {
        let pairs = phases.map(|phase| {
            let index = (phase >> (32 - self.bits)) as usize;
            // SAFETY: the index has `bits` bits, and `Table::new` makes 2^bits samples.
            unsafe { *self.samples.get_unchecked(index) }
        });
        std::array::from_fn(|frame| {
            let share = ((phases[frame] << self.bits) >> 8) as i32 as f32 * (1.0 / 16_777_216.0);
            let pair = pairs[frame] as i32;
            let (sample, difference) =
                (pair >> DIFFERENCE_BITS, pair << (32 - DIFFERENCE_BITS) >> (32 - DIFFERENCE_BITS));
            sample as f32 + share * difference as f32
        })
    }
}

#[derive(Debug)]
pub struct Waveforms {
    /// Number of harmonics of each table in a row.
    levels: Vec<usize>,
    /// A row for each of [`Voice::WAVEFORMS`], and one for the triangle of [`Voice::Chip`].
    rows: Vec<Vec<Table>>,
    /// RMS of each waveform in `rows`, with all its harmonics.
    pub rms: f64,
    /// A row for each driven sine; see [`SHAPES`].
    driven: Vec<Vec<Table>>,
    driven_rms: Vec<f64>,
}

impl Waveforms {
    /// Returns the tables that all filters share. The first call computes them, in some 0.1 s.
    pub fn shared() -> &'static Self {
        static WAVEFORMS: LazyLock<Waveforms> = LazyLock::new(Waveforms::new);
        &WAVEFORMS
    }

    fn new() -> Self {
        let levels: Vec<usize> = std::iter::successors(Some(1), |&harmonics| {
            Some(((GROWTH * harmonics as f64) as usize).max(harmonics + 1))
        })
        .take_while(|&harmonics| harmonics <= MOST_HARMONICS)
        .collect();
        let rms = soft_rms();
        let fourier = Fourier::new(SERIES_LENGTH);
        let row = |harmonic: &dyn Fn(usize) -> [f64; 2]| {
            levels.iter().map(|&harmonics| table(&fourier, harmonic, harmonics)).collect()
        };
        let of_voice = |voice| row(&|n| harmonic(voice, n).map(|share| share * rms));
        let rows = Voice::WAVEFORMS.into_iter().chain([Voice::Chip]).map(of_voice).collect();
        let series = driven_series(&fourier);
        let driven = series.iter().map(|series| row(&|n| [series[n - 1], 0.0])).collect();
        let mean_square = |series: &Vec<f64>| series.iter().map(|x| 0.5 * x * x).sum::<f64>();
        let driven_rms = series.iter().map(|series| mean_square(series).sqrt()).collect();
        Self { levels, rows, rms, driven, driven_rms }
    }

    /// Returns the tables of a driven sine, and its RMS.
    pub fn driven(&self, shape: usize) -> (&[Table], f64) {
        (&self.driven[shape], self.driven_rms[shape])
    }

    /// Returns the index of the table for `frequency` in Hz; `None` if it is too high.
    pub fn level(&self, frequency: f64, sample_rate: f64) -> Option<u8> {
        let most = most_harmonics(frequency, sample_rate);
        self.levels.iter().rposition(|&harmonics| harmonics as f64 <= most).map(|level| level as u8)
    }

    /// Returns the tables of `voice`, one of [`Voice::WAVEFORMS`] or [`Voice::Chip`].
    pub fn row(&self, voice: Voice) -> &[Table] {
        let waveforms = &Voice::WAVEFORMS;
        let row = waveforms.iter().position(|own| *own == voice).unwrap_or(waveforms.len());
        &self.rows[row]
    }
}

/// Computes the table of the first `harmonics` harmonics. `harmonic` returns the cosine and sine amplitudes of the nth one.
fn table(fourier: &Fourier, harmonic: &dyn Fn(usize) -> [f64; 2], harmonics: usize) -> Table {
    let length = (SAMPLES_PER_HARMONIC * harmonics).max(LEAST_SAMPLES).next_power_of_two();
    let series = (1..=harmonics).map(|n| {
        // Compensates for linear interpolation, which is a low-pass.
        let angle = PI * n as f64 / length as f64;
        let lost = (libm::sin(angle) / angle).powi(2);
        harmonic(n).map(|share| share / lost)
    });
    Table::new(&period(fourier, series, length))
}

/// Returns a period of `length` samples, a power of two, from the cosine and sine amplitudes of each harmonic.
fn period(fourier: &Fourier, series: impl Iterator<Item = [f64; 2]>, length: usize) -> Vec<f64> {
    let conjugates = series.map(|[cosine, sine]| [cosine, -sine]);
    let series: Vec<_> = std::iter::once([0.0; 2]).chain(conjugates).collect();
    fourier.transform(&series, length)
}

/// Returns the number of harmonics below half the sample rate if a note is half a semitone sharp.
fn most_harmonics(frequency: f64, sample_rate: f64) -> f64 {
    sample_rate / (2.0 * frequency * libm::exp2(0.5 / 12.0))
}

/// Returns the amplitudes of cosine and sine of harmonic `n` of `voice`. The waveform has a mean square of 1 and a cosine as its
/// fundamental. The soft voices get 0: they have [`driven_series`].
///
/// The Fourier series are the textbook's: `4/(pi n) sin(pi n D)` for a pulse that is 1 for a fraction `D` of its period and
/// otherwise -1, `8/(pi n)^2` for the odd harmonics of a triangle, `2/(pi n)` for a saw. The chip's triangle goes from 15 to 0
/// and back in 32 steps: `2/(pi n) cot(pi n / 32)` for odd `n`, with a mean square of 85/4.
pub fn harmonic(voice: Voice, n: usize) -> [f64; 2] {
    let angle = PI * n as f64;
    let pulse = |duty: f64| {
        [4.0 / angle * libm::sin(angle * duty) / (2.0 * (duty * (1.0 - duty)).sqrt()), 0.0]
    };
    let (sine, cosine) = libm::sincos(angle / 2.0);
    match voice {
        Voice::Soft | Voice::SoftClean => [0.0; 2],
        Voice::Sine => [if n == 1 { 2f64.sqrt() } else { 0.0 }, 0.0],
        Voice::Square => pulse(0.5),
        Voice::Pulse25 => pulse(0.25),
        Voice::Pulse12 => pulse(0.125),
        Voice::Triangle if n.is_multiple_of(2) => [0.0; 2],
        Voice::Triangle => [8.0 * 3f64.sqrt() / (angle * angle), 0.0],
        Voice::Chip if n.is_multiple_of(2) => [0.0; 2],
        Voice::Chip => [2.0 / (angle * libm::tan(angle / 32.0)) / STEPS_RMS, 0.0],
        Voice::Saw => [sine, cosine].map(|part| 2.0 * 3f64.sqrt() / angle * part),
    }
}

/// Returns the position of `drive` among the tables of driven sines, 0 to [`SHAPES`] - 1.
pub fn drive_position(drive: f32) -> f32 {
    (SHAPES - 1) as f32 * libm::logf(drive) / libm::log(MOST_DRIVE) as f32
}

/// Returns the weight of the table `shape` for a drive at `position`; tables are interpolated linearly.
pub fn shape_weight(shape: usize, position: f32) -> f32 {
    (1.0 - (position - shape as f32).abs()).max(0.0)
}

/// Returns the amplitudes of the harmonics of each shape, the first harmonic first. A shape is `g cos t / (1 + |g cos t|)` with
/// `g = sqrt 2 drive`, the soft clip of a sine of RMS 1.
fn driven_series(fourier: &Fourier) -> [Vec<f64>; SHAPES] {
    let cosine = |t| libm::cos(TAU * t as f64 / SERIES_LENGTH as f64);
    let cosines: Vec<f64> = (0..SERIES_LENGTH).map(cosine).collect();
    std::array::from_fn(|shape| {
        let drive = libm::pow(MOST_DRIVE, shape as f64 / (SHAPES - 1) as f64);
        let clip = |cosine: &f64| {
            let driven = SQRT_2 * drive * cosine;
            [driven / (1.0 + driven.abs()), 0.0]
        };
        let clipped: Vec<_> = cosines.iter().map(clip).collect();
        let sums = fourier.transform(&clipped, SERIES_LENGTH);
        sums[1..=MOST_HARMONICS].iter().map(|sum| 2.0 / SERIES_LENGTH as f64 * sum).collect()
    })
}

impl Voice {
    /// Returns a point of the waveform for drawing: from -1 to 1, with all edges sharp. `turns` is the phase in periods.
    pub fn shape(self, turns: f32) -> f32 {
        let from_peak = (turns - turns.round()).abs();
        let pulse = |duty: f32| if from_peak < duty / 2.0 { 1.0 } else { -1.0 };
        let cosine = libm::cosf(std::f32::consts::TAU * turns);
        match self {
            Self::Soft | Self::SoftClean => 4.0 * cosine / (1.0 + 4.0 * cosine.abs()),
            Self::Sine => cosine,
            Self::Square => pulse(0.5),
            Self::Pulse25 => pulse(0.25),
            Self::Pulse12 => pulse(0.125),
            Self::Triangle => 1.0 - 4.0 * from_peak,
            Self::Saw => 1.0 - 2.0 * (turns + 0.25).rem_euclid(1.0),
            Self::Chip => 1.0 - (32.0 * from_peak).floor().min(15.0) / 7.5,
        }
    }
}

/// Returns the RMS of the soft clip at a drive of 40, for a sine of RMS 1. All waveforms have this RMS, so that a change of the
/// voice changes the colour, not the loudness.
fn soft_rms() -> f64 {
    let steps = 4096;
    let square = |step| {
        let driven = 40.0 * 2f64.sqrt() * libm::cos(PI * (step as f64 + 0.5) / steps as f64);
        (driven / (1.0 + driven.abs())).powi(2)
    };
    ((0..steps).map(square).sum::<f64>() / steps as f64).sqrt()
}
