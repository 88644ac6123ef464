//! Tests of the built plugin's editor with a screen reader over AT-SPI, in a host that plays.

mod desktop;

use crate::display;
use desktop::{Bus, Client};
use serde_json::{Value, json};
use std::{collections::BTreeSet, env, fs};
use tone_filter_dsp::{
    BandRange, SPECS, Score, Settings,
    notes::{self, TONES},
};
use tone_filter_testkit::{
    clap::{Instance, Processor, parameter_id},
    display::Display,
    plugin::{instance, set, settings, settle, threads, wait},
    signals::noisy_chord,
    sweep::all,
};

const RATE: f64 = 48_000.0;
const BLOCK: usize = 480;

/// Host that plays a chord while the editor is open.
struct Host {
    processor: Processor,
    instance: Instance,
    input: Vec<f32>,
    /// Maximum difference between input and output in the last buffer.
    difference: f32,
}

impl Host {
    fn open(display: &Display) -> Self {
        let mut instance = instance();
        set(&mut instance, &Settings { range: BandRange::Whole, ..Settings::REFERENCE });
        let processor = instance.activate(RATE, BLOCK).unwrap();
        instance.open_editor(display.window()).unwrap();
        Self { instance, processor, input: noisy_chord(2.0, RATE), difference: 0.0 }
    }

    fn step(&mut self) {
        let block = self.input[..BLOCK].to_vec();
        self.input.rotate_left(BLOCK);
        let mut signal = [block.clone(), block.clone()];
        self.processor.run(&mut signal, true, &mut std::iter::repeat(BLOCK), &[]).unwrap();
        let differences =
            signal[0].iter().zip(&block).map(|(output, input)| (output - input).abs());
        self.difference = differences.fold(0.0, f32::max);
        self.instance.idle();
    }

    fn close(mut self) {
        self.instance.close_editor().unwrap();
    }
}

/// Screen reader, and the host whose editor it reads.
struct Reader {
    client: Client,
    host: Host,
}

impl Reader {
    fn ask(&mut self, command: Value) -> Value {
        self.client.ask(&command, || self.host.step())
    }

    fn press(&mut self, role: &str, name: &str) {
        assert_eq!(self.ask(json!({ "do": "press", "role": role, "name": name })), true);
    }

    /// Waits until the `field` of the node with this role and name contains `text`, and returns the node.
    fn wait(&mut self, role: &str, name: &str, field: &str, text: &str) -> Value {
        self.ask(json!({ "do": "await", "role": role, "name": name, "field": field, "text": text }))
    }
}

pub fn it_operates_the_editor() {
    let display = display([1000, 640]);
    let bus = Bus::start();
    // SAFETY: this process has no other thread yet.
    unsafe { env::set_var("DBUS_SESSION_BUS_ADDRESS", &bus.address) };
    let client = Client::start(&bus);
    let before = threads();
    let mut reader = Reader { client, host: Host::open(&display) };
    reader.ask(json!({ "do": "switch", "on": true }));
    sliders_and_cells_have_their_names(&mut reader);
    what_it_sets_is_what_sounds(&mut reader);
    each_cell_has_a_sentence_and_a_switch(&mut reader);
    a_preset_is_announced(&mut reader);
    it_comes_and_goes(&mut reader);
    windows_come_and_go(&display, &mut reader);
    the_notes_are_saved(&display, &mut reader);
    reader.host.close();
    // One more thread serves the bus until the process ends. The display must outlive the window's other threads.
    settle(before + 1);
}

fn sliders_and_cells_have_their_names(reader: &mut Reader) {
    assert_eq!(reader.ask(json!({ "do": "windows", "count": 1 })), json!(["Tone Filter"]));
    reader.press("check box", "More settings");
    reader.wait("slider", "Release", "role", "slider");
    let tree = reader.ask(json!({ "do": "tree" }));
    let nodes = tree.as_array().unwrap();
    let with = |role: &'static str| nodes.iter().filter(move |node| node["role"] == role);
    let sliders: BTreeSet<&str> = with("slider").filter_map(|node| node["name"].as_str()).collect();
    assert_eq!(sliders, SPECS.iter().map(|spec| spec.name).collect());
    let cells: Vec<_> = with("table cell").collect();
    assert_eq!(cells.len(), TONES);
    for (cell, tone) in cells.iter().zip(BandRange::Whole.by_pitch()) {
        assert_eq!(cell["name"], format!("Band {}", notes::name(tone)), "by pitch");
        assert_eq!(cell["checked"], true);
    }
}

