//! `cargo xtask`: the project's own commands. This crate has few dependencies, so that it builds within seconds. Verbs that need
//! more run programs and tests of other crates with cargo.

mod bundles;
mod c_library;
mod commands;
mod debian;
mod engines;
mod files;
mod foreign;
mod package;
mod programs;
mod python;
mod release;
mod sbom;
mod suite;
mod unity;
mod verify;
mod web;
mod windows;

use anyhow::Result;
use commands::{Unavailable, kit, manual, run};
use std::{env, process::ExitCode};

type Action = fn(&[String]) -> Result<()>;

/// Verbs: name, arguments, description and function.
#[rustfmt::skip]
const VERBS: [(&str, &str, &str, Action); 34] = [
    ("demo", "", "build the plugin and play the demo tune through it in a small CLAP host", |_| programs::demo()),
    ("install", "", "build the plugin and install it for this user", |_| bundles::install()),
    ("install-c", "FOLDER", "build the C library and install it, its header and its pkg-config file, below a folder such as /usr/local",
        |args| c_library::install(args[0].as_ref())),
    ("test", "[--quick]", "run all tests: CLAP in a host of our own, VST3 in pedalboard (JUCE) and DawDreamer and through its factory, the \
        editor in a window, the command line; --quick: unit tests, and the filter against its reference",
        |args| if args.is_empty() { suite::test() } else { suite::quick() }),
    ("lint", "", "check the format, clippy with warnings as errors, and the documentation", |_| suite::lint()),
    ("verify", "[--again] [--only CHECK ... | --list]", "run all checks of a release, for hours, and write the table of docs/hosts.md; what has \
        passed on this tree is not run again, but with --again; --list says what is due, --only runs these", suite::verify),
    ("packages", "", "print the Debian packages that `test` needs", |_| { println!("{}", suite::packages()); Ok(()) }),
    ("test-arm", "", "compare rendered files of 64-bit ARM, in QEMU, with those of x86-64; run the DSP's tests with NEON", |_| foreign::test_arm()),
    ("test-engines", "", "test the C library under gcc, g++, sanitizers and valgrind; kira, firewheel and the extension for Godot, without Godot; \
        the effect for Unity under valgrind and in a host in C#, without Unity", |_| engines::test()),
    ("test-hosts", "[HOST ...]", "build the plugin, and scan, load, show, play, save and resize it in Debian's Qtractor, Ardour, Audacity and \
        jalv, and in mod-host and Carla, which must be on the PATH; write the table into docs/hosts.md", programs::test_hosts),
    ("test-lv2", "", "test the LV2 bundle by LV2's validator, and in ffmpeg and PipeWire against the library", |_| programs::test_lv2()),
    ("test-package", "", "install, load and render with the .deb and the archive for Linux, and uninstall them; run the plugin's tests with the \
        release bundle",
        |_| package::test()),
    ("test-play", "", "test `play` on an ALSA device that writes a file, bit for bit against `render`, and the window of `app`", |_| programs::test_play()),
    ("test-python", "", "build the Python package's wheel from its source distribution, and test it in an environment of its own: against the \
        command bit for bit, threads, types, its page's examples", |_| python::test()),
    ("test-release", "", "build the crates from their packages as they would be published; check the bill of materials by its schema", |_| release::test()),
    ("test-tracker", "[SONG.fur ...]", "play songs for trackers in Furnace, which must be on the PATH as `furnace`", programs::test_tracker),
    ("test-web", "", "test the web page and the npm package in Chromium, bundled by Vite and as plain modules", |_| web::test()),
    ("test-windows", "", "run the tests for `x86_64-pc-windows-gnu` under wine", |_| windows::test()),
    ("check-macos", "", "check the types for both CPU types of Macs, without linking", |_| foreign::check_macos()),
    ("web", "", "build the npm package into target/npm and the web page into target/web", |_| web::web()),
    ("soak", "", "run the long tests and print their figures: half an hour of random settings and signals on each core, a session of two hours, a million blocks; \
        the computer should be idle", |_| programs::soak()),
    ("songs", "[FLAGS]", "print how well notes are detected in real songs, and the loudness of the output; FLAGS are those of \
        `tone-filter render`", programs::songs),
    ("wild", "FOLDER ...", "print which sound files are read otherwise than ffmpeg reads them, which it needs", programs::wild),
    ("deny", "", "check licences, sources and known vulnerabilities of all dependencies, by cargo-deny", |_| suite::deny()),
    ("corpus", "", "write the states and presets of a new version into tests/corpus", |_| programs::corpus()),
    ("bundle", "[OPTIONS]", "build CLAP and VST3 bundles into target/bundled; OPTIONS are those of `cargo build`, such as --release", bundles::bundle),
    ("bundle-lv2", "[OPTIONS]", "the same as an LV2 bundle, for Linux", |args| bundles::bundle_lv2(args).map(drop)),
    ("bundle-universal", "[OPTIONS]", "the same for both CPU types of Macs", bundles::bundle_universal),
    ("package", "[OPTIONS]", "build and pack all that a release has for this system, or for that of --target, into target/package, with checksums \
        and a bill of materials", |args| package::package(args).map(drop)),
    ("unity-package", "[OPTIONS]", "build and pack the effect for Unity into target/package; with several --target for several systems",
        |args| unity::package(args).map(drop)),
    ("manual", "", "write the pages of the manual that are made of the tables", |_| run(manual())),
    ("media", "", "write the pictures and sounds of the README and the manual", |_| programs::media()),
    ("tune", "", "generate assets/demo.wav", |_| run(kit("tune"))),
    ("help", "", "print this text", |_| { println!("{}", usage()); Ok(()) }),
];

fn description(verb: &str) -> &'static str {
    VERBS.iter().find(|(name, ..)| *name == verb).map_or("", |(.., description, _)| *description)
}

/// Returns whether a verb with these `arguments` in [`VERBS`] accepts `args`.
fn accepts(arguments: &str, args: &[String]) -> bool {
    match arguments {
        "" => args.is_empty(),
        "FOLDER" => args.len() == 1,
        "[--quick]" => args.is_empty() || args == ["--quick"],
        _ => true,
    }
}

/// Returns the list of verbs, in lines of at most 100 characters.
fn usage() -> String {
    let mut usage = "Usage: cargo xtask VERB\n".to_owned();
    for (name, arguments, description, _) in VERBS {
        let mut line = format!("  {name} {arguments}");
        for (index, word) in description.split(' ').enumerate() {
            if line.len() + word.len() >= 100 || index == 0 && line.len() > 19 {
                usage += &format!("\n{line}");
                line.clear();
            }
            line = format!("{line:19} {word}");
        }
        usage += &format!("\n{line}");
    }
    usage
}

fn main() -> ExitCode {
    let args: Vec<String> = env::args().skip(1).collect();
    let (verb, args) =
        args.split_first().map_or(("", &[][..]), |(verb, args)| (verb.as_str(), args));
    let verb = if ["-h", "--help"].contains(&verb) { "help" } else { verb };
    let mut verbs = VERBS.iter();
    let known = verbs.find(|(name, arguments, ..)| *name == verb && accepts(arguments, args));
    let Some((.., action)) = known else {
        eprintln!("{}", usage());
        return ExitCode::from(2);
    };
    match action(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            let unavailable = error.is::<Unavailable>();
            if unavailable { ExitCode::from(Unavailable::STATUS) } else { ExitCode::FAILURE }
        }
    }
}
