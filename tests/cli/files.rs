//! Which files are written, and which are never.

use crate::{Folder, silence};
use std::fs;

#[test]
fn an_output_that_exists_is_overwritten_only_by_force() {
    let folder = Folder::with(&silence().bytes());
    fs::write(folder.path("out.wav"), "precious").unwrap();
    let said = folder.fail("render in.wav -o out.wav", 1);
    assert_eq!(said, "out.wav: already exists; choose another name, or overwrite it with --force");
    folder.run("render in.wav -o out.wav --force");
    assert_eq!(folder.integers("out.wav"), [0; 20]);
    assert_eq!(folder.files().len(), 2, "nothing temporary is left");
}

#[test]
fn a_failure_leaves_an_old_output_alone_even_by_force() {
    let mut bytes = silence().bytes();
    bytes.pop();
    let folder = Folder::with(&bytes);
    fs::write(folder.path("out.wav"), "precious").unwrap();
    folder.fail("render in.wav -o out.wav --force", 1);
    folder.fail("bands in.wav --png out.wav --force", 1);
}

#[test]
fn the_input_is_never_written_over() {
    let folder = Folder::with(&silence().bytes());
    fs::create_dir(folder.path("sub")).unwrap();
    for name in ["in.wav", "./in.wav", "sub/../in.wav"] {
        let said = folder.fail(&format!("render in.wav -o {name} --force"), 1);
        assert!(said.starts_with(&format!("{name}: is the input itself;")), "{said}");
        folder.fail(&format!("bands in.wav --png {name} --force"), 1);
    }
}

#[cfg(unix)]
#[test]
fn links_to_the_input_are_seen_through() {
    let folder = Folder::with(&silence().bytes());
    std::os::unix::fs::symlink("in.wav", folder.path("link.wav")).unwrap();
    let said = folder.fail("render in.wav -o link.wav --force", 1);
    assert!(said.contains("is the input itself"), "{said}");
    let said = folder.fail("render link.wav -o in.wav --force", 1);
    assert!(said.contains("is the input itself"), "{said}");
    fs::hard_link(folder.path("in.wav"), folder.path("hard.wav")).unwrap();
    folder.fail("render in.wav -o hard.wav", 1);
    folder.run("render in.wav -o hard.wav --force --mix 0");
    assert_eq!(
        fs::read(folder.path("in.wav")).unwrap(),
        silence().bytes(),
        "only a name was replaced"
    );
}

#[cfg(unix)]
#[test]
fn outputs_have_the_permissions_of_any_new_file() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::with(&silence().bytes());
    folder.run("render in.wav -o out.wav");
    let mode = |name: &str| fs::metadata(folder.path(name)).unwrap().permissions().mode();
    assert_eq!(mode("out.wav"), mode("in.wav"));
}

#[test]
fn bands_draws_a_picture() {
    let folder = Folder::with(&silence().bytes());
    folder.run("bands in.wav --png bands.png --preset quiet-music");
    let file = std::io::Cursor::new(fs::read(folder.path("bands.png")).unwrap());
    let reader = png::Decoder::new(file).read_info().unwrap();
    assert!(reader.info().width >= 1000 && reader.info().height >= 48 * 12);
    assert_eq!(folder.files().len(), 2, "nothing temporary is left");
}
