//! `cargo xtask`: the project's own commands.

use std::process::ExitCode;
use xtask::{
    arm, bundle, c_library, demo, engines, install, kit, macos, package, release, suite, unity,
    web, wheel,
};

const USAGE: &str = "\
Usage: cargo xtask VERB

  demo              build the plugin and play the demo tune through it in a real host
  install           build the plugin and install it for this user
  install-c FOLDER  build the C library and install it, its header and its pkg-config file, below a
                    folder such as /usr/local
  test [--quick]    check everything: format, lints, docs, tests, the plugin in real hosts; --quick:
                    format, lints, unit tests, and the filter against its reference
  packages          print the Debian packages that `test` needs
  test-arm          run the DSP's tests on an emulated 64-bit ARM CPU
  test-daw          try the VST3 bundle in Ardour; needs a bundle
  test-engines      check the C library, what there is for kira, firewheel, Godot and Unity, and the
                    examples: warnings, sanitizers, valgrind, bits
  test-lv2          try the LV2 bundle in lilv, ffmpeg, jalv and PipeWire
  test-package      make the packages for Linux, install and load what is in them; run the plugin's
                    tests with the release bundle
  test-play         run the tests of `tone-filter play` and `tone-filter app`
  test-python       build the Python package and test its wheel
  test-release      check the crates as they would be published, and the bill of materials
  test-web          run the tests of the npm package and of the web page in Chromium
  test-windows      run the tests for Windows under wine
  check-macos       check the types for Macs of both CPU types
  web               build the npm package into target/npm and the web page into target/web
  soak              run the long tests and print their figures: an hour of random settings and signals,
                    a session of two hours, a million blocks; the computer should be idle
  songs [FLAGS]     print how well notes are detected in real songs, and the loudness of the output;
                    FLAGS are those of `tone-filter render`
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
    let mut args = std::env::args().skip(1);
    let verb = args.next().unwrap_or_default();
    let result = match verb.as_str() {
        "bundle" => bundle::bundle(args),
        #[cfg(target_os = "linux")]
        "bundle-lv2" => xtask::lv2::bundle(&args.collect::<Vec<_>>()).map(drop),
        "bundle-universal" => bundle::bundle_universal(args),
        "install-c" => match (args.next(), args.next()) {
            (Some(folder), None) => c_library::install(folder.as_ref()),
            _ => return usage(),
        },
        "package" => package::package(&args.collect::<Vec<_>>()).map(drop),
        "test" => match (args.next().as_deref(), args.next()) {
            (None, _) => suite::test(),
            (Some("--quick"), None) => suite::quick(),
            _ => return usage(),
        },
        "unity-package" => unity::package(&args.collect::<Vec<_>>()).map(drop),
        "songs" => kit::songs(&args.collect::<Vec<_>>()),
        _ if args.next().is_some() => return usage(),
        "demo" => demo::demo(),
        "check-macos" => macos::check(),
        "corpus" => kit::corpus(),
        "deny" => suite::deny(),
        "install" => install::install(),
        "manual" => kit::write_manual(),
        "packages" => {
            println!("{}", suite::packages());
            Ok(())
        }
        "soak" => kit::soak(),
        "test-arm" => arm::test(),
        #[cfg(target_os = "linux")]
        "test-daw" => kit::daw(),
        "test-engines" => engines::test(),
        #[cfg(target_os = "linux")]
        "test-lv2" => xtask::lv2::test(),
        #[cfg(target_os = "linux")]
        "media" => kit::media(),
        #[cfg(target_os = "linux")]
        "test-package" => xtask::unpack::test(),
        #[cfg(target_os = "linux")]
        "test-play" => xtask::speakers::test(),
        #[cfg(target_os = "linux")]
        "test-windows" => xtask::windows::test(),
        "test-python" => wheel::test(),
        "test-release" => release::test(),
        "test-web" => web::test(),
        "help" | "--help" | "-h" => {
            println!("{USAGE}");
            Ok(())
        }
        "tune" => kit::tune(),
        "web" => web::web(),
        _ => return usage(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn usage() -> ExitCode {
    eprintln!("{USAGE}");
    ExitCode::from(2)
}
