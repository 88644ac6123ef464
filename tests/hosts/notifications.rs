//! Tests of the plugin's calls to the host after changes of tail, latency, key names and preset, and of the status of a buffer. The
//! host checks that each call comes on an allowed thread.

use std::{iter::repeat, thread::scope};
use tone_filter_dsp::{NoteValue, Settings, ToneFilter};
use tone_filter_hosts::{RATE, rounded_rate};
use tone_filter_presets::{Preset, ids};
use tone_filter_testkit::{
    clap::{
        Call::{self, Latency, Names, Rescan, Restart, Tail},
        Change, Instance, Midi, ProcessStatus, Processor, at_frame, transport_at,
    },
    plugin::{assert_near, change, instance, settings},
};

struct Host {
    processor: Option<Processor>,
    instance: Instance,
}

impl Host {
    fn new() -> Self {
        let mut host = Self { instance: instance(), processor: None };
        host.activate(RATE);
        host
    }

    /// Activates the plugin, after deactivating it if needed. Returns its calls to the host.
    fn activate(&mut self, rate: f64) -> Vec<Call> {
        self.deactivate();
        self.processor = Some(self.instance.activate(rate, 512).unwrap());
        self.instance.take_calls()
    }

    fn deactivate(&mut self) {
        self.processor.take().into_iter().for_each(|processor| self.instance.deactivate(processor));
    }

    /// Runs `call` on an audio thread. Returns the plugin's calls to the host.
    fn audio(&mut self, call: impl FnOnce(&mut Processor) + Send) -> Vec<Call> {
        let processor = self.processor.as_mut().unwrap();
        scope(|scope| scope.spawn(|| call(processor)).join().unwrap());
        self.instance.take_calls()
    }

    /// Plays a buffer with `changes`. `tempos` are the host's tempos at the buffer's start and from its middle on. Returns the
    /// plugin's calls to the host.
    fn play_at(&mut self, changes: &[Change], tempos: [Option<f64>; 2]) -> Vec<Call> {
        let [first, then] = tempos.map(|tempo| tempo.map(transport_at));
        self.audio(|processor| {
            processor.transport = first;
            processor.later_transport = then.map(|transport| at_frame(transport, 256));
            let mut signal = [vec![0.1; 512], vec![0.1; 512]];
            processor.run(&mut signal, true, &mut repeat(512), changes).unwrap();
        })
    }

    /// Plays a buffer with a parameter change. Returns the plugin's calls to the host.
    fn play(&mut self, id: &str, value: f64) -> Vec<Call> {
        self.play_at(&[change(0, id, value)], [None; 2])
    }

    fn still(&mut self) -> Vec<Call> {
        self.play_at(&[], [None; 2])
    }

    fn play_midi(&mut self, message: [u8; 3]) {
        self.audio(|processor| processor.notes = vec![Midi { frame: 0, message }]);
        self.still();
        self.audio(|processor| processor.notes.clear());
    }

    /// Returns the tail in samples; `None` if it is infinite.
    fn tail(&mut self) -> Option<u32> {
        self.processor.as_mut().unwrap().tail().unwrap()
    }

    fn latency(&mut self) -> u32 {
        self.instance.latency().unwrap()
    }
}

#[test]
fn a_changed_tail_is_reported_on_the_audio_thread() {
    let mut host = Host::new();
    let samples = |settings: &Settings| Some((ToneFilter::tail(settings) * RATE).ceil() as u32);
    assert_eq!(host.tail(), samples(&Settings::default()));
    assert_eq!(host.still(), [], "the host knows it");
    for (id, value) in [("ring", 0.9), ("release", 0.9), ("freeze", 1.0)] {
        assert_eq!(host.play(id, value), [Tail], "{id}");
        assert_eq!(host.still(), [], "once is enough: {id}");
    }
    assert_eq!(host.tail(), None);
    assert_eq!(host.play("freeze", 0.0), [Tail]);
    assert_eq!(host.play("mix", 0.1), []);
    assert_eq!(host.play_at(&[], [Some(60.0), None]), [], "nothing follows the tempo");

    let quarter = NoteValue::ENTRIES.iter().position(|entry| entry.0 == "1/4").unwrap();
    assert_eq!(host.play("sync", quarter as f64), [Tail]);
    let sync = Settings { sync: NoteValue::new(quarter), ..Settings::default() };
    assert_eq!(host.play_at(&[], [Some(60.0), None]), [Tail]);
    assert_eq!(host.tail(), samples(&sync.at_tempo(60.0)));
    assert_eq!(host.play_at(&[], [Some(60.0), Some(240.0)]), [Tail], "within a block");
    assert_eq!(host.tail(), samples(&sync.at_tempo(240.0)));
    host.activate(2.0 * RATE);
    let calls = host.play_at(&[], [Some(240.0), None]);
    assert_eq!(calls, [Tail], "at another rate it has more samples");
}

#[test]
fn a_first_tempo_of_0_is_a_tempo() {
    let calls = Host::new().play_at(&[], [Some(0.0), None]);
    assert_eq!(calls, [Tail], "the host has not asked for it");
}

