//! The plugin and the command have equal outputs and equal notes.

use std::{iter::repeat, process::Command};
use tone_filter_dsp::{
    CHOICES, Choice, Controls, Keys, Map, NoteValue, Routing, SPECS, Scale, Settings, ToneFilter,
};
use tone_filter_testkit::{
    clap::Sent,
    plugin::{assert_same, demo, instance, set, set_controls, settings, sounds},
    songs::Tool,
    wav,
};

#[test]
fn the_renderer_gives_the_same_output_for_the_demo_tune() {
    let demo = tone_filter_testkit::root().join("assets/demo.wav");
    let input = wav::read(&demo).unwrap().0;
    // The renderer compensates latency, so sounds with lookahead cannot be compared.
    for sound in sounds().into_iter().filter(|sound| !sound.lookahead) {
        let mut instance = instance();
        // The renderer refuses key modes without a MIDI file.
        set(&mut instance, &Settings { keys: Keys::Off, ..sound });
        let actual = settings(&mut instance);

        let place = tempfile::tempdir().unwrap();
        let out = place.path().join("out.wav");
        let mut renderer = Command::new(env!("CARGO_BIN_EXE_tone-filter"));
        renderer.arg("render").arg(&demo).arg("-o").arg(&out).args(["--bit-depth", "32f"]);
        for spec in &SPECS {
            renderer.arg(format!("--{}={}", spec.id, spec.get(&actual)));
        }
        let has_flag = |choice: &&Choice| !choice.is_routing() && choice.id != "sync-to";
        for choice in CHOICES.iter().filter(has_flag) {
            let flag = if choice.id == "keys" { "key-mode" } else { choice.id };
            renderer.arg(format!("--{flag}={}", choice.entries[choice.get(&actual.into())].0));
        }
        if actual.sync != NoteValue::OFF {
            // The host reports no tempo.
            renderer.arg("--tempo=auto");
        }
        renderer.args(["--bands", &actual.bands.to_string()]);
        if actual.scale == Scale::Custom {
            renderer.args(["--custom", &actual.custom.to_string()]);
        }
        if actual.map == Map::Custom {
            renderer.args(["--targets", &actual.targets.to_string()]);
        }
        let output = renderer.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));

        instance.select(2).unwrap();
        let mut processor = instance.activate(44_100.0, 512).unwrap();
        let mut plugin = input.clone();
        processor.run(&mut plugin, true, &mut repeat(512), &[]).unwrap();
        instance.deactivate(processor);
        assert_same(&plugin, &wav::read(&out).unwrap().0, &format!("{actual:?}"));
    }
}

/// Returns the notes that the plugin sends for the demo tune, in buffers of several lengths.
fn sent(sound: &Settings) -> Vec<Sent> {
    let mut instance = instance();
    let routing = Routing { midi_out: true, ..Routing::default() };
    set_controls(&mut instance, &Controls { settings: *sound, routing });
    instance.select(2).unwrap();
    let mut processor = instance.activate(44_100.0, 512).unwrap();
    processor.sent = Some(Vec::new());
    let mut signal = demo();
    processor.run(&mut signal, true, &mut [1, 300, 512, 64, 37].into_iter().cycle(), &[]).unwrap();
    let sent = processor.sent.take().unwrap();
    instance.deactivate(processor);
    assert!(sent.is_sorted_by_key(|note| note.frame), "in the order of their times");
    sent
}

/// Returns the notes that `bands --midi --live` writes for the demo tune: time in seconds, key, and whether it is a note-on.
fn in_file(flag: &str) -> Vec<(f64, u16, bool)> {
    let tool = Tool::new(env!("CARGO_BIN_EXE_tone-filter")).unwrap();
    let song = tone_filter_testkit::root().join("assets/demo.wav");
    let notes = tool.notes(&song, &["--live", "--tempo=120", flag]).unwrap().into_iter();
    notes.flat_map(|n| [(n.start, n.key.into(), true), (n.end, n.key.into(), false)]).collect()
}

#[test]
fn what_is_heard_leaves_as_the_notes_that_the_renderer_writes_down() {
    for (lookahead, flag) in [(false, "--lookahead=off"), (true, "--lookahead=on")] {
        let sound = Settings { lookahead, ..Settings::default() };
        let live = sent(&sound);
        let filter = ToneFilter::new(44_100.0, &sound).unwrap();
        // The file states the time that a decision is about. The plugin sends the note later, by the filter's latency and the
        // listener's delay.
        let latency = filter.latency() + filter.listener().delay();
        let file = in_file(flag);
        assert!(live.iter().filter(|note| note.velocity.is_some()).count() > 50, "{live:?}");
        // Notes still held at the end of the file end there, so later note-offs are not compared.
        let end = demo()[0].len() as f64 / 44_100.0;
        let file: Vec<_> = file.into_iter().filter(|(at, _, on)| *on || *at < end - 0.1).collect();
        let mut rest: Vec<_> = live
            .iter()
            .filter(|n| {
                n.velocity.is_some() || (n.frame as f64) < 44_100.0 * (end - 0.1) + latency as f64
            })
            .collect();
        assert_eq!(rest.len(), file.len());
        for (at, key, on) in file {
            // Tolerance: a block of 64 samples and a tick of the file.
            let same = |note: &&Sent| {
                let late = (note.frame as f64 - latency as f64) / 44_100.0 - at;
                note.key == key && note.velocity.is_some() == on && (-0.001..0.0025).contains(&late)
            };
            let found = rest.iter().position(same);
            rest.remove(found.unwrap_or_else(|| panic!("{key} at {at}: {on}, with {flag}")));
        }
    }
}
