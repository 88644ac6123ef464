//! Tests that the output equals the library's at every sample rate, with every layout and buffer length.

use tone_filter_dsp::{Controls, Listen, Routing, Settings, ToneFilter};
use tone_filter_hosts::{MAX_BLOCK, RATE, played, random_blocks};
use tone_filter_testkit::{
    assert_same_bits,
    plugin::{Signal, assert_same, automated, demo, instance, music, set_controls, settings},
};

#[test]
fn automation_has_the_bits_of_the_library() {
    let (automation, changes) = automated(RATE);
    let output = played(&automation.input, random_blocks(1), &changes);
    assert_same_bits(&output, &automation.expected());
}

#[test]
fn the_sidechain_is_heard_when_connected_and_selected() {
    let layouts = instance().layouts().unwrap();
    let channels: Vec<_> = layouts.into_iter().map(|(_, channels)| channels).collect();
    assert_eq!(channels, [[2, 2], [1, 1], [2, 2], [1, 1]], "stereo with a sidechain comes first");
    let (main, sidechain) = (music(1.0, RATE), demo());
    let sidechain: Signal = sidechain.iter().map(|c| c[..main[0].len()].to_vec()).collect();
    let reference = Settings { mix: 70.0, ..Settings::REFERENCE };
    for sound in [reference, Settings { lookahead: true, ..Settings::default() }] {
        for (listen, connected) in
            [(Listen::Main, true), (Listen::Sidechain, false), (Listen::Sidechain, true)]
        {
            for channels in [1, 2] {
                let mut instance = instance();
                let routing = Routing { listen, ..Routing::default() };
                set_controls(&mut instance, &Controls { settings: sound, routing });
                let actual = settings(&mut instance);
                let mut expected = main[..channels].to_vec();
                let mut parts: Vec<_> = expected.iter_mut().map(Vec::as_mut_slice).collect();
                let heard: Vec<_> = sidechain[..channels].iter().map(Vec::as_slice).collect();
                let heard = if connected { &heard[..] } else { &[] };
                let mut filter = ToneFilter::new(RATE, &actual).unwrap();
                filter.set_routing(routing);
                filter.reset();
                filter.process_events(&mut parts, heard, [], |_, _| ());

                instance.select(channels).unwrap();
                let mut processor = instance.activate(RATE, MAX_BLOCK).unwrap();
                processor.sidechain = connected.then(|| sidechain[..channels].to_vec());
                let mut signal = main[..channels].to_vec();
                processor.run(&mut signal, false, &mut random_blocks(7), &[]).unwrap();
                assert_same(&signal, &expected, &format!("{listen:?}, connected: {connected}"));
            }
        }
    }
}
