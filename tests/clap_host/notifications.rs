//! Tests of the notifications that a host gets: changes of the tail, the latency and the keys' names.

use crate::{
    browser::{assert_near, save},
    raw::{RawHost, change_of, entries, lists},
};
use clap_sys::{
    ext::{
        latency::{CLAP_EXT_LATENCY, clap_plugin_latency},
        note_name::{CLAP_EXT_NOTE_NAME, clap_plugin_note_name},
        params::{CLAP_EXT_PARAMS, clap_plugin_params},
        state::{CLAP_EXT_STATE, clap_plugin_state},
        tail::{CLAP_EXT_TAIL, clap_plugin_tail},
    },
    stream::clap_istream,
};
use std::{ffi::c_void, thread};
use tone_filter_dsp::{NoteValue, Settings, ToneFilter};
use tone_filter_presets::{Preset, ids};
use tone_filter_testkit::{clap::parameter_id, plugin::settings_in};

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

/// Loads a saved state.
fn load(host: &RawHost, mut bytes: &[u8]) {
    unsafe extern "C" fn read(stream: *const clap_istream, to: *mut c_void, size: u64) -> i64 {
        // SAFETY: the context is the slice of the bytes that are left, and `to` has room for `size` bytes.
        unsafe {
            let left = &mut *(*stream).ctx.cast::<&[u8]>();
            let (part, rest) = left.split_at(left.len().min(size as usize));
            to.cast::<u8>().copy_from_nonoverlapping(part.as_ptr(), part.len());
            *left = rest;
            part.len() as i64
        }
    }
    let stream = clap_istream { ctx: (&raw mut bytes).cast(), read: Some(read) };
    let state: &clap_plugin_state = host.extension(CLAP_EXT_STATE, CLAP_EXT_STATE);
    // SAFETY: this is the main thread, and the stream lives until the call returns.
    assert!(unsafe { state.load.unwrap()(host.plugin(), &stream) });
}

/// Sets a parameter as a host that does not process.
fn set(host: &RawHost, id: &str, value: f64) {
    let params: &clap_plugin_params = host.extension(CLAP_EXT_PARAMS, CLAP_EXT_PARAMS);
    let event = change_of(parameter_id(id), value);
    let events = vec![&event.header];
    let (input, output) = lists(&events);
    // SAFETY: the lists live until the call returns. Either the plugin is inactive and this is the main thread, or it is active
    // and this is its only audio thread.
    unsafe { params.flush.unwrap()(host.plugin(), &input, &output) };
}

#[test]
fn a_changed_tail_is_reported_on_the_audio_thread() {
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
        for change in [("ring", 0.9), ("release", 0.9), ("freeze", 1.0)] {
            assert_eq!(play(Some(change), still), ["tail"], "{change:?}");
            assert!(play(None, still).is_empty(), "once is enough: {change:?}");
        }
        assert_eq!(tail(&host), u32::MAX, "for ever");
        assert_eq!(play(Some(("freeze", 0.0)), still), ["tail"]);
        assert!(play(Some(("mix", 0.1)), still).is_empty());
        assert!(play(None, [Some(60.0), None]).is_empty(), "the tempo is nothing to it");

        let quarter = NoteValue::ENTRIES.iter().position(|entry| entry.0 == "1/4").unwrap();
        assert_eq!(play(Some(("sync", quarter as f64)), still), ["tail"]);
        let sync = Settings { sync: NoteValue::new(quarter), ..Settings::default() };
        assert_eq!(play(None, [Some(60.0), None]), ["tail"]);
        assert_eq!(tail(&host), samples(&sync.at_tempo(60.0)));
        assert_eq!(play(None, [Some(60.0), Some(240.0)]), ["tail"], "within a block");
        assert_eq!(tail(&host), samples(&sync.at_tempo(240.0)));
        host.deactivate();
        host.activate(2.0 * RATE);
        host.play(None, [Some(240.0), None]);
        assert_eq!(host.take(), ["tail"], "at another rate it has more samples");
        host.deactivate();
    }
}

#[test]
fn a_first_tempo_of_0_is_a_tempo() {
    for entry in entries() {
        let host = RawHost::new(entry, false, None);
        host.activate(RATE);
        host.play(None, [Some(0.0), None]);
        assert_eq!(host.take(), ["tail"], "the host has not asked for it");
        host.deactivate();
    }
}

