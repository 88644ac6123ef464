//! Test of a host's scan of the plugin.

use std::{env, mem::MaybeUninit, path::Path, process::Command};
use tone_filter_testkit::{bundle, clap::Library};

/// Environment variable with the bundle's path, for the process that scans. Finding the bundle takes longer than scanning it.
const SCAN: &str = "TONE_FILTER_SCAN";

/// Returns the CPU time in seconds of the terminated children of this process.
fn work() -> f64 {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: `usage` has room for a whole `rusage`, for which zeros are valid.
    let usage = unsafe {
        assert_eq!(libc::getrusage(libc::RUSAGE_CHILDREN, usage.as_mut_ptr()), 0);
        usage.assume_init()
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + 1e-6 * time.tv_usec as f64;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

// Measures CPU time, because the elapsed time depends on other processes.
#[test]
fn a_scan_is_less_than_a_tenth_of_a_second_of_work() {
    if let Some(bundle) = env::var_os(SCAN) {
        assert_eq!(Library::load(Path::new(&bundle)).unwrap().plugins().unwrap().len(), 1);
        return;
    }
    let bundle = bundle::clap().unwrap_or_else(|error| panic!("{error}"));
    // The scan runs in a new process, whose start and end are included.
    let mut scan = Command::new(env::current_exe().unwrap());
    scan.args(["--exact", "scan::a_scan_is_less_than_a_tenth_of_a_second_of_work"])
        .env(SCAN, bundle);
    let before = work();
    let output = scan.output().unwrap();
    let scan = work() - before;
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
    assert!(scan < 0.1, "{scan} s");
}
