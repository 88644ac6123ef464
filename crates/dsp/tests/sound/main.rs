//! Tests of the whole filter. They are one program, as each program takes seconds to build.

mod accuracy;
mod attack;
mod behaviour;
mod following;
mod frozen;
mod laws;
mod listener;
mod mpe;
mod properties;
mod score;
mod scout;
mod transitions;
mod voices;

use tone_filter_dsp::ToneFilter;
use tone_filter_testkit::heap;

#[global_allocator]
static HEAP: heap::Counting = heap::Counting;

/// Returns the output of `filter` for one channel, in blocks of 480 samples.
fn filtered(filter: &mut ToneFilter, signal: &[f32]) -> Vec<f32> {
    let mut output = signal.to_vec();
    output.chunks_mut(480).for_each(|block| filter.process(&mut [block]));
    output
}
