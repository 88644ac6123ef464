//! Runs development tasks.
fn main() {}
