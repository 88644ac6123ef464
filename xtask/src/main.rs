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

use commands::{Unavailable, kit, manual, run};
use std::process::ExitCode;

const USAGE: &str = "\
Usage: cargo xtask VERB

  demo              build the plugin and play the demo tune through it in a small CLAP host
  install           build the plugin and install it for this user
  install-c FOLDER  build the C library and install it, its header and its pkg-config file, below a
                    folder such as /usr/local
  test [--quick]    run the tests, the plugin in real hosts included; --quick: unit tests, and the
                    filter against its reference
  lint              check format, lints and docs
  verify [--again] [--only CHECK ... | --list]
                    run all checks of a release, for hours, and write the table of docs/hosts.md; what
                    has passed on this tree is not run again, but with --again; --list says what is
                    due, --only runs these
  packages          print the Debian packages that `test` needs
  test-arm          run the DSP's tests on an emulated 64-bit ARM CPU
  test-engines      check the C library, what there is for kira, firewheel, Godot and Unity, and the
                    examples: warnings, sanitizers, valgrind, bits
  test-hosts [HOST ...]
                    build the plugin, and scan, load, show, play, save and resize it in Debian's
                    Qtractor, Ardour, Audacity and jalv, and in mod-host and Carla, which must be on
                    the PATH; write the table into docs/hosts.md
  test-lv2          try the LV2 bundle in ffmpeg and PipeWire
  test-package      make the packages for Linux, install and load what is in them; run the plugin's
                    tests with the release bundle
  test-play         run the tests of `tone-filter play` and `tone-filter app`
  test-python       build the Python package and test its wheel
  test-release      check the crates as they would be published, and the bill of materials
  test-tracker [SONG.fur ...]
                    play songs for trackers in Furnace, which must be on the PATH as `furnace`
  test-web          run the tests of the npm package and of the web page in Chromium
  test-windows      run the tests for Windows under wine
  check-macos       check the types for Macs of both CPU types
  web               build the npm package into target/npm and the web page into target/web
  soak              run the long tests and print their figures: an hour of random settings and signals,
                    a session of two hours, a million blocks; the computer should be idle
  songs [FLAGS]     print how well notes are detected in real songs, and the loudness of the output;
                    FLAGS are those of `tone-filter render`
  wild FOLDER ...   print which sound files are read otherwise than ffmpeg reads them, which it needs
  deny              check licences and sources of all dependencies; needs cargo-deny
  corpus            write the states and presets of a new version into tests/corpus
  bundle [OPTIONS]  build CLAP and VST3 bundles into target/bundled; OPTIONS are those of
                    `cargo build`, such as --release
  bundle-lv2 [OPTIONS]
                    the same as an LV2 bundle, for Linux
  bundle-universal [OPTIONS]
                    the same for both CPU types of Macs
  package [OPTIONS] build and pack all that a release has for this system, or for that of
                    --target, into target/package, with checksums and a bill of materials
  unity-package [OPTIONS]
                    build and pack the effect for Unity into target/package; with several --target
                    for several systems
  manual            write the pages of the manual that are made of the tables
  media             write the pictures and sounds of the README and the manual; needs a bundle
  tune              generate assets/demo.wav";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<_> = args.iter().map(String::as_str).collect();
    let rest = args.get(1..).unwrap_or_default();
    let result = match words[..] {
        ["bundle", ..] => bundles::bundle(rest),
        ["bundle-lv2", ..] => bundles::bundle_lv2(rest).map(drop),
        ["bundle-universal", ..] => bundles::bundle_universal(rest),
        ["check-macos"] => foreign::check_macos(),
        ["corpus"] => programs::corpus(),
        ["demo"] => programs::demo(),
        ["deny"] => suite::deny(),
        ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            Ok(())
        }
        ["install"] => bundles::install(),
        ["install-c", folder] => c_library::install(folder.as_ref()),
        ["lint"] => suite::lint(),
        ["manual"] => run(manual()),
        ["media"] => programs::media(),
        ["package", ..] => package::package(rest).map(drop),
        ["packages"] => {
            println!("{}", suite::packages());
            Ok(())
        }
        ["soak"] => programs::soak(),
        ["songs", ..] => programs::songs(rest),
        ["test"] => suite::test(),
        ["test", "--quick"] => suite::quick(),
        ["test-arm"] => foreign::test_arm(),
        ["test-engines"] => engines::test(),
        ["test-hosts", ..] => programs::test_hosts(rest),
        ["test-lv2"] => programs::test_lv2(),
        ["test-package"] => package::test(),
        ["test-play"] => programs::test_play(),
        ["test-python"] => python::test(),
        ["test-release"] => release::test(),
        ["test-tracker", ..] => programs::test_tracker(rest),
        ["test-web"] => web::test(),
        ["test-windows"] => windows::test(),
        ["tune"] => run(kit("tune")),
        ["unity-package", ..] => unity::package(rest).map(drop),
        ["verify", ..] => suite::verify(rest),
        ["web"] => web::web(),
        ["wild", ..] => programs::wild(rest),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            let unavailable = error.is::<Unavailable>();
            if unavailable { ExitCode::from(Unavailable::STATUS) } else { ExitCode::FAILURE }
        }
    }
}
