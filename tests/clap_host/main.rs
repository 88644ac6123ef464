//! The built CLAP plugin in a host, compared with the library: equal settings and input must give equal output.

#[cfg(target_os = "linux")]
mod browser;
mod keys;
mod notes;
#[cfg(target_os = "linux")]
mod notifications;
mod parameters;
#[cfg(target_os = "linux")]
mod raw;
mod sound;
mod timing;
#[cfg(target_os = "linux")]
mod window;

use tone_filter_testkit::{
    clap::{Change, Instance},
    plugin::Signal,
    signals::noise,
};

const RATE: f64 = 48_000.0;
const MAX_BLOCK: usize = 16_384;

/// Returns the plugin's output for `input`, in buffers of the lengths `blocks`, in place or not.
fn played(
    instance: &mut Instance,
    rate: f64,
    input: &Signal,
    in_place: bool,
    mut blocks: impl Iterator<Item = usize>,
    changes: &[Change],
) -> Signal {
    instance.select(input.len()).unwrap();
    let mut processor = instance.activate(rate, MAX_BLOCK).unwrap();
    let mut signal = input.clone();
    processor.run(&mut signal, in_place, &mut blocks, changes).unwrap();
    instance.deactivate(processor);
    signal
}

/// Runs `test` again in a child process with these environment variables. Returns true in the child.
#[cfg(target_os = "linux")]
fn in_child(test: &str, variables: &[(&str, &str)]) -> bool {
    const CHILD: &str = "TONE_FILTER_TEST_CHILD";
    if std::env::var_os(CHILD).is_some() {
        return true;
    }
    let mut child = std::process::Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", test, "--nocapture", "--test-threads", "1"]).env(CHILD, "1");
    let output = child.envs(variables.iter().copied()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("1 passed"), "{said}{complained}");
    false
}

/// Returns random buffer lengths from 1 to [`MAX_BLOCK`], uniform on a logarithmic scale.
fn random_blocks(seed: u64) -> impl Iterator<Item = usize> {
    let mut noise = noise(seed);
    std::iter::repeat_with(move || (MAX_BLOCK as f64).powf((noise() + 1.0) / 2.0).round() as usize)
}

/// Returns buffer lengths that all are `length`.
fn every(length: usize) -> impl Iterator<Item = usize> {
    std::iter::repeat(length)
}