#[test]
fn a_host_may_sleep_once_the_tail_is_over() {
    let mut host = Host::new();
    let mut silence = vec![vec![0.0; host.tail().unwrap() as usize]; 2];
    let processor = host.processor.as_mut().unwrap();
    processor.run(&mut silence, true, &mut repeat(512), &[]).unwrap();
    for (sample, expected) in
        [(0.0, ProcessStatus::ContinueIfNotQuiet), (0.5, ProcessStatus::Continue)]
    {
        let mut block = [[sample; 480]; 2];
        let [left, right] = &mut block;
        assert_eq!(processor.process(None, &mut [left, right], &[]).unwrap(), expected);
    }
}

#[test]
fn a_latency_that_is_taken_back_changes_nothing() {
    let mut host = Host::new();
    host.tail();
    let within = [change(100, "lookahead", 1.0), change(200, "lookahead", 0.0)];
    assert_eq!(host.play_at(&within, [None; 2]), []);
    assert_eq!((host.play("lookahead", 1.0), host.play("lookahead", 0.0)), (vec![Restart], vec![]));
    assert_eq!((host.activate(RATE), host.latency()), (vec![], 0));
}

#[test]
fn a_new_latency_requests_one_restart() {
    let mut host = Host::new();
    let late = ToneFilter::lookahead(RATE) as u32;
    let before = host.tail().unwrap();
    assert_eq!(host.play("lookahead", 1.0), [Restart]);
    host.instance.idle();
    assert_eq!((host.still(), host.play("lookahead", 1.0)), (vec![], vec![]), "once is enough");
    assert_eq!((host.latency(), host.tail()), (0, Some(before)));
    host.deactivate();
    assert_eq!(host.instance.take_calls(), []);
    assert_eq!((host.activate(RATE), host.latency()), (vec![Latency], late));
    assert_eq!((host.still(), host.tail()), (vec![Tail], Some(before + late)));

    // Changes also come while the plugin does not process: as events, or as a state.
    let on = host.instance.save().unwrap();
    let off = |host: &mut Host| {
        host.audio(|processor| processor.set(&[change(0, "lookahead", 0.0)]).unwrap())
    };
    assert_eq!(off(&mut host), [Restart]);
    host.instance.load(&on).unwrap();
    assert!(!host.instance.take_calls().contains(&Restart), "the change is taken back");
    assert_eq!(off(&mut host), [Restart]);
    assert_eq!((host.activate(RATE), host.latency()), (vec![Latency], 0));
    host.instance.load(&on).unwrap();
    assert_eq!((host.instance.take_calls(), host.latency()), (vec![Restart, Rescan], 0));
    let twice = ToneFilter::lookahead(2.0 * RATE) as u32;
    assert_eq!((host.activate(2.0 * RATE), host.latency()), (vec![Latency], twice));
    assert_eq!((host.activate(RATE), host.latency()), (vec![Latency], late), "at another rate");
}

#[test]
fn a_rate_that_nice_plug_rounds_has_one_latency() {
    let mut host = Host { instance: instance(), processor: None };
    host.instance.set(&[change(0, "lookahead", 1.0)]).unwrap();
    assert_eq!(host.activate(rounded_rate()), [Latency]);
    assert_eq!(host.still(), [Tail], "no restart");
}

#[test]
fn new_key_names_are_reported_on_the_main_thread() {
    let mut host = Host::new();
    let play = |host: &mut Host, id, value| {
        let mut calls = host.play(id, value);
        calls.retain(|call| *call != Tail);
        assert_eq!(calls, [], "not from the audio thread");
        host.instance.idle();
        host.instance.take_calls()
    };
    assert_eq!(play(&mut host, "transpose", 0.5), [], "a host that has not asked knows none");
    assert_eq!(host.instance.note_names().unwrap().len(), 77);
    assert_eq!(play(&mut host, "transpose", 1.0), [Names]);
    assert_eq!(host.instance.note_names().unwrap().len(), 76);
    assert_eq!(play(&mut host, "keys", 1.0), [Names]);
    assert_eq!((play(&mut host, "keys", 2.0), play(&mut host, "mix", 0.3)), (vec![], vec![]));
    host.deactivate();
    for (id, calls) in [("transpose", vec![Names]), ("mix", vec![])] {
        host.instance.set(&[change(0, id, 0.5)]).unwrap();
        assert_eq!(host.instance.take_calls(), calls, "at once, as this is the main thread");
    }
}

#[test]
fn a_program_change_loads_a_preset_on_the_main_thread() {
    let mut host = Host::new();
    host.play_midi([0xC3, 4, 0]);
    // The audio thread must not load the preset.
    assert_near(&settings(&mut host.instance), &Settings::default());
    host.instance.take_calls();
    host.instance.idle();
    let preset = Preset::factory(ids().nth(4).unwrap()).unwrap().settings;
    assert_near(&settings(&mut host.instance), &preset);
    assert_eq!(host.instance.take(Rescan), 1);
    host.play_midi([0xB0, 74, 64]);
    host.instance.idle();
    // The controller 74 is not mapped to a parameter.
    assert_near(&settings(&mut host.instance), &preset);
}
