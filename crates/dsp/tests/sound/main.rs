//! Tests of the whole filter. They are one program, as each program takes seconds to build.

mod accuracy;
mod attack;
mod behaviour;
mod following;
mod laws;
mod listener;
mod mpe;
mod play;
mod properties;
mod score;
mod scout;
mod spectrum;
mod transitions;
mod voices;

use tone_filter_testkit::heap;

#[global_allocator]
static HEAP: heap::Counting = heap::Counting;
