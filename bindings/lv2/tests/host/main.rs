//! Tests of the plugin in an LV2 host: its sound is bit for bit the library's, and processing a block allocates nothing.

mod events;
mod host;

use host::{
    Host, MONO, SIDECHAIN, STEREO, State, descriptor, expected, filter, instantiate, number,
    slices, state, tune,
};
use std::ptr;
use tone_filter_dsp::{Controls, Keys, Listen, Routing, Scale, Settings, TEXTS, Voice};
use tone_filter_lv2::{state::key, turtle};
use tone_filter_testkit::{Automation, Draws, Signal, assert_same_bits, heap, unlike_default};

#[global_allocator]
static HEAP: heap::Counting = heap::Counting;

#[test]
fn instances_need_the_feature_map_and_a_valid_rate() {
    let descriptor = descriptor(STEREO).unwrap();
    for (rate, with_map) in [(44_100.0, false), (0.0, true), (f64::NAN, true)] {
        assert!(instantiate(descriptor, rate, with_map).is_null(), "{rate} {with_map}");
    }
}

#[test]
fn automation_matches_the_library_bit_for_bit() {
    let automation = Automation::new(1, host::RATE);
    let mut host = Host::new(STEREO, &Controls::default());
    let output = automation.play(1024, |new, block| {
        new.into_iter().for_each(|new| host.set(new));
        let input = block.each_ref().map(|channel| channel.to_vec());
        let output = host.play(&input, &[], 1024, &[]).signal;
        block.into_iter().zip(output).for_each(|(block, output)| block.copy_from_slice(&output));
    });
    assert_same_bits(&output, &automation.expected());
}

#[test]
fn mono_matches_the_library() {
    let input = vec![tune(22_050).remove(0)];
    let controls = Controls::default();
    let output = Host::new(MONO, &controls).play(&input, &[], 512, &[]);
    assert!(output.signal == expected(&controls, &input));
}

#[test]
fn buffers_may_be_shared() {
    let input = tune(5000);
    let expected = expected(&Controls::default(), &input);
    for crossed in [false, true] {
        let mut host = Host::new(STEREO, &Controls::default());
        let mut signal = input.clone();
        let [left, right] = [0, 1].map(|channel| signal[channel].as_mut_ptr());
        host.write([].into_iter());
        let output = if crossed { [right, left] } else { [left, right] };
        for frames in [0, 5000] {
            host.run(frames, [[left, right], output, [ptr::null_mut(); 2]]);
        }
        if crossed {
            signal.reverse();
        }
        assert!(signal == expected, "crossed: {crossed}");
    }
}

#[test]
fn values_are_clamped_and_nan_means_the_default() {
    let input = tune(8000);
    let mut host = Host::new(STEREO, &Controls::default());
    let latency = host.values.len() - 1;
    host.values[..latency].fill(f32::NAN);
    (*host.value("mix"), *host.value("drive"), *host.value("voice")) = (1e9, -3.0, 1e9);
    let voice = Voice::SoftClean;
    let settings = Settings { mix: 100.0, drive: 1.0, voice, ..Settings::default() };
    let output = host.play(&input, &[], 512, &[]);
    assert!(output.signal == expected(&settings.into(), &input));
}

#[test]
fn a_sidechain_reaches_the_bands() {
    let sidechain = tune(22_050);
    let mut input = sidechain.clone();
    input.iter_mut().for_each(|channel| channel.rotate_left(5000));
    let routing = Routing { listen: Listen::Sidechain, ..Routing::default() };
    let controls = Controls { routing, ..Controls::default() };
    let library = |sidechain: &[&[f32]]| -> Signal {
        let mut signal = input.clone();
        filter(&controls).process_events(&mut slices(&mut signal), sidechain, [], |_, _| ());
        signal
    };
    let play =
        |sidechain: &[_]| Host::new(SIDECHAIN, &controls).play(&input, sidechain, 255, &[]).signal;
    let (connected, alone) = (library(&[&sidechain[0], &sidechain[1]]), library(&[]));
    assert!(play(&sidechain) == connected && play(&[]) == alone && connected != alone);
}

#[test]
fn the_latency_port_follows_lookahead() {
    let mut host = Host::new(STEREO, &Controls::default());
    let input = tune(6400);
    host.play(&input, &[], 64, &[]);
    assert_eq!(*host.value("latency"), 0.0);
    *host.value("lookahead") = 1.0;
    host.play(&input, &[], 64, &[]);
    // 46.4 ms at 44.1 kHz.
    assert_eq!(*host.value("latency"), 2048.0);
    host.activate();
    let output = host.play(&input, &[], 64, &[]);
    let settings = Settings { lookahead: true, ..Settings::default() };
    assert!(output.signal == expected(&settings.into(), &input), "from rest");
}

/// Returns settings that all differ from the default, text settings included. Only `keys` does not, so that bands sound.
fn unusual() -> Settings {
    let settings = unlike_default(&mut Draws::seeded(1)).settings;
    Settings { scale: Scale::Custom, keys: Keys::Off, ..settings }
}

#[test]
fn a_state_is_restored() {
    let controls = unusual().into();
    let saved = Host::new(STEREO, &controls).save();
    let mut host = Host::new(STEREO, &Controls::default());
    host.set_ports(&controls);
    assert_eq!(host.restore(&saved), 0);
    assert_eq!(host.save(), saved);
    let output = host.play(&tune(8000), &[], 512, &[]);
    assert!(output.signal == expected(&controls, &tune(8000)));
    assert!(output.signal != expected(&Controls::default(), &tune(8000)));

    // A state of an older version, without the text settings.
    assert_eq!(host.restore(&State::new()), 0);
    assert_eq!(host.save(), Host::new(STEREO, &Controls::default()).save());
}

#[test]
fn invalid_texts_of_a_state_are_refused() {
    let mut host = Host::new(STEREO, &unusual().into());
    let texts = ["1".to_owned(), unusual().custom.to_string(), "A B".to_owned()];
    // LV2_STATE_ERR_BAD_TYPE.
    assert_eq!(host.restore(&state(texts)), 2);
    let settings = Settings { custom: unusual().custom, ..Settings::default() };
    assert_eq!(host.save(), Host::new(STEREO, &settings.into()).save());
    let not_utf8 = State::from([(number(&key(&TEXTS[0])), vec![0xFF])]);
    assert_eq!(host.restore(&not_utf8), 0, "an unreadable text counts as missing");
}

#[test]
fn only_audio_ports_are_in_groups() {
    // GStreamer takes each port of a group for a channel.
    let [_, (_, plugins), _] = turtle::files();
    let mut ports = plugins.split("lv2:port [").skip(1);
    assert!(ports.all(|port| port.contains("pg:group") == port.contains("AudioPort")));
}
