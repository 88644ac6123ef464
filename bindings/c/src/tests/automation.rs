//! Settings that change during music.

use super::*;
use tone_filter_presets::settings::to_json;
use tone_filter_testkit::{Automation, assert_same_bits};

/// Plays music while `set` passes changing settings to the filter; the output must have the bits of the library's.
fn check(set: impl Fn(&Owned, &Controls)) {
    let automation = Automation::new(1, RATE);
    let filter = create(2, "tone-filter");
    let output = automation.play(256, |new, mut block| {
        if let Some(new) = new {
            set(&filter, new);
        }
        let channels = block.each_mut().map(|channel| channel.as_mut_ptr());
        // SAFETY: both point to a block of two channels.
        let status =
            unsafe { tf_process(filter.0, channels.as_ptr().cast(), channels.as_ptr(), 256) };
        assert_eq!(status, Status::Ok);
    });
    assert_same_bits(&output, &automation.expected());
}

#[test]
fn automation_by_json_has_the_bits_of_the_library() {
    check(|filter, new| assert_eq!(set_json(filter, &to_json(new)), Status::Ok));
}

#[test]
fn automation_setting_by_setting_has_the_bits_of_the_library() {
    check(|filter, new| {
        for call in calls(new) {
            assert_eq!(call.set(filter), Status::Ok, "{:?}", call.id);
        }
    });
}
