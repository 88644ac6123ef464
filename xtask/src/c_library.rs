//! `cargo xtask install-c`: installs the C library, its header and its pkg-config file.

use crate::{
    commands::{cargo, run, target, version_of},
    files,
};
use anyhow::{Result, ensure};
use std::{fs, path::Path};

/// Template of the pkg-config file. Its paths are relative, so the installation can be moved. The private libraries are the
/// dependencies of Rust's standard library, as listed by `rustc --print native-static-libs`.
const PKG_CONFIG: &str = include_str!("../package/tone_filter.pc");

/// Builds the library and installs it below `folder`, creating the folder if needed.
pub fn install(folder: &Path) -> Result<()> {
    ensure!(
        cfg!(target_os = "linux"),
        "this verb is for Linux; elsewhere, cargo-c does the same: \
         `cargo cinstall -p tone-filter-capi --release --prefix=…`"
    );
    run(cargo("build --release --package=tone-filter-capi"))?;
    let (built, lib) = (target()?.join("release"), folder.join("lib"));
    let copy = |from: &Path, to: &Path| {
        // Removed first, so that running programs keep the old file.
        files::remove(to)?;
        files::copy(from, to)
    };
    for extension in ["so", "a"] {
        let name = |stem: &str| format!("lib{stem}.{extension}");
        copy(&built.join(name("tone_filter_capi")), &lib.join(name("tone_filter")))?;
    }
    let header = std::path::absolute(folder.join("include/tone_filter.h"))?;
    let mut write = cargo("run --package=tone-filter-capi --features=header --bin=c_header --");
    run(write.arg(header))?;
    fs::create_dir_all(lib.join("pkgconfig"))?;
    let description = PKG_CONFIG.replace("VERSION", &version_of("tone-filter-capi")?);
    fs::write(lib.join("pkgconfig/tone_filter.pc"), description)?;
    println!("installed below {}", folder.display());
    Ok(())
}