fn what_it_sets_is_what_sounds(reader: &mut Reader) {
    assert!(
        reader.host.difference > 0.01,
        "Mix is at {:?}",
        settings(&mut reader.host.instance).mix
    );
    reader.ask(json!({ "do": "set", "role": "slider", "name": "Mix", "value": 0.0 }));
    assert_eq!(reader.host.instance.value(parameter_id("mix")).unwrap(), 0.0);
    // These 0.5 s are much longer than the smoothing.
    (0..50).for_each(|_| reader.host.step());
    assert_eq!(reader.host.difference, 0.0, "at 0 %, the sound is untouched");
    reader.ask(json!({ "do": "set", "role": "slider", "name": "Mix", "value": 62.5 }));
    (0..50).for_each(|_| reader.host.step());
    assert!((settings(&mut reader.host.instance).mix - 62.5).abs() < 1e-4);
    assert!(reader.host.difference > 0.01);
}

fn each_cell_has_a_sentence_and_a_switch(reader: &mut Reader) {
    // C5 is not a note of the chord, but E5 is.
    reader.wait("table cell", "Band C5", "description", "Not played, ");
    reader.press("table cell", "Band C5");
    let cell = reader.wait("table cell", "Band C5", "checked", "False");
    assert_eq!(cell["role"], "table cell");
    reader.wait("table cell", "Band C5", "description", "Muted by hand, ");
    let tone = (0..TONES).find(|&tone| notes::name(tone) == "C5").unwrap();
    let bands = settings(&mut reader.host.instance).bands;
    assert!((0..TONES).all(|other| bands.contains(other) == (other != tone)));
}

fn a_preset_is_announced(reader: &mut Reader) {
    reader.press("button", "Next preset");
    reader.ask(json!({ "do": "announced", "text": "Preset Reference" }));
}

fn it_comes_and_goes(reader: &mut Reader) {
    for _ in 0..3 {
        reader.ask(json!({ "do": "switch", "on": false }));
        assert_eq!(reader.ask(json!({ "do": "windows", "count": 0 })), json!([]));
        reader.ask(json!({ "do": "switch", "on": true }));
        assert_eq!(reader.ask(json!({ "do": "windows", "count": 1 })), json!(["Tone Filter"]));
    }
}

fn windows_come_and_go(display: &Display, reader: &mut Reader) {
    let before = threads();
    for index in 0..if all() { 30 } else { 10 } {
        let other = Host::open(display);
        // The screen reader sees every tenth window. The others close while it is being notified of them.
        if index % 10 == 0 {
            reader.ask(json!({ "do": "windows", "count": 2 }));
        }
        other.close();
        settle(before);
    }
    reader.ask(json!({ "do": "windows", "count": 1 }));
}

/// Saves the detected notes to a file whose name is typed. Checks that the notes of the chord are in it.
fn the_notes_are_saved(display: &Display, reader: &mut Reader) {
    let folder = tempfile::tempdir().unwrap();
    env::set_current_dir(&folder).unwrap();
    reader.press("button", "Save and load presets: File");
    reader.press("button", "Save notes as ...");
    reader.press("radio button", "Everything (10 minutes)");
    reader.ask(json!({ "do": "focus", "role": "entry", "name": "File" }));
    display.focus(display.editor().unwrap()).unwrap();
    display.key(u32::from('n')).unwrap();
    reader.press("button", "Score");
    let text = wait("the notes", || {
        reader.host.step();
        fs::read_to_string("n.tfs").ok().filter(|text| text.ends_with('\n'))
    });
    let score: Score = text.parse().unwrap();
    let keys: BTreeSet<i32> = score.notes().map(|note| notes::midi_note(note.tone, 0.0)).collect();
    assert!(keys.is_superset(&[57, 61, 64, 69, 73].into()), "{keys:?}");
}
