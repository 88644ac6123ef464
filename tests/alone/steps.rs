//! Tests of a host's calls to the editor: orders that CLAP allows, and unloading the library right after closing the window.

use crate::display;
use std::{collections::BTreeSet, fs};
use tone_filter_testkit::{
    bundle,
    clap::{GuiStep, Instance, Library},
    display::Display,
    plugin::{instance, settle, threads},
};

/// Makes calls from `create` to `destroy` in orders that CLAP allows.
///
/// Scale and size are set before the parent, after it, or never. An editor with a parent may be shown, and a shown editor may be
/// hidden.
fn allowed_orders(instance: &mut Instance, display: &Display) {
    use GuiStep::{Create, Destroy, Hide, Resize, Scale, Show};
    let before = threads();
    // Closed immediately, while the window's thread is still starting.
    for _ in 0..10 {
        instance.gui(Create).unwrap();
        instance.gui(Destroy).unwrap();
    }
    let parent = GuiStep::Parent(display.window());
    let (scale, size) = (Scale(2.0), Resize([900, 600]));
    let lives: [&[GuiStep]; 11] = [
        &[],
        &[parent],
        &[scale, size],
        &[parent, Show, Hide, Show, Hide],
        &[parent, Show, Resize([480, 300]), Resize([1600, 1200]), Resize([1000, 640]), Hide],
        &[scale, size, parent, Show, Hide],
        &[size, scale, parent, Show, Hide],
        &[scale, parent, size],
        &[size, parent, scale],
        &[parent, scale, size],
        &[parent, size, scale],
    ];
    for steps in lives {
        for step in [Create].iter().chain(steps).chain(&[Destroy]) {
            let result = instance.gui(*step);
            assert!(result.is_ok(), "{step:?} of {steps:?}: {result:?}");
            instance.idle();
        }
        settle(before);
        // Without an editor, these calls return an error.
        assert!(instance.gui(Show).is_err());
        assert!(instance.gui(size).is_err());
    }
}

fn opengl_libraries() -> BTreeSet<String> {
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let files = maps.lines().filter_map(|line| line.split('/').next_back());
    let is_opengl = |file: &&str| file.starts_with("libEGL.") || file.starts_with("libGL.");
    files.filter(is_opengl).map(str::to_owned).collect()
}

pub fn an_editor_comes_and_goes() {
    let display = display([1600, 1200]);
    allowed_orders(&mut instance(), &display);

    let mut instance = instance();
    let before = threads();
    instance.open_editor(display.window()).unwrap();
    let before_closing = opengl_libraries();
    instance.close_editor().unwrap();
    settle(before);
    assert!(!before_closing.is_empty());
    assert_eq!(opengl_libraries(), before_closing, "OpenGL must stay");
    drop(instance);

    let path = bundle::clap().unwrap();
    let before = threads();
    for _ in 0..20 {
        let library = Library::load(&path).unwrap();
        let mut instance = library.instance().unwrap();
        instance.open_editor(display.window()).unwrap();
        // Closes the editor and unloads the library at once, while the window's thread is still ending.
        instance.close_editor().unwrap();
        drop(instance);
        drop(library);
    }
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    assert!(maps.contains(&*path.file_name().unwrap().to_string_lossy()), "the code must stay");
    settle(before);
}
