//! What the audio thread calls neither allocates nor frees.

use crate::{
    heap::counted,
    host::{Instance, RATE, music},
};
use AudioPluginToneFilter::{
    UnityGetAudioEffectDefinitions, tone_filter_unity_key, tone_filter_unity_seek,
    tone_filter_unity_set_preset, tone_filter_unity_set_score,
};
use std::ptr;
use tone_filter_presets::Preset;

/// The number of this test's filter.
const NUMBER: i32 = 51;

#[test]
fn processing_does_not_allocate_whatever_is_set_meanwhile() {
    // The library that is linked, whose allocator is that of this program.
    let mut effect = Instance::of(UnityGetAudioEffectDefinitions, RATE);
    effect.set("Instance", NUMBER as f32);
    let input = music(6, 1024);
    let mut output = vec![9.0; input.len()];
    let preset = Preset::factory("sound-chip").unwrap().to_json();
    let voice = effect.index("Voice");
    for round in 0..12 {
        // On the main thread.
        match round {
            1 | 3 => {
                let score = format!("tone-filter-score 1\n0 9 {}\n", 60 + round);
                let length = score.len() as i32;
                // SAFETY: the text has so many bytes.
                assert!(
                    unsafe { tone_filter_unity_set_score(NUMBER, score.as_ptr(), length) }
                        .is_null()
                );
            }
            // SAFETY: null is allowed; the text has so many bytes.
            5 => assert!(unsafe { tone_filter_unity_set_score(NUMBER, ptr::null(), 0) }.is_null()),
            6 => assert!(tone_filter_unity_key(NUMBER, 69, 1.0).is_null()),
            // SAFETY: the text has so many bytes.
            7 => assert!(
                unsafe {
                    tone_filter_unity_set_preset(NUMBER, preset.as_ptr(), preset.len() as i32)
                }
                .is_null()
            ),
            8 => assert!(tone_filter_unity_seek(NUMBER, 1.0, f64::NAN).is_null()),
            _ => (),
        }
        let (statuses, calls) = counted(|| {
            let set = effect.set_index(voice, (round % 9) as f32);
            effect.reset();
            [set, effect.process(&input, &mut output, [6, 6])]
        });
        assert_eq!((statuses, calls), ([0, 0], 0), "round {round}");
    }
}
