//! One bank: a signal in, the wet signal out, for a block at a time.

use super::{
    bands::{Band, Bands},
    glide::Moment,
    kernel::{Coefficients, Kernel, Shared, State, Task},
    notes::{TONES, frequency},
    reference::Constants,
    resonator::Design,
    settings::Settings,
    tracker::Tracker,
};

/// The loudest input a bank is given, 18 dB over full scale. Music never comes near; it bounds how long
/// a fault in the input is remembered.
const LOUDEST: f32 = 8.0;

/// What the settings mean for a bank, at one sample rate.
#[derive(Debug, Clone)]
pub(super) struct Voicing {
    sample_rate: f64,
    pub constants: Constants,
    coefficients: Coefficients,
    /// The angle of each tone's poles, for the meters.
    angles: [f32; TONES],
    /// What a tone's `lo` and `bp` weigh in its oscillation a quarter of a period ago.
    quadratures: [[f32; 2]; TONES],
    ring: f32,
    tuning: f32,
    transpose: f32,
}

impl Voicing {
    pub fn new(moment: &Moment, sample_rate: f64) -> Self {
        let mut voicing = Self {
            sample_rate,
            constants: Constants::new(&moment.settings, sample_rate),
            coefficients: Coefficients::ZERO,
            angles: [0.0; TONES],
            quadratures: [[0.0; 2]; TONES],
            ring: f32::NAN,
            tuning: f32::NAN,
            transpose: f32::NAN,
        };
        voicing.update(moment);
        voicing
    }

    /// Follows the settings; the resonators are designed anew only if they changed.
    pub fn update(&mut self, moment: &Moment) {
        let settings = &moment.settings;
        self.constants = Constants::new(settings, self.sample_rate);
        self.coefficients.step = self.constants.band_step as f32;
        self.coefficients.drive = self.constants.drive as f32;
        self.coefficients.threshold = self.constants.threshold as f32;
        self.coefficients.ceiling = self.constants.ceiling as f32;
        self.coefficients.floor = self.constants.floor as f32;
        self.coefficients.weight.0 = moment.weights;

        let &Settings { ring, tuning, transpose, .. } = settings;
        if [ring, tuning, transpose] == [self.ring, self.tuning, self.transpose] {
            return;
        }
        (self.ring, self.tuning, self.transpose) = (ring, tuning, transpose);
        for tone in 0..TONES {
            let f = frequency(tone, f64::from(tuning), f64::from(transpose));
            let design = Design::new(f, f64::from(ring), self.sample_rate);
            let resonator = design.two_integrator_loop();
            self.coefficients.set_loop(tone, resonator);
            let (angle, fall) = (design.angle, f64::from(resonator.fall));
            self.angles[tone] = angle as f32;
            self.quadratures[tone] = [fall / angle.sin(), (angle / 2.0).tan()].map(|x| x as f32);
        }
    }
}

/// The memory of one bank.
#[derive(Debug, Clone)]
pub(super) struct Bank {
    state: State,
    shared: Shared,
    previous: f32,
    total_power: Tracker,
    low_pass: Tracker,
}

impl Bank {
    pub const fn new() -> Self {
        Self {
            state: State::ZERO,
            shared: Shared::ZERO,
            previous: 0.0,
            total_power: Tracker::ZERO,
            low_pass: Tracker::ZERO,
        }
    }

    /// Puts the wet signal of `input`, at most [`BLOCK`] finite samples, into `wet`, which is as long.
    pub fn process(&mut self, kernel: Kernel, voicing: &Voicing, input: &[f32], wet: &mut [f32]) {
        let total_power = self.share(input);
        Tracker::track(voicing.constants.total_step, [total_power]);
        self.run(kernel, voicing, wet);
        Tracker::track(1.0 - voicing.constants.smoothing, [(&mut self.low_pass, &mut *wet)]);
        clip(wet);
    }

    /// [`Bank::process`] for two banks, whose signals are equally long.
    pub fn process_two(
        [one, other]: &mut [Self; 2],
        kernel: Kernel,
        voicing: &Voicing,
        inputs: [&[f32]; 2],
        [left, right]: [&mut [f32]; 2],
    ) {
        let total_powers = [one.share(inputs[0]), other.share(inputs[1])];
        Tracker::track(voicing.constants.total_step, total_powers);
        one.run(kernel, voicing, left);
        other.run(kernel, voicing, right);
        Tracker::track(
            1.0 - voicing.constants.smoothing,
            [(&mut one.low_pass, &mut *left), (&mut other.low_pass, &mut *right)],
        );
        clip(left);
        clip(right);
    }

    /// What all bands share: the sum of each sample and the one before it, and the power of each sample,
    /// which is returned with what makes an average of it.
    fn share(&mut self, samples: &[f32]) -> (&mut Tracker, &mut [f32]) {
        let Shared { input, total_power } = &mut self.shared;
        let mut before = self.previous;
        for ((sample, input), power) in samples.iter().zip(input).zip(&mut *total_power) {
            let x = sample.clamp(-LOUDEST, LOUDEST);
            *power = x * x;
            *input = before + x;
            before = x;
        }
        self.previous = before;
        (&mut self.total_power, &mut total_power[..samples.len()])
    }

    /// Replaces `sums` by the sums of the driven bands.
    fn run(&mut self, kernel: Kernel, voicing: &Voicing, sums: &mut [f32]) {
        let task = Task { state: &mut self.state, shared: &self.shared, sums };
        kernel.process(&voicing.coefficients, task);
    }

    /// What the bank hears now.
    pub fn bands(&self, voicing: &Voicing) -> Bands {
        let c = &voicing.constants;
        let total_power = self.total_power.now();
        let gate = (c.threshold * total_power).max(c.floor) as f32;
        let ceiling = (c.ceiling * total_power) as f32;
        let total_power = total_power as f32;
        let bands = std::array::from_fn(|tone| {
            let phasor = self.phasor(voicing, tone);
            Band {
                angular_frequency: voicing.angles[tone] * voicing.sample_rate as f32,
                drive: voicing.coefficients.drive,
                ..Band::new(phasor, self.state.power.0[tone], total_power, gate, ceiling)
            }
        });
        Bands { bands, total_power }
    }

    /// The tone's oscillation now and a quarter of a period ago, from the two integrators: when
    /// `bp = A cos(p)`, the loop holds `lo = A (2 sin(w/2) / fall) sin(p - w/2)`, so
    /// `A sin(p) = lo fall / sin(w) + bp tan(w/2)`.
    fn phasor(&self, voicing: &Voicing, tone: usize) -> [f32; 2] {
        let (lo, bp) = (self.state.lo.0[tone], self.state.bp.0[tone]);
        let [of_lo, of_bp] = voicing.quadratures[tone];
        [bp, lo * of_lo + bp * of_bp]
    }
}

/// The second soft clip: `2 x / (1 + |2 x|)`.
fn clip(signal: &mut [f32]) {
    for sample in signal {
        let doubled = 2.0 * *sample;
        *sample = doubled / (1.0 + doubled.abs());
    }
}
