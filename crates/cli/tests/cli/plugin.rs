//! The plugin sends the notes that `bands --midi --live` writes.

use tone_filter_dsp::{Controls, Routing, Settings, ToneFilter};
use tone_filter_testkit::{
    clap::Sent,
    plugin::{demo, instance, set_controls},
    songs::Tool,
};

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

/// Returns the note-ons and note-offs that `bands --midi --live` with `flag` writes for the demo tune: time in seconds, key,
/// and whether it is a note-on.
fn in_file(flag: &str) -> Vec<(f64, u16, bool)> {
    let tool = Tool::new(env!("CARGO_BIN_EXE_tone-filter")).unwrap();
    let song = tone_filter_testkit::root().join("assets/demo.wav");
    let notes = tool.notes(&song, &["--live", "--tempo=120", flag]).unwrap().into_iter();
    notes.flat_map(|n| [(n.start, n.key.into(), true), (n.end, n.key.into(), false)]).collect()
}

#[test]
fn sent_notes_are_those_of_the_live_file() {
    for (lookahead, flag) in [(false, "--lookahead=off"), (true, "--lookahead=on")] {
        let sound = Settings { lookahead, ..Settings::default() };
        let live = sent(&sound);
        let filter = ToneFilter::new(44_100.0, &sound).unwrap();
        // In the file, a note has the time that the decision is about. The plugin sends the note later, by the filter's latency
        // and the listener's delay.
        let latency = filter.latency() + filter.listener().delay();
        let file = in_file(flag);
        assert!(live.iter().filter(|note| note.velocity.is_some()).count() > 50, "{live:?}");
        // In the file, notes that are still held end with the tune. So note-offs after its end are not compared.
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
            // The tolerance is a block of 64 samples plus a tick of the file.
            let same = |note: &&Sent| {
                let late = (note.frame as f64 - latency as f64) / 44_100.0 - at;
                note.key == key && note.velocity.is_some() == on && (-0.001..0.0025).contains(&late)
            };
            let found = rest.iter().position(same);
            rest.remove(found.unwrap_or_else(|| panic!("{key} at {at}: {on}, with {flag}")));
        }
    }
}
