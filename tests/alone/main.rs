//! Tests of the built plugin that need a process of their own: they set the environment, open windows on a display, count threads
//! or memory, or replace the allocator. This program starts a process for each.
//!
//! `cargo test -p tone-filter-hosts --test alone NAME` runs the tests whose names contain NAME. There are none on systems other
//! than Linux with glibc. The long test `soak` runs only by its full name.

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[path = "linux.rs"]
mod linux;

#[cfg(all(target_os = "linux", target_env = "gnu"))]
use linux::{SetOnDrop, display, main, memory, syscalls};

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn main() {}
