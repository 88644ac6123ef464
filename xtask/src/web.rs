//! `cargo xtask web` and `test-web`: the page with the filter, and its tests in a browser.

use crate::{demo, foreign, install, root, run, suite, target};
use anyhow::{Context, Result, ensure};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};
use tone_filter_dsp::ToneFilter;
use tone_filter_presets::{Preset, ids};

const TARGET: &str = "wasm32-unknown-unknown";

/// A linker for WebAssembly, with Debian's compiler.
const LINKER: [&str; 1] = ["lld"];

/// For the tests, a browser and what runs the script that uses it: programs, and Debian's packages of them.
const BROWSER: [(&str, &str); 3] = [("chromium", "chromium"), ("node", "nodejs"), ("npm", "npm")];

/// Builds the page and prints where it is.
///
/// # Errors
/// When something is missing and cannot be installed, or the page cannot be built or written.
pub fn web() -> Result<()> {
    let folder = build()?;
    println!("The page is in {}. Serve it with any web server:\n", folder.display());
    println!("    python3 -m http.server --directory {}", folder.display());
    Ok(())
}

/// Runs the tests of the page in Debian's Chromium.
///
/// # Errors
/// When something is missing and cannot be installed, or a test fails.
pub fn test() -> Result<()> {
    ensure!(suite::on_path("dpkg-query"), "this verb needs Debian, for its browser");
    let missing = BROWSER.into_iter().filter(|(program, _)| !suite::on_path(program));
    suite::install(&missing.map(|(_, package)| package).collect::<Vec<_>>())?;
    let page = build()?;
    let results = target()?.join("test-web");
    write_expected(&results.join("expected"))?;
    let scripts = root().join("web/test");
    run(Command::new("npm").args(["ci", "--no-audit", "--no-fund", "--prefix"]).arg(&scripts))?;
    run(Command::new("node").arg(scripts.join("test.mjs")).arg(page).arg(results))
}

/// Builds the page and returns its folder.
fn build() -> Result<PathBuf> {
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--release", "--locked", "--package=tone-filter-web"]);
    cargo.args(["--target", TARGET]);
    let mut folder = target()?;
    if !has_target()? {
        ensure!(
            suite::on_path("dpkg-query"),
            "the compiler cannot build for browsers yet: run `rustup target add {TARGET}`"
        );
        suite::install(&[&foreign::PACKAGES[..], &LINKER].concat())?;
        folder.push("foreign");
        foreign::from_source(&mut cargo, TARGET, "panic_abort", &folder);
        cargo.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", "wasm-ld");
    }
    run(&mut cargo)?;

    let page = target()?.join("web");
    install::remove(&page)?;
    fs::create_dir_all(&page)?;
    for file in fs::read_dir(root().join("web/page"))? {
        let file = file?;
        copy(&file.path(), &page.join(file.file_name()))?;
    }
    copy(&root().join("assets/demo.wav"), &page.join("demo.wav"))?;
    let module = folder.join(TARGET).join("release/tone_filter_web.wasm");
    copy(&module, &page.join("tone_filter.wasm"))?;
    Ok(page)
}

/// Whether the compiler has a standard library for [`TARGET`].
fn has_target() -> Result<bool> {
    let mut rustc = Command::new("rustc");
    let output = rustc.args(["--print=target-libdir", "--target", TARGET]).output()?;
    Ok(Path::new(String::from_utf8(output.stdout)?.trim()).is_dir())
}

/// Writes what the library makes of the demo tune with each factory preset: 32-bit floats, left and then right.
fn write_expected(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder)?;
    let (tune, rate) = demo::read(&root().join("assets/demo.wav"))?;
    for id in ids() {
        let preset = Preset::factory(id).context("a factory preset")?;
        let mut signal = tune.clone();
        let mut channels: Vec<_> = signal.iter_mut().map(Vec::as_mut_slice).collect();
        ToneFilter::new(rate.into(), &preset.settings)?.process(&mut channels);
        let bytes = signal.iter().flatten().flat_map(|sample| sample.to_le_bytes());
        fs::write(folder.join(id).with_extension("f32"), bytes.collect::<Vec<u8>>())?;
    }
    Ok(())
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::copy(from, to).with_context(|| format!("cannot copy {}", from.display()))?;
    Ok(())
}
