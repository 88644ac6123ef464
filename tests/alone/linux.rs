//! Test runner: list of the tests, and a process for each.

mod browser;
mod editor;
pub mod memory;
mod menus;
mod orders;
#[cfg(target_arch = "x86_64")]
mod realtime;
mod screen_reader;
mod soak;
mod steps;
pub mod syscalls;
mod vst3_window;

use std::{
    env,
    io::{Write, stdout},
    process::{Command, ExitCode},
    sync::atomic::{AtomicBool, Ordering},
    time::Instant,
};
use tone_filter_testkit::display::Display;

const TESTS: &[(&str, fn())] = &[
    ("browser::a_host_finds_the_presets", browser::a_host_finds_the_presets),
    ("browser::a_host_loads_the_presets", browser::a_host_loads_the_presets),
    ("editor::the_editor_in_a_window", editor::the_editor_in_a_window),
    ("menus::the_editor_and_its_host", menus::the_editor_and_its_host),
    ("orders::any_order_keeps_the_promises", orders::any_order_keeps_the_promises),
    #[cfg(target_arch = "x86_64")]
    ("realtime::a_block_allocates_and_waits_for_nothing", realtime::a_block),
    ("screen_reader::it_operates_the_editor", screen_reader::it_operates_the_editor),
    ("steps::an_editor_comes_and_goes", steps::an_editor_comes_and_goes),
    ("vst3_window::a_host_survives_its_windows", vst3_window::a_host_survives_its_windows),
];

/// Long test, which runs only if its full name is given.
const SOAK: (&str, fn()) = ("soak", soak::soak);

/// Environment variable that names the test of a child process.
const TEST: &str = "TONE_FILTER_TEST";

/// In a child process, runs the test that [`TEST`] names, or breaks a rule for `realtime`. Otherwise starts a child per test.
pub fn main() -> ExitCode {
    #[cfg(target_arch = "x86_64")]
    if let Ok(offence) = env::var(realtime::OFFENCE) {
        realtime::offend(&offence);
        return ExitCode::SUCCESS;
    }
    let tests = || TESTS.iter().chain([&SOAK]);
    if let Ok(wanted) = env::var(TEST) {
        let (_, test) = tests().find(|(name, _)| *name == wanted).expect("a test");
        test();
        return ExitCode::SUCCESS;
    }
    let words: Vec<String> = env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let is_wanted = |name: &str| match name == SOAK.0 {
        true => words.iter().any(|word| word == name),
        false => words.is_empty() || words.iter().any(|word| name.contains(word)),
    };
    let mut failed = Vec::new();
    for (name, _) in tests().filter(|(name, _)| is_wanted(name)) {
        print!("test {name} ... ");
        let _ = stdout().flush();
        let started = Instant::now();
        let mut process = Command::new(env::current_exe().expect("this program"));
        let output = process.env(TEST, name).output().expect("it starts");
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        let passed = output.status.success();
        let word = if passed { "ok" } else { "FAILED" };
        println!("{word} in {:.1} s", started.elapsed().as_secs_f64());
        if !passed || *name == SOAK.0 {
            println!("{said}{}", output.status);
        }
        if !passed {
            failed.push(name);
        }
    }
    if failed.is_empty() {
        return ExitCode::SUCCESS;
    }
    println!("failed: {failed:?}");
    ExitCode::FAILURE
}

/// Guard that sets the flag when dropped, also by a panic.
pub struct SetOnDrop<'a>(pub &'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Starts a display on which this process opens its windows.
pub fn display(size: [u16; 2]) -> Display {
    let display = Display::start(size).unwrap_or_else(|error| panic!("{error:#}"));
    // SAFETY: this process has no other thread yet.
    unsafe { display.set_environment() };
    display
}
