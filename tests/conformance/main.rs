//! The requirements of CLAP hosts and validators, checked with the plugin linked into the test, which has
//! overflow checks and debug assertions, and with the bundle that was built last. The sound is tested in `clap_host`.

mod buffers;
mod corpus;
mod events;
mod lifecycle;
mod parameters;
#[cfg(target_os = "linux")]
mod scan;
mod state;
mod threads;
