//! Test suites: `cargo xtask test` and `lint`, which every change must pass, and `verify`, which a release must pass.

use crate::{
    bundles,
    commands::{Unavailable, cargo, run, step},
    debian, python,
    verify::{self, Check},
};
use anyhow::{Result, bail, ensure};
use std::{panic::resume_unwind, process::Command, thread};

/// Debian packages for the tests, beside a display: libraries of the editor's window; message buses and a client for the test of
/// screen readers; audio programs and shells for the tests of the command; MIDI songs and a synthesiser.
const PACKAGES: &str = "libx11-6 libx11-xcb1 libxcursor1 dbus-daemon at-spi2-core python3-pyatspi \
                        sox ffmpeg fluidsynth fluid-soundfont-gm openttd-openmsx flac fish strace zsh";

/// All packages of the workspace except the bindings for Rust game engines, which `test-engines` tests.
const PACKAGES_HERE: &str =
    "--workspace --exclude tone-filter-kira --exclude tone-filter-firewheel";

/// Features of the programs that verbs run on Linux. With them, clippy and the documentation cover these programs.
const FEATURES: &str = "--features tone-filter-testkit/kit,tone-filter-testkit/demo,\
                        tone-filter-manual/media,tone-filter-capi/header,tone-filter-capi/programs,\
                        tone-filter-lv2/programs,tone-filter-unity/lists,tone-filter-unity/programs";

/// Targets whose documentation is built: libraries, and programs with unique names. With examples, cargo selects the same
/// features as for clippy, so no dependency is checked twice.
const DOCUMENTED: &str = if cfg!(target_os = "linux") {
    "--lib --bin demo --bin kit --bin media --bin xtask --examples"
} else {
    "--lib --bin xtask --examples"
};

/// Packages whose tests build within seconds.
const QUICK: &str = "-p tone-filter-simd -p tone-filter-listener -p tone-filter-dsp \
                     -p tone-filter-presets -p tone-filter-midi -p tone-filter-song \
                     -p tone-filter-offline -p tone-filter-testkit -p xtask";

/// Verbs that a release must pass, in the order in which [`verify()`] runs them.
const RELEASE: &str = "lint test test-engines test-lv2 test-python test-web test-windows test-arm \
                       check-macos test-release test-package test-play test-hosts test-tracker \
                       deny soak";

/// Programs that checks of [`verify()`] look for on the `PATH`, with the versions and sources of those that have been used.
const PROGRAMS: [(&str, &str); 9] = [
    ("cargo-deny", "`cargo install --locked cargo-deny@0.20.2`"),
    ("cargo-fuzz", "`cargo install --locked cargo-fuzz@0.13.2`"),
    ("cargo-mutants", "`cargo install --locked cargo-mutants@27.1.0`"),
    ("clap-validator", "0.4.1, https://github.com/free-audio/clap-validator"),
    ("pluginval", "1.0.3, https://github.com/Tracktion/pluginval"),
    ("validator", "3.7.14, https://github.com/steinbergmedia/vst3sdk"),
    ("mod-host", "https://github.com/moddevices/mod-host"),
    ("carla-discovery-native", "https://github.com/falkTX/Carla"),
    ("furnace", "`cmake -DBUILD_GUI=OFF`, https://github.com/tildearrow/furnace"),
];

/// Returns an error if `program`, one of [`PROGRAMS`], is not on the `PATH`.
pub fn need(program: &str) -> Result<()> {
    let source =
        PROGRAMS.iter().find(|(name, _)| *name == program).map_or("", |(_, source)| *source);
    ensure!(debian::on_path(program), Unavailable(format!("missing: {program} ({source})")));
    Ok(())
}

