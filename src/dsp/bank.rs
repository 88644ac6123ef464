//! One bank: a signal in, the wet signal out, for a block at a time.

use super::{
    glide::Moment,
    kernel::{Coefficients, Kernel, Shared, State, Task},
    notes::{TONES, frequency},
    reference::Constants,
    resonator::Design,
    settings::Settings,
    snapshot::{Ear, Snapshot, Tones},
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
    /// For the meters.
    tones: Tones,
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
            tones: Tones::ZERO,
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
            self.tones.angular_frequency.0[tone] = (angle * self.sample_rate) as f32;
            self.tones.of_lo.0[tone] = (fall / angle.sin()) as f32;
            self.tones.of_bp.0[tone] = (angle / 2.0).tan() as f32;
        }
    }

    /// What two banks have heard with these settings, or one.
    pub fn snapshot(&self, first: &Bank, second: Option<&Bank>) -> Snapshot {
        let Coefficients { drive, threshold, ceiling, floor, .. } = self.coefficients;
        let (first, second) = (first.ear(), second.map(Bank::ear));
        let tones = self.tones.clone();
        Snapshot { first, second, tones, drive, threshold, ceiling, floor }
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
    fn ear(&self) -> Ear {
        Ear { state: self.state.clone(), total_power: self.total_power.now() as f32 }
    }
}

/// The second soft clip: `2 x / (1 + |2 x|)`.
fn clip(signal: &mut [f32]) {
    for sample in signal {
        let doubled = 2.0 * *sample;
        *sample = doubled / (1.0 + doubled.abs());
    }
}
