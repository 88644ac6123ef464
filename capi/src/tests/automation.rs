//! Settings that change during music.

use super::*;
use tone_filter_presets::settings::to_json;
use tone_filter_testkit::{Automation, Setting, assert_same_bits};

/// Plays a score of automation, whose settings `set` passes to the filter.
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
        for setting in Setting::all() {
            let id = CString::new(setting.id()).unwrap();
            let text = CString::new(setting.text(new)).unwrap();
            // SAFETY: all are valid.
            let status = unsafe {
                match setting {
                    Setting::Number(spec) => {
                        tf_set_number(filter.0, id.as_ptr(), spec.get(&new.settings))
                    }
                    _ => tf_set_text(filter.0, id.as_ptr(), text.as_ptr()),
                }
            };
            assert_eq!(status, Status::Ok, "{}", setting.id());
        }
    });
}
