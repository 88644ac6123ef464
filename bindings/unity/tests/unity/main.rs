//! The library in a host that calls it as Unity does.

mod alloc;
mod csharp;
mod definition;
#[path = "../../../firewheel/tests/engines/heap.rs"]
mod heap;
mod host;
mod script;
mod sound;
mod threads;