pub fn verify(options: &[String]) -> Result<()> {
    let verb = |name| {
        // Complete sweeps, and 10,000 random orders of a host's calls.
        let whole = "TONE_FILTER_SWEEP=all TONE_FILTER_ORDERS=10000 ";
        let variables = if name == "test" { whole } else { "" };
        let line = format!("{variables}cargo xtask {name}");
        Check { name, what: crate::description(name), line }
    };
    let bare = [("bare-12", "bookworm"), ("bare-13", "trixie")].map(|(name, suite)| Check {
        name,
        what: "the README's commands, and the .deb, in a minimal system of this version of Debian",
        line: format!("xtask/bare.sh {suite}"),
    });
    let programs = [
        Check {
            name: "validators",
            what: "clap-validator (without the two tests in which 0.4.1 deadlocks), pluginval at strictness 10 and Steinberg's extended validator, three at a time",
            line: "for tool in clap-validator pluginval validator; do command -v $tool || exit 3; done; \
                   cargo xtask bundle --release && cd target/bundled && \
                   printf '%s\\0' \
                   'clap-validator validate -x \"^preset-discovery-(crawl|load)$\" \"Tone Filter.clap\"' \
                   'xvfb-run -a pluginval --strictness-level 10 --randomise --validate \"Tone Filter.vst3\"' \
                   'validator -e \"Tone Filter.vst3\"' | xargs -0 -P 3 -n 1 sh -c"
                .into(),
        },
        Check {
            name: "fuzz",
            what: "fuzz states, presets, settings and decoders, ten minutes each, by cargo-fuzz",
            // The variable lets the stable compiler use the sanitizers.
            line: "command -v cargo-fuzz || exit 3; export RUSTC_BOOTSTRAP=1; \
                   for target in state preset settings decode; do \
                   seeds=fuzz/seeds/$target; found=fuzz/corpus/$target; mkdir -p $found; \
                   test -d $seeds || seeds=crates/cli/tests/cli/corpus; \
                   cargo fuzz run $target $found $seeds -- -max_total_time=600 || exit 1; done"
                .into(),
        },
        Check {
            name: "mutants",
            what: "one in 200 of the faults that cargo-mutants makes in the filter: more than nine of ten must be caught",
            line: "command -v cargo-mutants || exit 3; \
                   cargo mutants -p tone-filter-dsp --shard 0/200 --sharding round-robin -o target \
                   --test-package tone-filter-dsp,tone-filter-reference; \
                   python3 -c 'import json; r = json.load(open(\"target/mutants.out/outcomes.json\")); \
                               exit(r[\"caught\"] <= 9 * r[\"missed\"])'"
                .into(),
        },
    ];
    let checks: Vec<_> = RELEASE.split(' ').map(verb).chain(bare).chain(programs).collect();
    verify::run(&checks, &PROGRAMS, options)
}

pub fn test() -> Result<()> {
    step("tools", tools)?;
    let tests = format!("test {PACKAGES_HERE} --no-fail-fast");
    // Python packages are downloaded meanwhile.
    let python = thread::spawn(python::set_up);
    // Tests load this debug build; `test-package` tests the release build.
    step("tests and bundle, built", || bundles::bundle_tests(PACKAGES_HERE))?;
    step("packages for Python", || python.join().unwrap_or_else(|panic| resume_unwind(panic)))?;
    step("tests, real hosts included", || run(cargo(&tests)))
}

pub fn lint() -> Result<()> {
    let features = if cfg!(target_os = "linux") { FEATURES } else { "" };
    let all = format!("{PACKAGES_HERE} {features}");
    step("format", || run(cargo("fmt --all --check")))?;
    step("clippy", || run(cargo(&format!("clippy {all} --all-targets -- -D warnings"))))?;
    step("clippy without the window", || {
        run(cargo("clippy -p tone-filter --no-default-features -- -D warnings"))
    })?;
    step("documentation", || {
        let documentation = format!("doc {all} {DOCUMENTED} --no-deps");
        run(cargo(&documentation).env("RUSTDOCFLAGS", "-D warnings"))
    })
}

/// Runs the quick tests, without hosts and other programs: unit tests, and the comparison of the filter with its reference.
pub fn quick() -> Result<()> {
    step("unit tests", || run(cargo(&format!("test {QUICK} --lib --bin xtask"))))?;
    step("the filter against its reference", || {
        run(cargo(
            "test -p tone-filter-dsp --test sound -- accuracy:: properties::output transitions::",
        ))
    })
}

/// Returns the Debian packages that [`test()`] needs, for systems that install them beforehand.
pub fn packages() -> String {
    [debian::DISPLAY, PACKAGES, python::PACKAGES].join(" ")
}

/// Checks licences, sources and bans by `deny.toml`, then known vulnerabilities, which needs the network. This is not part of
/// [`test()`], as new advisories would fail unrelated changes.
pub fn deny() -> Result<()> {
    need("cargo-deny")?;
    run(cargo("deny check bans licenses sources"))?;
    run(cargo("deny check advisories"))
}

/// Installs missing tools. Returns an error if this is not possible here, or not permitted to this user.
fn tools() -> Result<()> {
    let mut missing = Vec::new();
    if cfg!(target_os = "linux") {
        if debian::is_here() {
            missing = [debian::DISPLAY, PACKAGES].map(debian::missing).concat();
        } else if !debian::on_path("Xvfb") {
            let needs =
                "the editor's test needs Xvfb and OpenGL (Mesa): install them and try again";
            bail!(Unavailable(needs.into()));
        }
    }
    let venv = || Command::new("python3").args(["-c", "import ensurepip, venv"]).output();
    if cfg!(unix) && !venv().is_ok_and(|output| output.status.success()) {
        missing.extend(python::PACKAGES.split(' '));
    }
    debian::apt_install(&missing)
}
