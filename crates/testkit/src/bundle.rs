//! Plugin bundles from the last `cargo xtask bundle` or `cargo xtask test`. If a bundle is missing, or older than its sources,
//! the error names the command that builds it.

use crate::target;
use anyhow::{Result, ensure};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// Returns the path of the CLAP bundle, or an error if it is missing or outdated.
pub fn clap() -> Result<PathBuf> {
    built("clap")
}

/// Returns the path of the VST3 bundle, or an error if it is missing or outdated.
pub fn vst3() -> Result<PathBuf> {
    built("vst3")
}

fn built(extension: &str) -> Result<PathBuf> {
    let folder = target().join("bundled");
    let path = folder.join("Tone Filter").with_extension(extension);
    let remedy = "run `cargo xtask bundle` first, or `cargo xtask test`, which does all";
    ensure!(path.exists(), "{} is missing: {remedy}", path.display());
    // An outdated bundle is an error, so that tests never run with an old plugin.
    let is_fresh = is_fresh(&folder.join(".bundled"));
    ensure!(is_fresh, "{} is older than the sources: {remedy}", path.display());
    Ok(path)
}

/// Returns whether a bundle is newer than its sources. `stamp` is the list of the sources, written with the bundle. A missing
/// or empty list counts as outdated.
fn is_fresh(stamp: &Path) -> bool {
    let modified = |path: &Path| fs::metadata(path).and_then(|metadata| metadata.modified());
    let (Ok(inputs), Ok(built)) = (fs::read_to_string(stamp), modified(stamp)) else {
        return false;
    };
    let unchanged = |path: &str| modified(path.as_ref()).is_ok_and(|changed| changed <= built);
    !inputs.is_empty() && inputs.lines().all(unchanged)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, SystemTime};

    #[test]
    fn a_bundle_is_outdated_once_an_input_changes() {
        let folder = tempfile::tempdir().unwrap();
        let [stamp, one, two] = ["stamp", "one", "with blank"].map(|name| folder.path().join(name));
        fs::write(&stamp, format!("{}\n{}\n", one.display(), two.display())).unwrap();
        let built = SystemTime::now();
        let touch = |path: &Path, time| {
            let file = fs::File::options().create(true).append(true).open(path).unwrap();
            file.set_modified(time).unwrap();
        };
        touch(&stamp, built);
        assert!(!is_fresh(&stamp), "inputs are missing");
        let (before, after) = (built - Duration::from_secs(1), built + Duration::from_secs(1));
        [&one, &two].iter().for_each(|input| touch(input, before));
        assert!(is_fresh(&stamp));
        for input in [&one, &two] {
            touch(input, after);
            assert!(!is_fresh(&stamp), "{}", input.display());
            touch(input, before);
        }
        fs::write(&stamp, "").unwrap();
        assert!(!is_fresh(&stamp), "nothing is listed");
    }
}
