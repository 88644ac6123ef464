//! Tests of the VST3 plugin's latency: how hosts learn of a change, and when the sound changes.
#![cfg(any(target_os = "linux", windows))]

use std::thread;
use tone_filter_dsp::ToneFilter;
use tone_filter_testkit::vst3::{Factory, Host, Instance, Queue, Setup};
use vst3::{
    ComPtr, ComWrapper,
    Steinberg::{
        Vst::{IComponentHandler, ParamValue},
        kResultOk,
    },
};

const RATE: f64 = 48_000.0;
const FRAMES: usize = 512;

/// Creates a stereo instance that is not active yet.
fn instance(handler: Option<&ComPtr<IComponentHandler>>) -> Instance {
    // SAFETY: `GetPluginFactory` returns an owned reference to a factory.
    let factory = unsafe { Factory::linked(tone_filter::GetPluginFactory) };
    let setup = Setup { rate: RATE, channels: 2, max_block: FRAMES };
    Instance::with_handler(&factory, setup, handler)
}

fn set(instance: &Instance, title: &str, value: f64) {
    instance.set(instance.id(title), value);
}

/// Plays `signal` in both channels on an audio thread, with `changes` of Lookahead in the first buffer. Returns the left output.
fn play(instance: &Instance, signal: &[f32], changes: &[(i32, ParamValue)]) -> Vec<f32> {
    let blocks = signal.chunks_exact(FRAMES).enumerate();
    let blocks = blocks.map(|(index, part)| (part, if index == 0 { changes } else { &[] }));
    let audio = || blocks.flat_map(|(part, changes)| block(instance, part, changes));
    thread::scope(|scope| scope.spawn(move || audio().collect()).join().unwrap())
}

fn block(instance: &Instance, block: &[f32], changes: &[(i32, ParamValue)]) -> Vec<f32> {
    let queue = Queue { parameter: instance.id("Lookahead"), points: changes.to_vec() };
    let (mut left, mut right) = (vec![0.0; FRAMES], vec![0.0; FRAMES]);
    let input = [block.to_vec(), block.to_vec()];
    let result = instance.process(Some(&input), &mut [&mut left, &mut right], vec![queue]);
    assert_eq!(result, kResultOk);
    left
}

/// Returns the latency of Lookahead in samples.
fn late() -> usize {
    ToneFilter::lookahead(RATE)
}

fn silence() -> Vec<f32> {
    vec![0.0; 20 * FRAMES]
}

fn impulse(at: usize) -> Vec<f32> {
    let mut signal = silence();
    signal[at] = 0.5;
    signal
}

fn music() -> Vec<f32> {
    (0..20 * FRAMES).map(|frame| 0.3 * (0.03 * frame as f32).sin()).collect()
}

fn with_run_loop() -> (ComWrapper<Host<true>>, ComPtr<IComponentHandler>) {
    let host = ComWrapper::new(Host::default());
    let handler = host.to_com_ptr().unwrap();
    (host, handler)
}

#[test]
fn a_new_latency_is_asked_for_on_the_host_s_thread_and_comes_with_the_activation() {
    let (host, handler) = with_run_loop();
    let (instance, still) = (instance(Some(&handler)), instance(None));
    let plain = |instance: &Instance| set(instance, "Mix", 0.0);
    instance.activate();
    still.activate();
    for (lookahead, latency) in [(1.0, late()), (0.0, 0)] {
        let before = play(&still, &music(), &[]);
        assert!(play(&instance, &music(), &[(100, lookahead)]) == before, "the sound stays");
        assert_eq!(host.latency_changes(), 0, "not on the audio thread");
        host.idle();
        host.idle();
        assert_eq!(host.latency_changes(), 1);
        assert!(play(&instance, &music(), &[]) == play(&still, &music(), &[]), "until then");

        instance.deactivate();
        still.deactivate();
        plain(&instance);
        plain(&still);
        set(&still, "Lookahead", lookahead);
        instance.activate();
        still.activate();
        assert_eq!((instance.latency(), still.latency()), (latency, latency));
        let delayed = play(&instance, &impulse(100), &[]);
        assert!(delayed == impulse(100 + latency), "by as much as is reported");
        assert!(play(&still, &impulse(100), &[]) == delayed);
        host.idle();
        assert_eq!(host.latency_changes(), 0, "the host knows it");
    }
}

