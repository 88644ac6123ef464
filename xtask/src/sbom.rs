//! The software bill of materials of what is released: every crate that is built into it, as CycloneDX.

use crate::root;
use anyhow::{Context, Result};
use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Node, Package, PackageId};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// The packages that are released, with the features that they have there.
const RELEASED: [&str; 3] = ["tone-filter", "tone-filter-cli", "tone-filter-unity"];
const FEATURES: &str = "tone-filter-cli/app";

/// Writes the bill of what is built for `triple` to `path`, and gives `path`.
///
/// # Errors
/// When cargo does not know the packages, or the file cannot be written.
pub fn write(triple: &str, path: PathBuf) -> Result<PathBuf> {
    let options = ["--locked", "--filter-platform", triple].map(str::to_owned);
    let mut command = MetadataCommand::new();
    command.manifest_path(root().join("Cargo.toml")).other_options(options);
    let features = cargo_metadata::CargoOpt::SomeFeatures(vec![FEATURES.to_owned()]);
    let bill = bill(&command.features(features).exec()?, triple)?;
    fs::create_dir_all(path.parent().context("the file has a folder")?)?;
    fs::write(&path, format!("{bill:#}\n"))?;
    Ok(path)
}

/// The bill for the packages of [`RELEASED`].
fn bill(metadata: &Metadata, triple: &str) -> Result<Value> {
    let nodes = &metadata.resolve.as_ref().context("cargo has resolved the packages")?.nodes;
    let nodes: BTreeMap<&PackageId, &Node> = nodes.iter().map(|node| (&node.id, node)).collect();
    let is_released = |package: &&Package| RELEASED.contains(&package.name.as_str());
    let mut left: Vec<&PackageId> =
        metadata.packages.iter().filter(is_released).map(|package| &package.id).collect();
    let mut built = BTreeSet::new();
    while let Some(id) = left.pop() {
        if built.insert(id) {
            left.extend(needs(nodes[id]));
        }
    }
    let packages: BTreeMap<&PackageId, &Package> =
        metadata.packages.iter().map(|package| (&package.id, package)).collect();
    let reference = |id: &PackageId| purl(packages[id]);
    let components = built.iter().map(|id| component(packages[*id])).collect::<Vec<_>>();
    let dependencies = built.iter().map(|id| {
        let on: BTreeSet<String> = needs(nodes[*id]).map(reference).collect();
        json!({ "ref": reference(id), "dependsOn": on })
    });
    let root = metadata.root_package().context("the workspace has a package")?;
    Ok(json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": "tone-filter-release",
                "name": root.name.as_str(),
                "version": root.version.to_string(),
                "properties": [{ "name": "cargo:target", "value": triple }],
            },
        },
        "components": components,
        "dependencies": dependencies.collect::<Vec<_>>(),
    }))
}

/// What is built into or with a package; what its tests need is not.
fn needs(node: &Node) -> impl Iterator<Item = &PackageId> {
    let is_built = |kind: &cargo_metadata::DepKindInfo| kind.kind != DependencyKind::Development;
    let deps = node.deps.iter().filter(move |dep| dep.dep_kinds.iter().any(is_built));
    deps.map(|dep| &dep.pkg)
}

fn component(package: &Package) -> Value {
    let mut component = json!({
        "type": "library",
        "bom-ref": purl(package),
        "name": package.name.as_str(),
        "version": package.version.to_string(),
        "purl": purl(package),
    });
    if let Some(licence) = &package.license {
        // Before there were expressions, a slash was an OR.
        let expression = licence.replace('/', " OR ");
        component["licenses"] = json!([{ "expression": expression }]);
    }
    component
}

/// The package's name in all registries.
fn purl(package: &Package) -> String {
    format!("pkg:cargo/{}@{}", package.name, package.version)
}

/// Writes the SHA-256 sums of `files`, which lie in `folder`, to `SHA256SUMS` there, as `sha256sum --check` reads them.
///
/// # Errors
/// When a file cannot be read, or the sums cannot be written.
pub fn write_sums(folder: &Path, files: &[PathBuf]) -> Result<()> {
    let mut sums = String::new();
    for file in files {
        let name = file.strip_prefix(folder).context("packages lie in one folder")?;
        sums += &format!("{}  {}\n", sha256(file)?, name.display());
    }
    Ok(fs::write(folder.join("SHA256SUMS"), sums)?)
}

fn sha256(file: &Path) -> Result<String> {
    use sha2::{Digest, Sha256};
    let bytes = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    Ok(Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_of_the_standard() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("abc.zip");
        fs::write(&file, "abc").unwrap();
        write_sums(folder.path(), &[file]).unwrap();
        // FIPS 180-4's example.
        let expected =
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  abc.zip\n";
        assert_eq!(fs::read_to_string(folder.path().join("SHA256SUMS")).unwrap(), expected);
    }

    #[test]
    fn the_bill_names_what_is_built_and_nothing_that_only_tests_need() {
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
