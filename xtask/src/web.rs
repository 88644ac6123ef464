//! `cargo xtask web` and `test-web`: the npm package, the web page that uses it, and their tests in a browser.

use crate::{
    commands::{Unavailable, cargo, kit, manual, output, root, run, target},
    debian, files, foreign,
};
use anyhow::{Result, ensure};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Name of the package in npm's registry.
const NPM: &str = "tone-filter";

const TARGET: &str = "wasm32-unknown-unknown";

/// Crate of the npm package's module, for the audio thread.
const FILTER: &str = "tone-filter-web";
/// Crate of the page's second module, which exports songs.
const SONG: &str = "tone-filter-web-song";

/// Debian package of the linker with which Debian's compiler makes WebAssembly.
const LINKER: &str = "lld";

/// Cargo configuration for a small module: all code is optimised as one unit.
const SMALL: [&str; 4] = [
    "profile.release.lto='fat'",
    "profile.release.codegen-units=1",
    "profile.release.panic='abort'",
    "profile.release.opt-level=2",
];

/// Cargo configuration for a small module: panics abort without a message. Needs a standard library that is built from source.
const SILENT: &str =
    "target.wasm32-unknown-unknown.rustflags=['-Zunstable-options','-Cpanic=immediate-abort']";

/// Debian packages for making the page's songs.
const SONGS: &str = "ffmpeg fluid-soundfont-gm fluidsynth openttd-openmsx";

/// Programs for the tests, with their Debian packages: a browser, and Node.js for the script that controls it.
const BROWSER: &str = "chromium node=nodejs npm";

pub fn web() -> Result<()> {
    let (package, page) = build()?;
    println!("The npm package is in {}.", package.display());
    println!("The page is in {}. Serve it with any web server:\n", page.display());
    println!("    python3 -m http.server --directory {}", page.display());
    Ok(())
}

/// Runs the tests of the package and of the page in Debian's Chromium. The page uses the files that `npm pack` packs.
pub fn test() -> Result<()> {
    debian::need(&debian::missing_programs(BROWSER).join(" "))?;
    debian::install(&[SONGS, foreign::PACKAGES, LINKER].join(" "))?;
    let (package, page) = build()?;
    let results = target()?.join("test-web");
    files::remove(&results)?;
    let expected = results.join("expected");
    files::copy_into(&root().join("assets/demo.wav"), &expected)?;
    run(kit("starts").arg(expected.join("automation")))?;
    write_songs(&expected)?;
    files::untar(&pack(&package, &results)?, &results)?;
    let packed = page.join(NPM);
    files::remove(&packed)?;
    files::copy(&results.join("package"), &packed)?;
    let scripts = root().join("bindings/web/test");
    run(Command::new("npm").args(["ci", "--no-audit", "--no-fund", "--prefix"]).arg(&scripts))?;
    run(Command::new("node").arg(scripts.join("test.mjs")).arg(page).arg(results))
}

/// Writes songs made by the command `tone-filter` into `folder`, which must contain the demo tune.
///
/// `demo.fur` and `demo.nsf` have the preset Sound Chip, `demo.mid` the default sound, and `link.fur` the settings of a link. The
/// portable kernel computes them, as it gives the same bits as WebAssembly.
fn write_songs(folder: &Path) -> Result<()> {
    let link = ["--preset", "game-boy", "--voice", "chip", "--arp", "up", "--scale", "major"];
    let songs: [(&str, &str, &str, &[&str]); 4] = [
        ("chip", "--out", "demo.fur", &[]),
        ("chip", "--out", "demo.nsf", &[]),
        ("bands", "--midi", "demo.mid", &[]),
        ("chip", "--out", "link.fur", &link),
    ];
    for (verb, out, name, flags) in songs {
        let line = format!("run -p tone-filter-cli -- {verb} --quiet --kernel portable {out}");
        run(cargo(&line).arg(folder.join(name)).arg(folder.join("demo.wav")).args(flags))?;
    }
    Ok(())
}