#[test]
fn a_host_that_only_reads_the_latency_again_gets_the_sound_with_it() {
    let (host, handler) = with_run_loop();
    let instance = instance(Some(&handler));
    set(&instance, "Mix", 0.0);
    assert_eq!(instance.latency(), 0);
    instance.activate();
    for (lookahead, before, latency) in [(1.0, 0, late()), (0.0, late(), 0)] {
        assert_eq!(instance.latency(), before);
        let sound = play(&instance, &impulse(100), &[(0, lookahead)]);
        assert!(sound == impulse(100 + before), "not before the host knows it");
        host.idle();
        assert_eq!((host.latency_changes(), instance.latency()), (1, latency));
        // In this call the output crossfades from the old latency to the new.
        assert!(play(&instance, &silence(), &[]) == silence());
        assert!(play(&instance, &impulse(100), &[]) == impulse(100 + latency));
        host.idle();
        assert_eq!((host.latency_changes(), instance.latency()), (0, latency));
    }
}

#[test]
fn the_latency_is_known_before_the_activation() {
    let (host, handler) = with_run_loop();
    let instance = instance(Some(&handler));
    set(&instance, "Lookahead", 1.0);
    set(&instance, "Mix", 0.0);
    assert_eq!(instance.latency(), late());
    instance.activate();
    assert!(play(&instance, &impulse(100), &[]) == impulse(100 + late()));
    host.idle();
    assert_eq!(host.latency_changes(), 0);

    // A host that has read the latency too early is asked to read it again.
    instance.deactivate();
    set(&instance, "Lookahead", 0.0);
    instance.activate();
    assert!(play(&instance, &impulse(100), &[]) == impulse(100));
    host.idle();
    assert_eq!((host.latency_changes(), instance.latency()), (1, 0));
}

#[test]
fn another_rate_has_another_latency() {
    let (host, handler) = with_run_loop();
    let instance = instance(Some(&handler));
    set(&instance, "Lookahead", 1.0);
    let activate = |rate: f64| {
        instance.set_up(rate, FRAMES);
        instance.activate();
        play(&instance, &silence(), &[]);
        host.idle();
        instance.deactivate();
        host.latency_changes()
    };
    assert_eq!((instance.latency(), activate(RATE)), (late(), 0));
    assert_eq!(activate(2.0 * RATE), 1, "the host has not read it again");

    // nice-plug's rates are `f32`.
    let late = ToneFilter::lookahead;
    let differs = |rate: &f64| late(*rate) != late(f64::from(*rate as f32));
    let rate = (0..).map(|step| RATE + 1e-3 * f64::from(step)).find(differs).unwrap();
    instance.set_up(rate, FRAMES);
    assert_eq!((instance.latency(), activate(rate)), (late(f64::from(rate as f32)), 0));
}

#[test]
fn a_change_that_is_taken_back_within_its_block_is_none() {
    let (host, handler) = with_run_loop();
    let instance = instance(Some(&handler));
    instance.activate();
    play(&instance, &music(), &[(100, 1.0), (200, 0.0)]);
    host.idle();
    assert_eq!((host.latency_changes(), instance.latency()), (0, 0));
}

#[test]
fn the_run_loop_is_left_with_the_plugin() {
    let (host, handler) = with_run_loop();
    let instance = instance(Some(&handler));
    assert_eq!(host.timers(), 1);
    drop(instance);
    assert!(host.timers() == 0);
}

/// Tests a host on Linux without a run loop, which nice-plug's thread must call instead.
#[cfg(target_os = "linux")]
#[test]
fn a_host_without_a_run_loop_is_asked_too_but_not_on_the_audio_thread() {
    let host = ComWrapper::new(Host::<false>::default());
    let handler = host.to_com_ptr().unwrap();
    let instance = instance(Some(&handler));
    instance.activate();
    // This thread has created the instance. Here the host could only be called within `process`.
    block(&instance, &music()[..FRAMES], &[(0, 1.0)]);
    assert!(host.restarts() == 0);
    instance.deactivate();
    instance.activate();
    assert_eq!(instance.latency(), late());

    play(&instance, &music(), &[(0, 0.0)]);
    let start = std::time::Instant::now();
    while host.restarts() == 0 && start.elapsed().as_secs() < 10 {
        thread::yield_now();
    }
    assert_eq!(host.restarts(), 1);
    assert_eq!(instance.latency(), 0);
}
