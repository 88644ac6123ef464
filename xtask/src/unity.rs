//! `cargo xtask unity-package`: makes the package for Unity's Package Manager.

use crate::{install, pack, root, run, target};
use anyhow::{Context, Result, ensure};
use std::{
    env::consts,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Name by which Unity projects refer to the package.
const NAME: &str = "com.tone-filter.effect";

/// Files and folders of the package other than libraries: path, source (empty if generated), id, and Unity's importer. Scenes and
/// scripts refer to the ids, so they must never change. Unity ignores files without an id.
const FILES: [(&str, &str, &str, &str); 8] = [
    (
        "README.md",
        "bindings/unity/README.md",
        "2d6b8f0c5f1e4c8c9a39b6a4a5d7c1f2",
        "TextScriptImporter",
    ),
    ("CHANGELOG.md", "CHANGELOG.md", "8f5a3f1b64a94a0fb7a9c02e4c8d51ab", "TextScriptImporter"),
    ("LICENSE-MIT", "LICENSE-MIT", "5c0e9d1b7d5b4d06a6a3f6c8e2b94d73", "DefaultImporter"),
    ("LICENSE-APACHE", "LICENSE-APACHE", "b1c7e4a2690f4b5d8e3d2f7a1c6b5e98", "DefaultImporter"),
    ("package.json", "", "e3a6d94b0c8247f5b2f1c5d7a8e0639c", "PackageManifestImporter"),
    ("Runtime", "", "7a4d0b6e3f9c4c18a5e2d8b7c1f60a35", "DefaultImporter"),
    (
        "Runtime/ToneFilter.cs",
        "bindings/unity/ToneFilter.cs",
        "c9e1f57a2b6d4830b7d4a0e6f3c8125b",
        "MonoImporter",
    ),
    (
        "Runtime/ToneFilterUnity.asmdef",
        "",
        "4f8b2c6d1e7a495ca0d3b9f5e6c7184d",
        "AssemblyDefinitionImporter",
    ),
];

/// Folders of the libraries, and their ids.
const FOLDERS: [(&str, &str); 2] = [
    ("Plugins", "96c3a1d5e8f74b20b6a9d7c4e5f3182a"),
    ("Plugins/x86_64", "d0b7f4e9c2a64d53a8e1f6b3c5d7920e"),
];

/// System for which the package can have a library: its name in Rust's targets, and its properties in Unity.
struct System {
    target: &'static str,
    library: &'static str,
    id: &'static str,
    editor: &'static str,
    player: &'static str,
}

const SYSTEMS: [System; 2] = [
    System {
        target: "linux",
        library: "libAudioPluginToneFilter.so",
        id: "1b5e8c7f4a2d4f96b3c0d8e7a6f5912c",
        editor: "Linux",
        player: "Linux64",
    },
    System {
        target: "windows",
        library: "AudioPluginToneFilter.dll",
        id: "a7d2c9e5f8b14e60928d6c3b5f7e0a41",
        editor: "Windows",
        player: "Win64",
    },
];

/// Builds the library with `args`, the options of `cargo build`, and packs it into `target/package`. Several `--target` in `args`
/// give one package with the libraries of several systems. Returns the package's path.
pub fn package(args: &[String]) -> Result<PathBuf> {
    let targets: Vec<_> = args.windows(2).filter(|pair| pair[0] == "--target").collect();
    let mut names: Vec<_> = targets.iter().map(|pair| pair[1].clone()).collect();
    if names.is_empty() {
        names.push(format!("{}-{}", consts::ARCH, consts::OS));
    }
    let systems = names.iter().map(|name| system(name)).collect::<Result<Vec<_>>>()?;
    let build = ["build", "--locked", "--package=tone-filter-unity"];
    run(Command::new("cargo").args(build).args(args))?;
    let profile = if args.iter().any(|arg| arg == "--release") { "release" } else { "debug" };
    let mut libraries = Vec::new();
    for (system, name) in systems.into_iter().zip(names) {
        let folder = if targets.is_empty() { target()? } else { target()?.join(name) };
        libraries.push((system, folder.join(profile).join(system.library)));
    }
    pack(&libraries, &target()?.join("package"))
}

/// Returns the system of a Rust target.
fn system(target: &str) -> Result<&'static System> {
    let system = SYSTEMS.iter().find(|system| target.contains(system.target));
    let system = system.filter(|_| target.starts_with("x86_64"));
    system.with_context(|| {
        format!(
            "the package for Unity has libraries for Linux and Windows on x86-64, not for {target}"
        )
    })
}

