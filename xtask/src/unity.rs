//! `cargo xtask unity-package`: makes the package for Unity's Package Manager.
//!
//! `bindings/unity/package` has Unity's `.meta` files, which assign an id to each file of the package. Scenes and scripts refer
//! to the ids, so an id must never change. Unity ignores a file without an id.

use crate::{
    commands::{cargo, profile, root, run, target, version},
    files,
};
use anyhow::{Context, Result};
use std::{env::consts, fs, path::PathBuf};

/// Files of the package that are elsewhere in the repository.
const ELSEWHERE: [(&str, &str); 5] = [
    ("README.md", "bindings/unity/README.md"),
    ("CHANGELOG.md", "CHANGELOG.md"),
    ("LICENSE-MIT", "LICENSE-MIT"),
    ("LICENSE-APACHE", "LICENSE-APACHE"),
    ("Runtime/ToneFilter.cs", "bindings/unity/ToneFilter.cs"),
];

/// Library for a system: the system's name in Rust's target triples, and the file name.
type Library = (&'static str, &'static str);

const LIBRARIES: [Library; 2] =
    [("linux", "libAudioPluginToneFilter.so"), ("windows", "AudioPluginToneFilter.dll")];

/// Builds the library and packs it into `target/package`. Returns the package's path.
///
/// `args` are options of `cargo build`. With several `--target`, the package has the libraries of several systems.
pub fn package(args: &[String]) -> Result<PathBuf> {
    let targets = args.windows(2).filter(|pair| pair[0] == "--target").map(|pair| pair[1].clone());
    let mut targets: Vec<_> = targets.collect();
    let mut folders = vec![target()?];
    if targets.is_empty() {
        targets.push(format!("{}-{}", consts::ARCH, consts::OS));
    } else {
        folders = targets.iter().map(|target| folders[0].join(target)).collect();
    }
    let libraries = targets.iter().map(|target| library(target)).collect::<Result<Vec<_>>>()?;
    run(cargo("build --locked --package=tone-filter-unity").args(args))?;

    let folder = target()?.join("package");
    // Package archives must have this folder at the top.
    let package = folder.join("unity/package");
    files::remove(&folder.join("unity"))?;
    files::copy(&root().join("bindings/unity/package"), &package)?;
    for (name, source) in ELSEWHERE {
        files::copy(&root().join(source), &package.join(name))?;
    }
    let mut lists =
        cargo("run --locked --package=tone-filter-unity --features=lists --bin=unity_lists --");
    run(lists.arg(package.join("Runtime/ToneFilterLists.cs")))?;
    let plugins = package.join("Plugins/x86_64");
    for (_, library) in LIBRARIES.iter().filter(|library| !libraries.contains(library)) {
        fs::remove_file(plugins.join(format!("{library}.meta")))?;
    }
    for ((_, library), built) in libraries.iter().zip(folders) {
        files::copy_into(&built.join(profile(args)).join(library), &plugins)?;
    }
    let systems: Vec<_> = libraries.iter().map(|(system, _)| *system).collect();
    let out = folder.join(format!("tone-filter-unity-{}-{}.tgz", version()?, systems.join("-")));
    files::tar(&package, &out)?;
    println!("{}", out.display());
    Ok(out)
}

fn library(target: &str) -> Result<Library> {
    let library = LIBRARIES.into_iter().find(|(system, _)| target.contains(system));
    library.filter(|_| target.starts_with("x86_64")).with_context(|| {
        format!(
            "the package for Unity has libraries for Linux and Windows on x86-64, not for {target}"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::library;

    #[test]
    fn systems_without_a_library_are_refused_by_name() {
        assert_eq!(library("x86_64-pc-windows-gnu").unwrap().1, "AudioPluginToneFilter.dll");
        assert_eq!(library("x86_64-unknown-linux-gnu").unwrap().1, "libAudioPluginToneFilter.so");
        for other in ["aarch64-apple-darwin", "aarch64-unknown-linux-gnu", "x86_64-apple-darwin"] {
            assert!(library(other).unwrap_err().to_string().contains(other));
        }
    }
}
