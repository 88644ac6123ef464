//! Tests of a host's calls to the editor: every order that CLAP allows, while the plugin plays, and a library that is unloaded as
//! soon as the window is closed.
#![cfg(target_os = "linux")]

use std::{
    collections::BTreeSet,
    fs,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
};
use tone_filter_testkit::{
    bundle,
    clap::{GuiStep, Instance, Library, Processor},
    display::Display,
    plugin::{builds, library, music, new, settle, threads},
};

const RATE: f64 = 48_000.0;

/// Audio thread that plays until it is dropped.
struct Playing(Arc<AtomicBool>, Option<JoinHandle<Processor>>);

impl Playing {
    fn start(mut processor: Processor) -> Self {
        let playing = Arc::new(AtomicBool::new(true));
        let go_on = playing.clone();
        let audio = thread::spawn(move || {
            while go_on.load(Ordering::Relaxed) {
                let mut signal = music(0.1, RATE);
                processor.run(&mut signal, true, &mut std::iter::repeat(64), &[]).unwrap();
                assert!(signal.iter().flatten().all(|sample| sample.abs() <= 2.0));
            }
            processor
        });
        Self(playing, Some(audio))
    }

    fn stop(mut self) -> Processor {
        self.0.store(false, Ordering::Relaxed);
        self.1.take().unwrap().join().unwrap()
    }
}

impl Drop for Playing {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

/// Returns all orders of `steps`.
fn orders(steps: &[GuiStep]) -> Vec<Vec<GuiStep>> {
    let Some((&first, rest)) = steps.split_first() else { return vec![Vec::new()] };
    let mut all = Vec::new();
    for order in orders(rest) {
        for place in 0..=order.len() {
            let mut order = order.clone();
            order.insert(place, first);
            all.push(order);
        }
    }
    all
}

/// Returns sequences of calls from `create` to `destroy`: scale and size are set before or after the parent, or never; the editor
/// is shown or not, hidden or not.
fn lives(parent: GuiStep) -> Vec<Vec<GuiStep>> {
    use GuiStep::{Create, Destroy, Hide, Resize, Scale, Show};
    let mut lives = vec![
        vec![],
        vec![parent],
        vec![Scale(1.0), Resize([800, 600])],
        vec![parent, Show, Hide, Show, Hide],
        vec![parent, Show, Resize([480, 300]), Resize([1600, 1200]), Resize([1000, 640]), Hide],
    ];
    lives.extend(orders(&[Scale(2.0), Resize([900, 600]), parent]));
    // Only an editor with a parent can be shown, and only a shown editor can be hidden.
    for mut order in orders(&[Scale(1.0), Resize([900, 600])]) {
        order.extend([parent, Show, Hide]);
        lives.push(order);
    }
    lives.iter().map(|steps| [&[Create], &steps[..], &[Destroy]].concat()).collect()
}

fn every_order_of_steps(instance: &mut Instance, display: &Display, build: &str) {
    let before = threads();
    // Closed at once, while the window's thread is still starting.
    for _ in 0..10 {
        instance.gui(GuiStep::Create).unwrap();
        instance.gui(GuiStep::Destroy).unwrap();
    }
    for steps in lives(GuiStep::Parent(display.window())) {
        for step in &steps {
            let result = instance.gui(*step);
            assert!(result.is_ok(), "{build}: {step:?} of {steps:?}: {result:?}");
            instance.idle();
        }
        settle(before);
        // Without an editor, these calls return an error.
        assert!(instance.gui(GuiStep::Show).is_err());
        assert!(instance.gui(GuiStep::Resize([800, 600])).is_err());
    }
}

/// Returns the libraries of OpenGL that are in memory.
fn opengl() -> BTreeSet<String> {
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let files = maps.lines().filter_map(|line| line.split('/').next_back());
    let is_opengl = |file: &&str| file.starts_with("libEGL.") || file.starts_with("libGL.");
    files.filter(is_opengl).map(str::to_owned).collect()
}

#[test]
fn an_editor_comes_and_goes_as_the_host_likes() {
    let display = Display::start([1600, 1200]).unwrap_or_else(|error| panic!("{error:#}"));
    // SAFETY: this is the only test in its process. No other thread uses the environment: the test harness only waits for this
    // test.
    unsafe { display.set_environment() };
    for (build, library) in builds(&tone_filter::clap_entry) {
        let mut instance = new(&library);
        let playing = Playing::start(instance.activate(RATE, 512).unwrap());
        every_order_of_steps(&mut instance, &display, build);
        instance.deactivate(playing.stop());
    }

    let mut instance = new(&library().0);
    let before = threads();
    instance.open_editor(display.window()).unwrap();
    let opengl = opengl();
    instance.close_editor().unwrap();
    settle(before);
    assert!(!opengl.is_empty() && self::opengl() == opengl, "OpenGL must stay: {opengl:?}");
    drop(instance);

    drop(library());
    let path = bundle::clap().unwrap();
    let before = threads();
    for _ in 0..20 {
        let library = Library::load(&path).unwrap();
        let mut instance = new(&library);
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
