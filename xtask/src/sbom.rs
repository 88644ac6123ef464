//! Software bill of materials of a release in CycloneDX format, with all crates of its build. Also checksums of the downloads.

use crate::{
    commands::{metadata, output},
    python::PYTHON,
};
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Packages of a release, which are built with [`FEATURES`].
const RELEASED: [&str; 6] = [
    "tone-filter",
    "tone-filter-cli",
    "tone-filter-lv2",
    "tone-filter-python",
    "tone-filter-unity",
    "tone-filter-web",
];
const FEATURES: &str = "--features=tone-filter-cli/app";

/// Python program that prints the SHA-256 sums of files, in the format of `sha256sum --check`.
const SUMS: &str = "
import hashlib, os, sys
for path in sys.argv[1:]:
    print(hashlib.sha256(open(path, 'rb').read()).hexdigest(), '', os.path.basename(path))
";

/// Writes the bill of materials of a release for `triple` to `path`. Returns `path`.
pub fn write(triple: &str, path: PathBuf) -> Result<PathBuf> {
    let metadata = metadata(&["--locked", "--filter-platform", triple, FEATURES])?;
    let bill = bill(&metadata, triple)?;
    fs::create_dir_all(path.parent().context("the file has a folder")?)?;
    fs::write(&path, format!("{bill:#}\n"))?;
    Ok(path)
}

fn bill(metadata: &Value, triple: &str) -> Result<Value> {
    let nodes = by_id(&metadata["resolve"]["nodes"]);
    let packages = by_id(&metadata["packages"]);
    let is_released = |package: &Value| RELEASED.contains(&text(&package["name"]));
    let released = packages.iter().filter(|(_, package)| is_released(package));
    let mut to_visit: Vec<&str> = released.map(|(id, _)| *id).collect();
    ensure!(to_visit.len() == RELEASED.len(), "packages are missing");
    let mut built = BTreeSet::new();
    while let Some(id) = to_visit.pop() {
        if built.insert(id) {
            to_visit.extend(needs(nodes[id]));
        }
    }
    let components: Vec<_> = built.iter().map(|id| component(packages[id])).collect();
    let dependencies = built.iter().map(|id| {
        let on: BTreeSet<String> = needs(nodes[id]).map(|id| purl(packages[id])).collect();
        json!({ "ref": purl(packages[id]), "dependsOn": on })
    });
    let root = packages.values().find(|package| package["name"] == RELEASED[0]);
    let root = root.context("the workspace has a package")?;
    Ok(json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": "tone-filter-release",
                "name": root["name"],
                "version": root["version"],
                "properties": [{ "name": "cargo:target", "value": triple }],
            },
        },
        "components": components,
        "dependencies": dependencies.collect::<Vec<_>>(),
    }))
}

fn by_id(list: &Value) -> BTreeMap<&str, &Value> {
    list.as_array().into_iter().flatten().map(|entry| (text(&entry["id"]), entry)).collect()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Returns the ids of a package's dependencies, including build dependencies, without dev-dependencies.
fn needs(node: &Value) -> impl Iterator<Item = &str> {
    let deps = node["deps"].as_array().into_iter().flatten();
    let is_built = |dep: &&Value| {
        dep["dep_kinds"].as_array().into_iter().flatten().any(|kind| kind["kind"] != "dev")
    };
    deps.filter(is_built).map(|dep| text(&dep["pkg"]))
}

fn component(package: &Value) -> Value {
    let mut component = json!({
        "type": "library",
        "bom-ref": purl(package),
        "name": package["name"],
        "version": package["version"],
        "purl": purl(package),
    });
    if let Some(licence) = package["license"].as_str() {
        // Older manifests use a slash for OR.
        let expression = licence.replace('/', " OR ");
        component["licenses"] = json!([{ "expression": expression }]);
    }
    component
}

fn purl(package: &Value) -> String {
    format!("pkg:cargo/{}@{}", text(&package["name"]), text(&package["version"]))
}

/// Writes the SHA-256 sums of `files`, which must be in `folder`, to `SHA256SUMS` there, for `sha256sum --check`.
pub fn write_sums(folder: &Path, files: &[PathBuf]) -> Result<()> {
    ensure!(files.iter().all(|file| file.parent() == Some(folder)), "packages lie in one folder");
    let sums = output(Command::new(PYTHON).args(["-c", SUMS]).args(files))?;
    Ok(fs::write(folder.join("SHA256SUMS"), sums.replace("\r\n", "\n") + "\n")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bill_has_all_built_crates_and_no_others() {
        let folder = tempfile::tempdir().unwrap();
        let path = write("x86_64-unknown-linux-gnu", folder.path().join("bill.json")).unwrap();
        let bill: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
        let components = bill["components"].as_array().unwrap();
        let has = |name: &str| components.iter().any(|component| component["name"] == name);
        for built in ["tone-filter-dsp", "nice-plug", "symphonia", "cpal", "jack", "accesskit_unix"]
        {
            assert!(has(built), "{built}");
        }
        for other in ["proptest", "hound", "accesskit_windows", "kira", "xtask"] {
            assert!(!has(other), "{other}");
        }
        let references: BTreeSet<&str> =
            components.iter().filter_map(|component| component["bom-ref"].as_str()).collect();
        assert_eq!(references.len(), components.len(), "each has a name of its own");
        for dependency in bill["dependencies"].as_array().unwrap() {
            for on in dependency["dependsOn"].as_array().unwrap() {
                assert!(references.contains(on.as_str().unwrap()), "{dependency}");
            }
        }
    }
}
