//! Measurements inside the listener, for tests and benchmarks.

use crate::{Listener, Model, detectors::GROUPS, features::STEP_COST, network::STEPS};
use fearless_simd::Simd;
use tone_filter_simd::{Kernel, Work};

/// Returns the cost of the work since the last reset, in multiply-adds. The network must not have changed since then.
pub fn work(listener: &Listener) -> usize {
    let network = match listener.model[0] {
        Model::Full => listener.full.total,
        Model::Light => listener.light.total,
    };
    let frames = listener.decisions().frames as usize;
    let pending = listener.pending.map_or(0, |pending| pending.done);
    frames * (GROUPS * STEP_COST + network) + pending
}

/// Returns all numbers in the states of the detectors and of the network [`Model::Full`].
pub fn states(listener: &Listener) -> impl Iterator<Item = f32> {
    let groups = listener.detectors.states.as_flattened().as_flattened();
    groups.iter().flat_map(|group| group.0).chain(listener.full.states())
}

/// Network that computes frames of silence. The time for a frame does not depend on its sound.
#[derive(Debug)]
pub struct Frames(Listener);

impl Frames {
    /// Creates a network at rest.
    pub fn new(model: Model) -> Self {
        Self(Listener::new(44_100.0, false, model))
    }

    /// Returns the number of multiply-adds in a frame's matrix products, without the GRUs' nonlinear functions.
    pub fn multiply_adds(&self) -> usize {
        let of_step = |step| match self.0.model[0] {
            Model::Full => self.0.full.multiply_adds(step),
            Model::Light => self.0.light.multiply_adds(step),
        };
        (0..STEPS).map(of_step).sum()
    }

    /// Computes a frame of silence.
    pub fn compute(&mut self, kernel: Kernel) {
        kernel.run(Compute(&mut self.0));
    }
}

struct Compute<'a>(&'a mut Listener);

impl Work for Compute<'_> {
    fn run<S: Simd>(self, simd: S) {
        let Listener { model, full, light, features, .. } = self.0;
        for step in 0..STEPS {
            match model[0] {
                Model::Full => full.step(simd, step, features),
                Model::Light => light.step(simd, step, features),
            }
        }
    }
}
