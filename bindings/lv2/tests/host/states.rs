//! Tests of saved states and of port groups.

use crate::host::{Host, STEREO, expected, number, tune};
use tone_filter_dsp::{Controls, Keys, Scale, Settings, TEXTS};
use tone_filter_lv2::{state::key, turtle};
use tone_filter_testkit::{Draws, unlike_default};

/// Returns settings that all differ from the default, text settings included. They sound without a key.
fn unusual() -> Settings {
    let settings = unlike_default(&mut Draws::seeded(1)).settings;
    Settings { scale: Scale::Custom, keys: Keys::Off, ..settings }
}

#[test]
fn a_state_is_restored() {
    let controls = unusual().into();
    let saved = Host::new(STEREO, &controls).save();
    let value = |index: usize| saved.get(&number(&key(&TEXTS[index]))).cloned();
    let mut host = Host::new(STEREO, &Controls::default());
    host.set_ports(&controls);
    assert_eq!(host.restore(&std::array::from_fn(value)), 0);
    assert_eq!(host.save(), saved);
    let output = host.play(&tune(8000), &vec![], &[512], &vec![]);
    assert!(output.signal == expected(&controls, &tune(8000)));
    assert!(output.signal != expected(&Controls::default(), &tune(8000)));

    // A state of an older version, without the text settings.
    assert_eq!(host.restore(&[None, None, None]), 0);
    assert_eq!(host.save(), Host::new(STEREO, &Controls::default()).save());
}

#[test]
fn invalid_texts_of_a_state_are_refused() {
    let mut host = Host::new(STEREO, &unusual().into());
    let custom = unusual().custom.to_string();
    let bad = |text: &str| Some(text.as_bytes().to_vec());
    // LV2_STATE_ERR_BAD_TYPE.
    assert_eq!(host.restore(&[bad("1\0"), bad(&custom), bad("A B\0")]), 2);
    let settings = Settings { custom: unusual().custom, ..Settings::default() };
    assert_eq!(host.save(), Host::new(STEREO, &settings.into()).save());
    assert_eq!(host.restore(&[Some(vec![0xFF]), None, None]), 0, "no text is none");
}

#[test]
fn only_audio_ports_are_in_groups() {
    // GStreamer takes each port of a group for a channel.
    let [_, (_, plugins), _] = turtle::files();
    let mut ports = plugins.split("lv2:port [").skip(1);
    assert!(ports.all(|port| port.contains("pg:group") == port.contains("AudioPort")));
}
