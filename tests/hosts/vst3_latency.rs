//! Tests of the VST3 plugin's latency: how hosts learn of a change. `alone/orders` tests the sound.

use std::thread;
use tone_filter_dsp::ToneFilter;
use tone_filter_hosts::RATE;
use tone_filter_testkit::{
    plugin::factory,
    vst3::{Host, Instance, Queue, Setup},
};
use vst3::{
    ComPtr, ComWrapper,
    Steinberg::{
        Vst::{IComponentHandler, ParamValue},
        kResultOk,
    },
};

const FRAMES: usize = 512;

fn instance(handler: &ComPtr<IComponentHandler>) -> Instance {
    let setup = Setup { rate: RATE, channels: 2, max_block: FRAMES };
    Instance::with_handler(&factory(), setup, Some(handler))
}

fn set_lookahead(instance: &Instance, value: f64) {
    instance.set(instance.id("Lookahead"), value);
}

/// Plays on an audio thread, with `changes` of Lookahead in the first buffer.
fn play(instance: &Instance, changes: &[(i32, ParamValue)]) {
    let audio =
        || (0..20).for_each(|index| block(instance, if index == 0 { changes } else { &[] }));
    thread::scope(|scope| scope.spawn(audio).join().unwrap());
}

fn block(instance: &Instance, changes: &[(i32, ParamValue)]) {
    let queue = Queue { parameter: instance.id("Lookahead"), points: changes.to_vec() };
    let mut output = [[0.0; FRAMES]; 2];
    let mut output = output.each_mut().map(|channel| &mut channel[..]);
    assert_eq!(instance.process(None, &mut output, vec![queue]), kResultOk);
}

/// Returns the latency in samples when Lookahead is on.
fn late() -> usize {
    ToneFilter::lookahead(RATE)
}

fn with_run_loop() -> (ComWrapper<Host<true>>, Instance) {
    let host = ComWrapper::new(Host::default());
    let instance = instance(&host.to_com_ptr().unwrap());
    (host, instance)
}

#[test]
fn a_new_latency_is_requested_once_on_the_main_thread() {
    let (host, instance) = with_run_loop();
    instance.activate();
    // In the last case, the host reads the latency without activating the plugin again.
    for (lookahead, latency, activates) in
        [(1.0, late(), true), (0.0, 0, true), (1.0, late(), false)]
    {
        play(&instance, &[(100, lookahead)]);
        assert_eq!(host.latency_changes(), 0, "not on the audio thread");
        host.idle();
        host.idle();
        assert_eq!(host.latency_changes(), 1);
        if activates {
            instance.deactivate();
            instance.activate();
        }
        assert_eq!(instance.latency(), latency);
        play(&instance, &[]);
        host.idle();
        assert_eq!((host.latency_changes(), instance.latency()), (0, latency), "the host knows it");
    }
}

#[test]
fn the_latency_is_known_before_the_activation() {
    let (host, instance) = with_run_loop();
    set_lookahead(&instance, 1.0);
    assert_eq!(instance.latency(), late());
    instance.activate();
    play(&instance, &[]);
    host.idle();
    assert_eq!(host.latency_changes(), 0);

    // A host that read the latency too early is asked to read it again.
    instance.deactivate();
    set_lookahead(&instance, 0.0);
    instance.activate();
    play(&instance, &[]);
    host.idle();
    assert_eq!((host.latency_changes(), instance.latency()), (1, 0));
}

#[test]
fn another_rate_has_another_latency() {
    let (host, instance) = with_run_loop();
    set_lookahead(&instance, 1.0);
    let activate = |rate: f64| {
        instance.set_up(rate, FRAMES);
        instance.activate();
        play(&instance, &[]);
        host.idle();
        instance.deactivate();
        host.latency_changes()
    };
    assert_eq!((instance.latency(), activate(RATE)), (late(), 0));
    assert_eq!(activate(2.0 * RATE), 1, "the host has not read it again");

    // nice-plug stores rates as `f32`.
    let late = ToneFilter::lookahead;
    let differs = |rate: &f64| late(*rate) != late(f64::from(*rate as f32));
    let rate = (0..).map(|step| RATE + 1e-3 * f64::from(step)).find(differs).unwrap();
    instance.set_up(rate, FRAMES);
    assert_eq!((instance.latency(), activate(rate)), (late(f64::from(rate as f32)), 0));
}

#[test]
fn a_change_undone_within_its_block_is_ignored() {
    let (host, instance) = with_run_loop();
    instance.activate();
    play(&instance, &[(100, 1.0), (200, 0.0)]);
    host.idle();
    assert_eq!((host.latency_changes(), instance.latency()), (0, 0));
}

#[test]
fn a_released_plugin_leaves_the_run_loop() {
    let (host, instance) = with_run_loop();
    assert_eq!(host.timers(), 1);
    drop(instance);
    assert!(host.timers() == 0);
}

#[cfg(target_os = "linux")]
#[test]
fn without_a_run_loop_the_worker_thread_asks() {
    let host = ComWrapper::new(Host::<false>::default());
    let instance = instance(&host.to_com_ptr().unwrap());
    instance.activate();
    // This thread has created the instance. Here the plugin could call the host only within `process`, so nice-plug's worker
    // thread must make the request.
    block(&instance, &[(0, 1.0)]);
    assert!(host.restarts() == 0);
    instance.deactivate();
    instance.activate();
    assert_eq!(instance.latency(), late());

    play(&instance, &[(0, 0.0)]);
    let start = std::time::Instant::now();
    while host.restarts() == 0 && start.elapsed().as_secs() < 10 {
        thread::yield_now();
    }
    assert_eq!(host.restarts(), 1);
    assert_eq!(instance.latency(), 0);
}
