//! Tests of the VST3 plugin's latency and tail: how hosts learn of a change. `alone/orders` tests the sound.

use std::thread;
use tone_filter_dsp::{NoteValue, Settings, ToneFilter};
use tone_filter_hosts::{RATE, rounded_rate};
use tone_filter_testkit::{
    plugin::factory,
    vst3::{Host, Instance, Queue},
};
use vst3::{
    ComPtr, ComWrapper,
    Steinberg::{Vst::*, *},
};

const FRAMES: usize = 512;

fn instance(handler: &ComPtr<IComponentHandler>) -> Instance {
    Instance::set_up_stereo(&factory(), FRAMES, Some(handler))
}

/// Plays a buffer with `changes` of Lookahead: frame and value.
fn play(instance: &Instance, changes: &[(i32, ParamValue)]) {
    let queue = Queue { parameter: instance.id("Lookahead"), points: changes.to_vec() };
    let mut output = vec![vec![0.0; FRAMES]; 2];
    assert_eq!(instance.process(None, &mut output, vec![queue]), kResultOk);
}

/// Returns the latency in samples when Lookahead is on.
fn lookahead_latency() -> usize {
    ToneFilter::lookahead(RATE)
}

/// Plugin in a host with a run loop.
struct Looped {
    host: ComWrapper<Host<true>>,
    instance: Instance,
}

impl Looped {
    fn new() -> Self {
        let host = ComWrapper::new(Host::default());
        let instance = instance(&host.to_com_ptr().unwrap());
        Self { host, instance }
    }

    fn set_lookahead(&self, value: f64) {
        self.instance.set(self.instance.id("Lookahead"), value);
    }

    /// Plays on an audio thread, with `changes` of Lookahead in the first buffer. Then runs the run loop. Returns how often the
    /// plugin has reported another latency.
    fn play(&self, changes: &[(i32, ParamValue)]) -> usize {
        let (instance, host) = (&self.instance, &self.host);
        let audio =
            || (0..20).for_each(|index| play(instance, if index == 0 { changes } else { &[] }));
        thread::scope(|scope| scope.spawn(audio).join().unwrap());
        assert_eq!(host.latency_changes(), 0, "not on the audio thread");
        host.idle();
        host.idle();
        host.latency_changes()
    }

    fn latency(&self) -> usize {
        self.instance.latency()
    }
}

#[test]
fn a_new_latency_is_requested_once_on_the_main_thread() {
    let plugin = Looped::new();
    plugin.instance.activate();
    // In the last case, the host reads the latency without activating the plugin again.
    for (lookahead, latency, activates) in
        [(1.0, lookahead_latency(), true), (0.0, 0, true), (1.0, lookahead_latency(), false)]
    {
        assert_eq!(plugin.play(&[(100, lookahead)]), 1);
        if activates {
            plugin.instance.deactivate();
            plugin.instance.activate();
        }
        assert_eq!(plugin.latency(), latency);
        assert_eq!((plugin.play(&[]), plugin.latency()), (0, latency), "the host knows it");
    }
}

#[test]
fn the_latency_is_known_before_the_activation() {
    let plugin = Looped::new();
    plugin.set_lookahead(1.0);
    assert_eq!(plugin.latency(), lookahead_latency());
    plugin.instance.activate();
    assert_eq!(plugin.play(&[]), 0);

    // A host that read the latency too early is asked to read it again.
    plugin.instance.deactivate();
    plugin.set_lookahead(0.0);
    plugin.instance.activate();
    assert_eq!((plugin.play(&[]), plugin.latency()), (1, 0));
}

#[test]
fn the_tail_is_known_at_any_time() {
    let mut plugin = Looped::new();
    let tail = |settings: &Settings| (ToneFilter::tail(settings) * RATE).ceil() as u32;
    let default = tail(&Settings::default());
    assert_eq!(plugin.instance.tail(), default, "before the activation");
    plugin.instance.activate();
    for _ in 0..=default as usize / (20 * FRAMES) {
        plugin.play(&[]);
    }
    assert_eq!(plugin.instance.tail(), default, "after silence");

    let quarter = NoteValue::ENTRIES.iter().position(|entry| entry.0 == "1/4").unwrap();
    let place = quarter as f64 / (NoteValue::ENTRIES.len() - 1) as f64;
    plugin.instance.deactivate();
    plugin.instance.set(plugin.instance.id("Sync"), place);
    plugin.instance.activate();
    let sync = Settings { sync: NoteValue::new(quarter), ..Settings::default() };
    for tempo in [60.0, 240.0] {
        plugin.instance.tempo = Some(tempo);
        plugin.play(&[]);
        assert_eq!(plugin.instance.tail(), tail(&sync.at_tempo(tempo)), "{tempo}");
    }
    plugin.instance.deactivate();
    plugin.instance.set(plugin.instance.id("Freeze"), 1.0);
    assert_eq!(plugin.instance.tail(), u32::MAX);
}

#[test]
fn another_rate_has_another_latency() {
    let plugin = Looped::new();
    plugin.set_lookahead(1.0);
    let reports = |rate: f64| {
        plugin.instance.set_up(rate, FRAMES);
        plugin.instance.activate();
        let reports = plugin.play(&[]);
        plugin.instance.deactivate();
        reports
    };
    assert_eq!((plugin.latency(), reports(RATE)), (lookahead_latency(), 0));
    assert_eq!(reports(2.0 * RATE), 1, "the host has not read it again");

    let rate = rounded_rate();
    plugin.instance.set_up(rate, FRAMES);
    let rounded = ToneFilter::lookahead(f64::from(rate as f32));
    assert_eq!((plugin.latency(), reports(rate)), (rounded, 0));
}

#[test]
fn a_change_undone_within_its_block_is_ignored() {
    let plugin = Looped::new();
    plugin.instance.activate();
    assert_eq!((plugin.play(&[(100, 1.0), (200, 0.0)]), plugin.latency()), (0, 0));
}

#[cfg(target_os = "linux")]
#[test]
fn without_a_run_loop_the_worker_thread_asks() {
    let host = ComWrapper::new(Host::<false>::default());
    let instance = instance(&host.to_com_ptr().unwrap());
    instance.activate();
    // This thread has created the instance. Here the plugin could call the host only within `process`, so nice-plug's worker
    // thread must make the request.
    play(&instance, &[(0, 1.0)]);
    assert!(host.restarts() == 0);
    instance.deactivate();
    instance.activate();
    assert_eq!(instance.latency(), lookahead_latency());

    thread::scope(|scope| scope.spawn(|| play(&instance, &[(0, 0.0)])).join().unwrap());
    tone_filter_testkit::plugin::wait("no request", || (host.restarts() > 0).then_some(()));
    assert_eq!(host.restarts(), 1);
    assert_eq!(instance.latency(), 0);
}