/// Returns the latency that the plugin reports.
fn latency(host: &RawHost) -> u32 {
    let latency: &clap_plugin_latency = host.extension(CLAP_EXT_LATENCY, CLAP_EXT_LATENCY);
    // SAFETY: this is the main thread.
    unsafe { latency.get.unwrap()(host.plugin()) }
}

#[test]
fn a_new_latency_asks_for_one_restart_and_is_reported_while_it_is_activated() {
    for entry in entries() {
        let host = RawHost::new(entry, false, None);
        let play = |lookahead: Option<f64>| {
            let change = lookahead.map(|value| (parameter_id("lookahead"), value));
            host.play(change, [None; 2]);
            host.idle();
            host.take()
        };
        let late = ToneFilter::lookahead(RATE) as u32;
        host.activate(RATE);
        assert!(host.take().is_empty(), "without Lookahead there is none");
        let before = tail(&host);
        assert_eq!(play(Some(1.0)), ["restart"]);
        assert!(play(None).is_empty() && play(Some(1.0)).is_empty(), "once is enough");
        assert_eq!((latency(&host), tail(&host)), (0, before));
        host.deactivate();
        assert!(host.take().is_empty());
        host.activate(RATE);
        assert_eq!(host.take(), ["latency"]);
        assert_eq!(latency(&host), late);
        assert_eq!(play(None), ["tail"]);
        assert_eq!(tail(&host), before + late);

        // A host that does not process passes changes, too: as events, or as a state.
        let on = save(&host);
        let off = || {
            // While the plugin is active, only an audio thread may set parameters.
            thread::scope(|scope| drop(scope.spawn(|| set(&host, "lookahead", 0.0))));
            host.take()
        };
        assert_eq!(off(), ["restart"]);
        load(&host, &on);
        assert!(!host.take().contains(&"restart".to_owned()), "the change is taken back");
        assert_eq!(off(), ["restart"]);
        host.deactivate();
        host.activate(RATE);
        assert_eq!((host.take(), latency(&host)), (vec!["latency".to_owned()], 0));
        load(&host, &on);
        assert!(host.take().contains(&"restart".to_owned()));
        assert_eq!(latency(&host), 0);
        host.deactivate();
        host.activate(2.0 * RATE);
        assert_eq!(host.take(), ["latency"]);
        assert_eq!(latency(&host), ToneFilter::lookahead(2.0 * RATE) as u32);
        host.deactivate();
        host.activate(RATE);
        assert_eq!(host.take(), ["latency"], "at another rate it has other samples");
        assert_eq!(latency(&host), late);
        host.deactivate();
    }
}

#[test]
fn a_rate_that_nice_plug_rounds_has_one_latency() {
    let late = ToneFilter::lookahead;
    // nice-plug's rates are `f32`.
    let differs = |rate: &f64| late(*rate) != late(f64::from(*rate as f32));
    let rate = (0..).map(|step| RATE + 1e-3 * f64::from(step)).find(differs).unwrap();
    for entry in entries() {
        let host = RawHost::new(entry, false, None);
        set(&host, "lookahead", 1.0);
        host.activate(rate);
        assert_eq!(host.take(), ["latency"]);
        host.play(None, [None; 2]);
        assert_eq!(host.take(), ["tail"], "no restart");
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
        assert_eq!(names(&host), 77);
        assert_eq!(play("transpose", 1.0), ["names"]);
        assert_eq!(names(&host), 76);
        assert_eq!(play("keys", 1.0), ["names"]);
        assert!(play("keys", 2.0).is_empty() && play("mix", 0.3).is_empty());
        host.deactivate();
        set(&host, "transpose", 0.5);
        assert_eq!(host.take(), ["names"], "at once, as this is the main thread");
        set(&host, "mix", 0.5);
        assert!(host.take().is_empty());
    }
}

#[test]
fn a_program_change_loads_a_preset_on_the_main_thread() {
    for entry in entries() {
        let host = RawHost::new(entry, false, None);
        host.activate(RATE);
        host.play_midi([0xC3, 4, 0]);
        host.take();
        // The audio thread loads nothing.
        assert_near(&settings_in(&save(&host)), &Settings::default());
        host.idle();
        let preset = Preset::factory(ids().nth(4).unwrap()).unwrap();
        assert_near(&settings_in(&save(&host)), &preset.settings);
        assert_eq!(host.take().iter().filter(|call| *call == "rescan 1").count(), 1);
        host.play_midi([0xB0, 74, 64]);
        host.idle();
        // No controller is mapped.
        assert_near(&settings_in(&save(&host)), &preset.settings);
        host.deactivate();
    }
}
