//! `cargo xtask`: the project's own commands.

use std::process::ExitCode;
use xtask::{bundle, demo, install, root, suite, tune};

const USAGE: &str = "\
Usage: cargo xtask VERB

  demo              build the plugin and play the demo tune through it in a real host
  install           build the plugin and put it where your DAW looks for it
  test              check everything: format, lints, docs, tests, the plugin in real hosts
  bundle [OPTIONS]  build CLAP and VST3 bundles into target/bundled; OPTIONS are those of
                    `cargo build`, such as --release
  tune              make assets/demo.wav anew";

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let verb = args.next().unwrap_or_default();
    let result = match verb.as_str() {
        "bundle" => bundle::bundle(args),
        _ if args.next().is_some() => return usage(),
        "demo" => demo::demo(),
        "install" => install::install(),
        "test" => suite::test(),
        "help" | "--help" | "-h" => {
            println!("{USAGE}");
            Ok(())
        }
        "tune" => tune::write(&root().join("assets/demo.wav")),
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
