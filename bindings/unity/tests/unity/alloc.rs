//! Tests that functions on the audio thread neither allocate nor free.

use crate::host::{Instance, RATE, music};
use AudioPluginToneFilter::{
    UnityGetAudioEffectDefinitions, tone_filter_unity_key, tone_filter_unity_seek,
    tone_filter_unity_set_preset, tone_filter_unity_set_score,
};
use std::{ffi::c_char, ptr};
use tone_filter_presets::Preset;
use tone_filter_testkit::{Draws, controls, heap::counted};

const NUMBER: i32 = 51;

fn with(
    call: unsafe extern "C" fn(i32, *const u8, i32) -> *const c_char,
    text: &str,
) -> *const c_char {
    // SAFETY: `text` has `len` bytes.
    unsafe { call(NUMBER, text.as_ptr(), text.len() as i32) }
}

#[test]
fn processing_does_not_allocate_whatever_is_set_meanwhile() {
    // Uses the linked library, because only its allocations are counted.
    let mut effect = Instance::of(UnityGetAudioEffectDefinitions, RATE);
    effect.set("Instance", NUMBER as f32);
    let input = music(6, 1024);
    let mut output = vec![9.0; input.len()];
    let preset = Preset::factory("sound-chip").unwrap().to_json();
    let draws = &mut Draws::seeded(1);
    for round in 0..12 {
        // The game's main thread.
        let error = match round {
            1 | 3 => with(
                tone_filter_unity_set_score,
                &format!("tone-filter-score 1\n0 9 {}\n", 60 + round),
            ),
            // SAFETY: null is allowed.
            5 => unsafe { tone_filter_unity_set_score(NUMBER, ptr::null(), 0) },
            6 => tone_filter_unity_key(NUMBER, 69, 1.0),
            7 => with(tone_filter_unity_set_preset, &preset),
            8 => tone_filter_unity_seek(NUMBER, 1.0, f64::NAN, 0.01),
            _ => ptr::null(),
        };
        assert!(error.is_null(), "round {round}");
        let settings = effect.indexed(&controls(draws));
        let (status, calls) = counted(|| {
            settings
                .iter()
                .for_each(|(index, value)| assert_eq!(effect.set_index(*index, *value), 0));
            effect.reset();
            effect.process(&input, &mut output, [6, 6])
        });
        assert_eq!((status, calls), (0, 0), "round {round}");
    }
}
