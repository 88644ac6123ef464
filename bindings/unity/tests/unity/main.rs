//! Tests of the library in a host that calls it as Unity does.

mod definition;
mod host;
mod script;
mod sound;

use tone_filter_testkit::heap;

#[global_allocator]
static HEAP: heap::Counting = heap::Counting;
