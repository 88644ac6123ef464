//! Several presets in one run, and outputs named after presets and inputs.

use crate::{
    Folder,
    batch::{names, samples, tree},
};

/// Returns the output for `in/a.wav` with `preset`.
fn single(folder: &Folder, preset: &str) -> Vec<u8> {
    folder.run(&format!("render in/a.wav -o single.wav --force --preset {preset}"));
    folder.bytes("single.wav")
}

#[test]
fn each_preset_makes_what_it_makes_alone() {
    let folder = samples();
    folder.run("render in/a.wav in/b.WAV -o out/{name}-{preset}.wav --preset organ,arcade");
    let out = tree(&folder, "out");
    assert_eq!(names(&out), ["a-arcade.wav", "a-organ.wav", "b-arcade.wav", "b-organ.wav"]);
    for preset in ["organ", "arcade"] {
        let file = std::path::PathBuf::from(format!("a-{preset}.wav"));
        assert!(out[&file] == single(&folder, preset), "{preset}");
    }
    folder.run("render in/drums -o by/{preset} --preset organ,arcade");
    let by = names(&tree(&folder, "by"));
    let expected = ["arcade", "organ"]
        .map(|preset| [format!("{preset}/deep/snare.wav"), format!("{preset}/kick.wav")]);
    assert_eq!(by, expected.as_flattened());
    folder.run("render in/a.wav --suffix -{preset} --preset organ,arcade");
    assert!(folder.path("in/a-organ.wav").exists() && folder.path("in/a-arcade.wav").exists());
}

#[test]
fn outputs_of_several_presets_are_no_inputs() {
    for flags in [
        "in --suffix -{preset}",
        "in -o in --suffix -{preset}",
        "in -o in/by/{name}-{preset}.wav",
        "in -o in/{preset}",
        "in/*.wav -o in/{name}-{preset}.wav",
        "in/**/*.wav -o in/by/{preset}/",
    ] {
        let folder = Folder::with(&crate::silence());
        folder.put("in/a.wav", &crate::silence());
        let line = format!("render {flags} --preset organ,arcade");
        let mut made = vec![];
        for again in ["", "--skip-existing", "--force"] {
            let planned = folder.command(&format!("{line} {again} --dry-run")).output().unwrap();
            assert!(planned.status.success(), "{line} {again}");
            let jobs = if again == "--skip-existing" { 0 } else { 2 };
            assert_eq!(crate::text(planned.stdout).lines().count(), jobs, "{line} {again}");
            folder.run(&format!("{line} {again}"));
            let there = names(&tree(&folder, "in"));
            assert_eq!(there.len(), 3, "{line} {again}: {there:?}");
            assert!(made.is_empty() || made == there, "{line} {again}: {there:?}");
            made = there;
        }
    }
}

#[test]
fn one_preset_and_none_have_names_too() {
    let folder = samples();
    folder.run("render in/a.wav -o {name}-{preset}.wav");
    folder.run("render in/a.wav -o {name}-{preset}.wav --preset organ");
    folder.run("presets export organ own.json");
    folder.run("render in/a.wav -o {name}-{preset}.wav --preset own.json");
    for name in ["a-tone-filter.wav", "a-organ.wav", "a-own.wav"] {
        assert!(folder.path(name).exists(), "{name}");
    }
}