/// Builds and packs the npm package. Returns the archive's path.
pub fn package() -> Result<PathBuf> {
    let folder = target()?.join("npm");
    let packed = folder.join("packed");
    files::remove(&packed)?;
    let package = npm_package(&module(FILTER)?)?;
    fs::create_dir_all(&packed)?;
    pack(&package, &packed)
}

/// Writes the npm package with the WebAssembly module at `module`. Returns the package's folder.
///
/// The other files are those of `bindings/web/package`, and those that `bindings/web/examples/tables.rs` generates.
fn npm_package(module: &Path) -> Result<PathBuf> {
    let folder = target()?.join("npm").join(NPM);
    files::remove(&folder)?;
    files::copy(&root().join("bindings/web/package"), &folder)?;
    for licence in ["LICENSE-APACHE", "LICENSE-MIT"] {
        files::copy_into(&root().join(licence), &folder)?;
    }
    files::copy(module, &folder.join("tone_filter.wasm"))?;
    run(cargo("run --package=tone-filter-web --example=tables --").arg(&folder))?;
    Ok(folder)
}

/// Packs the package in `folder` with `npm pack` into the empty folder `results`. Returns the archive's path.
fn pack(folder: &Path, results: &Path) -> Result<PathBuf> {
    let mut npm = Command::new("npm");
    run(npm.arg("pack").arg(folder).arg("--pack-destination").arg(results))?;
    files::the_only(results, "tgz")
}

/// Builds the package and the page. Returns their folders.
fn build() -> Result<(PathBuf, PathBuf)> {
    let (filter, song) = (module(FILTER)?, module(SONG)?);
    let package = npm_package(&filter)?;
    let page = target()?.join("web");
    files::remove(&page)?;
    files::copy(&root().join("bindings/web/page"), &page)?;
    files::copy(&package, &page.join(NPM))?;
    files::copy(&song, &page.join("song.wasm"))?;
    run(manual().arg(&page))?;
    let programs = if has_songs() {
        "with-programs"
    } else {
        println!("The page has the demo tune only: its other songs need {SONGS}.");
        "without"
    };
    run(kit("page").arg(&page).arg(programs))?;
    Ok((package, page))
}

/// Returns whether the Debian packages for songs are installed. Installs them first, if the user is root.
fn has_songs() -> bool {
    debian::is_here()
        && (debian::missing(SONGS).is_empty()
            || debian::is_root() && debian::install(SONGS).is_ok())
}

/// Builds the WebAssembly module of the crate `package` and returns its path.
fn module(package: &str) -> Result<PathBuf> {
    let mut cargo = cargo(&format!("build --release --locked -p {package} --target {TARGET}"));
    for setting in SMALL {
        cargo.args(["--config", setting]);
    }
    let mut folder = target()?;
    let packages = [foreign::PACKAGES, LINKER].join(" ");
    // A standard library built from source makes the module smaller.
    if debian::missing(&packages).is_empty() || !has_target()? {
        let remedy = format!("run `rustup target add {TARGET}`");
        ensure!(
            debian::is_here(),
            Unavailable(format!("the compiler cannot build for browsers yet: {remedy}"))
        );
        debian::install(&packages)?;
        folder.push("foreign");
        foreign::from_source(&mut cargo, TARGET, "panic_abort", &folder);
        cargo.args(["--config", SILENT]);
        // This slows down only formatting, sorting and the like: audio processing does not use the standard library.
        cargo.env("CARGO_UNSTABLE_BUILD_STD_FEATURES", "optimize_for_size");
        cargo.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", "wasm-ld");
    }
    run(&mut cargo)?;
    Ok(folder.join(TARGET).join("release").join(package.replace('-', "_")).with_extension("wasm"))
}

/// Returns whether the compiler has a precompiled standard library for [`TARGET`].
fn has_target() -> Result<bool> {
    let mut rustc = Command::new("rustc");
    let folder = output(rustc.args(["--print=target-libdir", "--target", TARGET]))?;
    Ok(Path::new(&folder).is_dir())
}