/// Packs `libraries` and all other files into `folder`. Returns the package's path.
fn pack(libraries: &[(&System, PathBuf)], folder: &Path) -> Result<PathBuf> {
    let version = pack::version()?;
    // Package archives must have this folder at the top.
    let files = folder.join("unity/package");
    install::remove(&folder.join("unity"))?;
    for (name, id) in FOLDERS {
        fs::create_dir_all(files.join(name))?;
        write_meta(&files.join(name), id, "DefaultImporter", "")?;
    }
    for (name, source, id, importer) in FILES {
        let path = files.join(name);
        match (name, source) {
            ("package.json", _) => fs::write(&path, manifest(&version))?,
            ("Runtime/ToneFilterUnity.asmdef", _) => fs::write(&path, ASSEMBLY)?,
            (_, "") => fs::create_dir_all(&path)?,
            _ => install::copy(&root().join(source), &path)
                .with_context(|| format!("cannot copy {source}"))?,
        }
        write_meta(&path, id, importer, "")?;
    }
    for (system, library) in libraries {
        let path = files.join("Plugins/x86_64").join(system.library);
        install::copy(library, &path)
            .with_context(|| format!("cannot copy {}", library.display()))?;
        write_meta(&path, system.id, "PluginImporter", &system.settings())?;
    }
    let systems: Vec<_> = libraries.iter().map(|(system, _)| system.target).collect();
    ensure!(!systems.is_empty(), "a package for Unity has a library");
    let out = folder.join(format!("tone-filter-unity-{version}-{}.tgz", systems.join("-")));
    run(Command::new("tar")
        .arg("-czf")
        .arg(&out)
        .arg("-C")
        .arg(folder.join("unity"))
        .arg("package"))?;
    println!("{}", out.display());
    Ok(out)
}

/// Returns the package's description for the Package Manager.
fn manifest(version: &str) -> String {
    format!(
        r#"{{
  "name": "{NAME}",
  "version": "{version}",
  "displayName": "Tone Filter",
  "description": "Gives any music an 8-bit edge: an effect for audio mixers that finds the notes that are playing and plays them as square waves.",
  "unity": "2021.3",
  "keywords": ["audio", "mixer", "effect", "8-bit", "chiptune"],
  "license": "MIT OR Apache-2.0"
}}
"#
    )
}

/// Assembly definition: the script becomes a library that all scripts of a project can use.
const ASSEMBLY: &str = r#"{
  "name": "ToneFilterUnity",
  "autoReferenced": true
}
"#;

/// Writes the `.meta` file beside a file or folder, which tells Unity its id and importer.
fn write_meta(path: &Path, id: &str, importer: &str, settings: &str) -> Result<()> {
    let folder = if path.is_dir() { "folderAsset: yes\n" } else { "" };
    let text = format!(
        "fileFormatVersion: 2\nguid: {id}\n{folder}{importer}:\n  externalObjects: {{}}\n{settings}  userData: \n  \
         assetBundleName: \n  assetBundleVariant: \n"
    );
    let mut name = path.as_os_str().to_owned();
    name.push(".meta");
    Ok(fs::write(&name, text)?)
}

impl System {
    /// Returns the import settings of a library: loaded at startup, only in the editor and in games of its system.
    fn settings(&self) -> String {
        let mut text = "  serializedVersion: 2\n  iconMap: {}\n  executionOrder: {}\n  defineConstraints: []\n  \
                        isPreloaded: 1\n  isOverridable: 0\n  isExplicitlyReferenced: 0\n  validateReferences: 1\n  platformData:\n"
            .to_owned();
        let mut platform = |name: &str, enabled: bool, settings: &[(&str, &str)]| {
            let list = settings.iter().map(|(key, value)| format!("        {key}: {value}\n"));
            let list: String = list.collect();
            let list = if list.is_empty() { " {}\n".to_owned() } else { format!("\n{list}") };
            text += &format!(
                "  - first:\n      {name}\n    second:\n      enabled: {}\n      settings:{list}",
                u8::from(enabled)
            );
        };
        platform("Any:", false, &[]);
        let editor = [("CPU", "x86_64"), ("DefaultValueInitialized", "true"), ("OS", self.editor)];
        platform("Editor: Editor", true, &editor);
        for player in ["Linux64", "OSXUniversal", "Win", "Win64"] {
            let own = player == self.player;
            let cpu = [("CPU", if own { "x86_64" } else { "None" })];
            platform(&format!("Standalone: {player}"), own, &cpu);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_id_is_one_of_unity_s_and_there_once() {
        let ids = FILES.iter().map(|(_, _, id, _)| *id).chain(FOLDERS.iter().map(|(_, id)| *id));
        let ids: Vec<_> = ids.chain(SYSTEMS.iter().map(|system| system.id)).collect();
        let hexadecimal = |c: u8| c.is_ascii_digit() || (b'a'..=b'f').contains(&c);
        assert!(ids.iter().all(|id| id.len() == 32 && id.bytes().all(hexadecimal)));
        assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len());
    }

    #[test]
    fn systems_without_a_library_are_refused_by_name() {
        assert_eq!(system("x86_64-pc-windows-gnu").unwrap().player, "Win64");
        assert_eq!(system("x86_64-unknown-linux-gnu").unwrap().player, "Linux64");
        for other in ["aarch64-apple-darwin", "aarch64-unknown-linux-gnu", "x86_64-apple-darwin"] {
            assert!(system(other).err().unwrap().to_string().contains(other));
        }
    }
}
