//! Networks without the rest of the listener, for benchmarks.

use crate::{
    Model,
    features::Features,
    network::{Network, STEPS},
    weights::{FULL, LIGHT},
};
use fearless_simd::Simd;
use tone_filter_simd::{Kernel, Work};

/// Network that computes frames of silence. They take as long as any frames.
#[derive(Debug)]
pub struct Frames {
    model: Model,
    full: Network<16, 32>,
    light: Network<8, 16>,
    features: Features,
}

impl Frames {
    /// Creates a network at rest.
    pub fn new(model: Model) -> Self {
        let features = Features::new(crate::FRAME);
        Self { model, full: Network::new(&FULL), light: Network::new(&LIGHT), features }
    }

    /// Returns the multiply-adds of a frame's matrix products, without the functions of the units.
    pub fn multiply_adds(&self) -> usize {
        let of_step = |step| match self.model {
            Model::Full => self.full.multiply_adds(step),
            Model::Light => self.light.multiply_adds(step),
        };
        (0..STEPS).map(of_step).sum()
    }

    /// Computes a frame of silence.
    pub fn compute(&mut self, kernel: Kernel) {
        kernel.run(Compute(self));
    }
}

struct Compute<'a>(&'a mut Frames);

impl Work for Compute<'_> {
    fn run<S: Simd>(self, simd: S) {
        let Frames { model, full, light, features } = self.0;
        for step in 0..STEPS {
            match model {
                Model::Full => full.step(simd, step, features),
                Model::Light => light.step(simd, step, features),
            }
        }
    }
}
