//! Runs development tasks.
fn main() { xtask::tune::write(std::path::Path::new("assets/demo.wav")).unwrap(); }
