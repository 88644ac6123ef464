//! `cargo xtask install`: installs the plugin where the user's hosts look for it.

use crate::bundle;
#[cfg(target_os = "linux")]
use crate::lv2;
use anyhow::{Context, Result};
use std::{
    env, fs,
    path::{Path, PathBuf},
};

/// Builds the plugin, and copies the bundles into the user's own plugin folders.
pub fn install() -> Result<()> {
    bundle::bundle_release()?;
    let bundles =
        [(bundle::built("clap")?, folder("CLAP")?), (bundle::built("vst3")?, folder("VST3")?)];
    #[cfg(target_os = "linux")]
    let bundles =
        bundles.into_iter().chain([(lv2::bundle(&["--release".to_owned()])?, folder("LV2")?)]);
    for (bundle, folder) in bundles {
        let installed = replace(&bundle, &folder)?;
        println!("Installed {}", installed.display());
    }
    println!("Now let your host scan for plugins; the effect is called \"Tone Filter\".");
    Ok(())
}

/// Returns the folder where hosts look for the user's own plugins of a format.
fn folder(format: &str) -> Result<PathBuf> {
    let from = |variable| env::var_os(variable).with_context(|| format!("${variable} is not set"));
    Ok(if cfg!(windows) {
        Path::new(&from("LOCALAPPDATA")?).join("Programs/Common").join(format)
    } else if cfg!(target_os = "macos") {
        Path::new(&from("HOME")?).join("Library/Audio/Plug-Ins").join(format)
    } else {
        Path::new(&from("HOME")?).join(format!(".{}", format.to_lowercase()))
    })
}

/// Installs `bundle` into `folder` and returns its new path. An older bundle is replaced atomically: the new one is copied under
/// another name, then renamed.
fn replace(bundle: &Path, folder: &Path) -> Result<PathBuf> {
    let name = bundle.file_name().context("a bundle has a name")?;
    let aside = |suffix: &str| {
        let mut name = name.to_owned();
        name.push(suffix);
        folder.join(name)
    };
    let (target, new, old) = (folder.join(name), aside(".new"), aside(".old"));
    let install = || -> std::io::Result<()> {
        fs::create_dir_all(folder)?;
        remove(&new)?;
        remove(&old)?;
        copy(bundle, &new)?;
        if target.exists() {
            fs::rename(&target, &old)?;
        }
        fs::rename(&new, &target).inspect_err(|_| drop(fs::rename(&old, &target)))?;
        remove(&old)
    };
    install().with_context(|| format!("cannot install into {}", folder.display()))?;
    Ok(target)
}

/// Removes a file or a folder, if it exists.
pub fn remove(path: &Path) -> std::io::Result<()> {
    match fs::symlink_metadata(path) {
        Err(_) => Ok(()),
        Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
    }
}

pub fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    if !from.is_dir() {
        return fs::copy(from, to).map(drop);
    }
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        copy(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bundle_replaces_the_older_one_and_leaves_nothing_else_behind() {
        let place = tempfile::tempdir().unwrap();
        let (bundle, folder) = (place.path().join("A.vst3"), place.path().join("plugins"));
        fs::create_dir_all(bundle.join("Contents/x86_64-linux")).unwrap();
        fs::write(bundle.join("Contents/x86_64-linux/A.so"), "new").unwrap();
        fs::create_dir_all(folder.join("A.vst3/Contents")).unwrap();
        fs::write(folder.join("A.vst3/Contents/stale"), "old").unwrap();
        // Files of an interrupted installation.
        fs::create_dir_all(folder.join("A.vst3.new")).unwrap();
        fs::write(folder.join("A.vst3.old"), "older").unwrap();

        let installed = replace(&bundle, &folder).unwrap();
        assert_eq!(installed, folder.join("A.vst3"));
        let library = fs::read_to_string(installed.join("Contents/x86_64-linux/A.so")).unwrap();
        assert_eq!(library, "new");
        assert!(!installed.join("Contents/stale").exists());
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    }

    #[test]
    fn a_single_file_is_installed_into_a_folder_that_did_not_exist() {
        let place = tempfile::tempdir().unwrap();
        let bundle = place.path().join("A.clap");
        fs::write(&bundle, "new").unwrap();
        let installed = replace(&bundle, &place.path().join("some/plugins")).unwrap();
        assert_eq!(fs::read_to_string(installed).unwrap(), "new");
    }

    #[test]
    fn a_missing_bundle_leaves_the_installed_one_unchanged() {
        let place = tempfile::tempdir().unwrap();
        fs::write(place.path().join("A.clap"), "old").unwrap();
        let missing = place.path().join("elsewhere/A.clap");
        let error = replace(&missing, place.path()).unwrap_err();
        assert!(error.to_string().contains("cannot install into"), "{error}");
        assert_eq!(fs::read_to_string(place.path().join("A.clap")).unwrap(), "old");
    }
}
