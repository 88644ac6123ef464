//! The latency of the VST3 plugin: how hosts learn of a change, and when the sound has it.
#![cfg(any(target_os = "linux", windows))]

mod host;

use host::*;
use std::thread;
use tone_filter_dsp::ToneFilter;
use vst3::{ComPtr, ComWrapper, Steinberg::Vst::IComponentHandler};

/// The latency of Lookahead.
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

fn with_run_loop() -> (ComWrapper<WithRunLoop>, ComPtr<IComponentHandler>) {
    let host = ComWrapper::new(WithRunLoop::default());
    let handler = host.to_com_ptr().unwrap();
    (host, handler)
}

#[test]
fn a_new_latency_is_asked_for_on_the_host_s_thread_and_comes_with_the_activation() {
    let (host, handler) = with_run_loop();
    let (instance, still) = (Instance::new(Some(&handler)), Instance::new(None));
    let plain = |instance: &Instance| instance.set("Mix", 0.0);
    instance.activate(1);
    still.activate(1);
    for (lookahead, latency) in [(1.0, late()), (0.0, 0)] {
        let before = still.play(&music(), &[]);
        assert!(instance.play(&music(), &[(100, lookahead)]) == before, "the sound stays");
        assert_eq!(host.0.take(), 0, "not on the audio thread");
        host.0.idle();
        host.0.idle();
        assert_eq!(host.0.take(), 1);
        assert!(instance.play(&music(), &[]) == still.play(&music(), &[]), "until then");

        instance.activate(0);
        still.activate(0);
        plain(&instance);
        plain(&still);
        still.set("Lookahead", lookahead);
        instance.activate(1);
        still.activate(1);
        assert_eq!((instance.latency(), still.latency()), (latency, latency));
        let delayed = instance.play(&impulse(100), &[]);
        assert!(delayed == impulse(100 + latency), "by as much as is reported");
        assert!(still.play(&impulse(100), &[]) == delayed);
        host.0.idle();
        assert_eq!(host.0.take(), 0, "the host knows it");
    }
}

#[test]
fn a_host_that_only_reads_the_latency_again_gets_the_sound_with_it() {
    let (host, handler) = with_run_loop();
    let instance = Instance::new(Some(&handler));
    instance.set("Mix", 0.0);
    assert_eq!(instance.latency(), 0);
    instance.activate(1);
    for (lookahead, before, latency) in [(1.0, 0, late()), (0.0, late(), 0)] {
        assert_eq!(instance.latency(), before);
        let sound = instance.play(&impulse(100), &[(0, lookahead)]);
        assert!(sound == impulse(100 + before), "not before the host knows it");
        host.0.idle();
        assert_eq!((host.0.take(), instance.latency()), (1, latency));
        // The old latency and the new one are crossfaded.
        assert!(instance.play(&silence(), &[]) == silence());
        assert!(instance.play(&impulse(100), &[]) == impulse(100 + latency));
        host.0.idle();
        assert_eq!((host.0.take(), instance.latency()), (0, latency));
    }
}

#[test]
fn the_latency_is_known_before_the_activation() {
    let (host, handler) = with_run_loop();
    let instance = Instance::new(Some(&handler));
    instance.set("Lookahead", 1.0);
    instance.set("Mix", 0.0);
    assert_eq!(instance.latency(), late());
    instance.activate(1);
    assert!(instance.play(&impulse(100), &[]) == impulse(100 + late()));
    host.0.idle();
    assert_eq!(host.0.take(), 0);

    // A host that has read it too early is asked to read it again.
    instance.activate(0);
    instance.set("Lookahead", 0.0);
    instance.activate(1);
    assert!(instance.play(&impulse(100), &[]) == impulse(100));
    host.0.idle();
    assert_eq!((host.0.take(), instance.latency()), (1, 0));
}

#[test]
fn a_change_that_is_taken_back_within_its_block_is_none() {
    let (host, handler) = with_run_loop();
    let instance = Instance::new(Some(&handler));
    instance.activate(1);
    instance.play(&music(), &[(100, 1.0), (200, 0.0)]);
    host.0.idle();
    assert_eq!((host.0.take(), instance.latency()), (0, 0));
}

#[test]
fn the_run_loop_is_left_with_the_plugin() {
    let (host, handler) = with_run_loop();
    let instance = Instance::new(Some(&handler));
    assert_eq!(host.0.timers.lock().unwrap().len(), 1);
    drop(instance);
    assert!(host.0.timers.lock().unwrap().is_empty());
}

/// nice-plug's thread has to do where a host on Linux has none to offer.
#[cfg(target_os = "linux")]
#[test]
fn a_host_without_a_run_loop_is_asked_too_but_not_on_the_audio_thread() {
    let host = ComWrapper::new(Handler::default());
    let handler = host.to_com_ptr().unwrap();
    let instance = Instance::new(Some(&handler));
    instance.activate(1);
    // On the thread that has made the instance, the call could only come within `process`.
    instance.block(&music()[..FRAMES], instance.id("Lookahead"), &[(0, 1.0)]);
    assert!(host.restarts.lock().unwrap().is_empty());
    instance.activate(0);
    instance.activate(1);
    assert_eq!(instance.latency(), late());

    instance.play(&music(), &[(0, 0.0)]);
    let start = std::time::Instant::now();
    while host.restarts.lock().unwrap().is_empty() && start.elapsed().as_secs() < 10 {
        thread::yield_now();
    }
    assert_eq!(host.restarts.lock().unwrap().len(), 1);
    assert_eq!(instance.latency(), 0);
}
