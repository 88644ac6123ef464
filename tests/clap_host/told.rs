//! What the plugin tells the host of itself: changes of the tail and of the keys' names.

use crate::raw::{RawHost, change_of, entries, lists};
use clap_sys::ext::{
    note_name::{CLAP_EXT_NOTE_NAME, clap_plugin_note_name},
    params::{CLAP_EXT_PARAMS, clap_plugin_params},
    tail::{CLAP_EXT_TAIL, clap_plugin_tail},
};
use tone_filter_dsp::{Settings, Sync, ToneFilter};
use xtask::host::parameter_id;

const RATE: f64 = 48_000.0;

fn tail(host: &RawHost) -> u32 {
    let tail: &clap_plugin_tail = host.extension(CLAP_EXT_TAIL, CLAP_EXT_TAIL);
    // SAFETY: this is the main thread.
    unsafe { tail.get.unwrap()(host.plugin()) }
}

fn names(host: &RawHost) -> u32 {
    let names: &clap_plugin_note_name = host.extension(CLAP_EXT_NOTE_NAME, CLAP_EXT_NOTE_NAME);
    // SAFETY: this is the main thread.
    unsafe { names.count.unwrap()(host.plugin()) }
}

/// Sets a parameter as a host does that does not play.
fn set(host: &RawHost, id: &str, value: f64) {
    let params: &clap_plugin_params = host.extension(CLAP_EXT_PARAMS, CLAP_EXT_PARAMS);
    let event = change_of(parameter_id(id), value);
    let events = vec![&event.header];
    let (input, output) = lists(&events);
    // SAFETY: the lists live until the call returns; the plugin is not active, and this is the main thread.
    unsafe { params.flush.unwrap()(host.plugin(), &input, &output) };
}

#[test]
fn a_changed_tail_is_told_on_the_audio_thread() {
    for entry in entries() {
        let host = RawHost::new(entry, false, None);
        host.activate(RATE);
        let samples = |settings: &Settings| (ToneFilter::tail(settings) * RATE).ceil() as u32;
        assert_eq!(tail(&host), samples(&Settings::default()));
        let play = |change: Option<(&str, f64)>, tempos| {
            host.play(change.map(|(id, value)| (parameter_id(id), value)), tempos);
            host.take()
        };
        let still = [None; 2];
        assert!(play(None, still).is_empty(), "the host knows it");
        for change in [("ring", 0.9), ("release", 0.9), ("lookahead", 1.0), ("freeze", 1.0)] {
            assert_eq!(play(Some(change), still), ["tail"], "{change:?}");
            assert!(play(None, still).is_empty(), "once is enough: {change:?}");
        }
        assert_eq!(tail(&host), u32::MAX, "for ever");
        assert_eq!(play(Some(("freeze", 0.0)), still), ["tail"]);
        assert!(play(Some(("mix", 0.1)), still).is_empty());
        assert!(play(None, [Some(60.0), None]).is_empty(), "the tempo is nothing to it");

        let quarter = Sync::ENTRIES.iter().position(|entry| entry.0 == "1/4").unwrap();
        assert_eq!(play(Some(("sync", quarter as f64)), still), ["tail"]);
        let sync = Settings { sync: Sync::new(quarter), ..Settings::default() };
        let late = ToneFilter::lookahead(RATE) as u32;
        assert_eq!(play(None, [Some(60.0), None]), ["tail"]);
        assert_eq!(tail(&host), samples(&sync.at_tempo(60.0)) + late);
        assert_eq!(play(None, [Some(60.0), Some(240.0)]), ["tail"], "within a block");
        assert_eq!(tail(&host), samples(&sync.at_tempo(240.0)) + late);
        host.deactivate();
        host.activate(2.0 * RATE);
        host.play(None, [Some(240.0), None]);
        assert_eq!(host.take(), ["tail"], "at another rate it has more samples");
        host.deactivate();
    }
}

#[test]
fn changed_names_of_keys_are_told_on_the_main_thread() {
    for entry in entries() {
        let host = RawHost::new(entry, false, None);
        host.activate(RATE);
        let play = |id: &str, value: f64| {
            host.play(Some((parameter_id(id), value)), [None; 2]);
            let mut calls = host.take();
            calls.retain(|call| call != "tail");
            assert!(calls.is_empty(), "not from the audio thread: {calls:?}");
            host.idle();
            host.take()
        };
        assert!(play("transpose", 0.5).is_empty(), "a host that has not asked knows none");
        assert_eq!(names(&host), 48);
        assert_eq!(play("transpose", 1.0), ["names"]);
        assert_eq!(names(&host), 47);
        assert_eq!(play("keys", 1.0), ["names"]);
        assert!(play("keys", 2.0).is_empty() && play("mix", 0.3).is_empty());
        host.deactivate();
        set(&host, "transpose", 0.5);
        assert_eq!(host.take(), ["names"], "at once, as this is the main thread");
        set(&host, "mix", 0.5);
        assert!(host.take().is_empty());
    }
}
