//! Tests of the library in a host that calls it as Unity does.

mod alloc;
mod csharp;
mod definition;
mod host;
mod script;
mod sound;
mod threads;

use tone_filter_testkit::heap;

#[global_allocator]
static HEAP: heap::Counting = heap::Counting;
