//! A one-pole average, computed for groups of 16 samples.

use crate::lanes::BLOCK;
use fearless_simd::{Simd, SimdBase, SimdFloat};
use tone_filter_simd::{Kernel, Work};

/// Number of samples that are computed together; a divisor of [`BLOCK`].
const GROUP: usize = 16;

const GROUPS: usize = BLOCK / GROUP;

/// A column of the matrix, aligned so that its vectors lie within cache lines.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct Column([f32; GROUP]);

/// Impulse response of the one-pole average `y += step (x - y)`, as a matrix.
///
/// The recursion is slow, because each sample depends on the one before. For a group of samples, `y` is instead the product of a
/// triangular matrix with the inputs, plus the decayed `y` from before the group. The products of the columns do not depend on
/// each other.
#[derive(Debug, Clone)]
pub(crate) struct Response {
    /// Columns of the matrix: column `n` has `n` zeros, then `step (1 - step)^t`.
    columns: [Column; GROUP],
    /// Weights `(1 - step)^(t + 1)` of the average before a group.
    decay: [f32; GROUP],
    /// Last element of `decay` in full precision.
    end: f64,
}

impl Response {
    pub fn new(step: f64) -> Self {
        let mut response =
            Self { columns: [Column([0.0; GROUP]); GROUP], decay: [0.0; GROUP], end: 1.0 };
        for late in 0..GROUP {
            for (sample, column) in response.columns[..GROUP - late].iter_mut().enumerate() {
                column.0[sample + late] = (step * response.end) as f32;
            }
            response.end *= 1.0 - step;
            response.decay[late] = response.end as f32;
        }
        response
    }
}

/// State of an average.
///
/// Groups are counted from the start of a block, and the samples of an incomplete group are kept. Therefore the output does not
/// depend on how a signal is divided into calls.
#[derive(Debug, Clone)]
pub(crate) struct OnePole {
    /// Inputs of the current group so far.
    inputs: [f32; GROUP],
    /// Average at the end of the previous group.
    before: f64,
    pub latest: f32,
}

struct Track<'a>(&'a mut OnePole, &'a Response, usize, &'a mut [f32]);

impl Work for Track<'_> {
    fn run<S: Simd>(self, simd: S) {
        let Self(pole, response, position, signal) = self;
        simd.vectorize(
            #[inline(always)]
            || pole.advance(simd, response, position, signal),
        );
    }
}

impl OnePole {
    pub const ZERO: Self = Self { inputs: [0.0; GROUP], before: 0.0, latest: 0.0 };

    /// Replaces `signal`, which starts at `position` in the block, by its running average.
    pub fn track(
        &mut self,
        kernel: Kernel,
        response: &Response,
        position: usize,
        signal: &mut [f32],
    ) {
        kernel.run(Track(self, response, position, signal));
    }

    #[inline(always)]
    fn advance<S: Simd>(
        &mut self,
        simd: S,
        response: &Response,
        position: usize,
        signal: &mut [f32],
    ) {
        // A whole block at once takes half the time of single groups.
        if let Ok(block) = <&mut [f32; BLOCK]>::try_from(&mut *signal) {
            let mut inputs = [[0.0; GROUP]; GROUPS];
            inputs.as_flattened_mut().copy_from_slice(block);
            let outputs = self.average(simd, response, &inputs);
            block.copy_from_slice(outputs.as_flattened());
            (self.inputs, self.latest) = (inputs[GROUPS - 1], block[BLOCK - 1]);
            return;
        }
        let mut start = position % GROUP;
        let mut rest = signal;
        while !rest.is_empty() {
            let count = rest.len().min(GROUP - start);
            let (part, after) = rest.split_at_mut(count);
            if start == 0 {
                self.inputs = [0.0; GROUP];
            }
            self.inputs[start..][..count].copy_from_slice(part);
            let before = self.before;
            let [outputs] = self.average(simd, response, &[self.inputs]);
            part.copy_from_slice(&outputs[start..][..count]);
            if start + count < GROUP {
                self.before = before;
            }
            self.latest = part[count - 1];
            (start, rest) = (0, after);
        }
    }

    /// Returns the averages of the next `N` groups, and advances the state past them.
    #[inline(always)]
    fn average<S: Simd, const N: usize>(
        &mut self,
        simd: S,
        response: &Response,
        inputs: &[[f32; GROUP]; N],
    ) -> [[f32; GROUP]; N] {
        let mut outputs = [[0.0; GROUP]; N];
        for start in (0..GROUP).step_by(S::f32s::LEN) {
            // Two sums halve the chain of dependent additions.
            let zero = S::f32s::splat(simd, 0.0);
            let (mut even, mut odd) = ([zero; N], [zero; N]);
            let column = |sample: usize| {
                S::f32s::from_slice(simd, &response.columns[sample].0[start..][..S::f32s::LEN])
            };
            for sample in (0..start + S::f32s::LEN).step_by(2) {
                let columns = [column(sample), column(sample + 1)];
                for (group, inputs) in inputs.iter().enumerate() {
                    let x = [inputs[sample], inputs[sample + 1]].map(|x| S::f32s::splat(simd, x));
                    even[group] = columns[0].mul_add(x[0], even[group]);
                    odd[group] = columns[1].mul_add(x[1], odd[group]);
                }
            }
            for (group, output) in outputs.iter_mut().enumerate() {
                (even[group] + odd[group]).store_slice(&mut output[start..][..S::f32s::LEN]);
            }
        }
        for output in &mut outputs {
            let (last, before) = (output[GROUP - 1], S::f32s::splat(simd, self.before as f32));
            for start in (0..GROUP).step_by(S::f32s::LEN) {
                let part = &mut output[start..][..S::f32s::LEN];
                let decay = S::f32s::from_slice(simd, &response.decay[start..][..S::f32s::LEN]);
                let new = S::f32s::from_slice(simd, part);
                decay.mul_add(before, new).store_slice(part);
            }
            self.before = response.end * self.before + f64::from(last);
        }
        outputs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_average_has_no_offset() {
        let response = Response::new(1e-6);
        for kernel in Kernel::available() {
            let mut pole = OnePole::ZERO;
            for _ in 0..100_000 {
                pole.track(kernel, &response, 0, &mut [0.3; 10 * GROUP]);
            }
            // 16 time constants.
            assert!((pole.latest / 0.3 - 1.0).abs() < 1e-6, "{kernel:?}: {}", pole.latest);
        }
    }
}
