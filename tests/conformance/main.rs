//! Tests of the requirements of CLAP hosts and validators, with the plugin linked into the test, which has overflow checks and
//! debug assertions, and with the bundle that was built last. `clap_host` tests the sound.

mod buffers;
mod corpus;
mod events;
mod lifecycle;
mod parameters;
#[cfg(target_os = "linux")]
mod scan;
mod state;
mod threads;
