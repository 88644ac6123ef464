//! Properties of the filter that must hold however a host uses it.

use crate::filtered;
use tone_filter_dsp::{
    BLOCK, BandMask, Error, Listen, Routing, SPECS, Settings, ToneFilter, Voice,
};
use tone_filter_testkit::{
    reference,
    signals::{noisy_chord, sine, white},
};

const RATE: f64 = 44_100.0;

const BYPASS: Routing = Routing { bypass: true, listen: Listen::Main, midi_out: false, mpe: false };

fn filter(settings: &Settings) -> ToneFilter {
    ToneFilter::new(RATE, settings).unwrap()
}

#[test]
fn in_place_and_out_of_place_are_the_same() {
    let (left, right) = (noisy_chord(0.1, RATE), white(0.1, RATE));
    let (mut l, mut r) = (left.clone(), right.clone());
    filter(&Settings::REFERENCE).process(&mut [&mut l, &mut r]);
    let (mut to_l, mut to_r) = (vec![9.0; left.len()], vec![9.0; left.len()]);
    filter(&Settings::REFERENCE).process_into(&[&left, &right], &mut [&mut to_l, &mut to_r]);
    assert!(l == to_l && r == to_r);
}

#[test]
fn a_tail_dies_away_and_leaves_no_denormals_behind() {
    let settings = Settings { floor: -90.0, ..Settings::REFERENCE };
    let mut filter = filter(&settings);
    filtered(&mut filter, &noisy_chord(1.0, RATE));
    for _ in 0..120 {
        filtered(&mut filter, &vec![0.0; 22_050]);
        let heard = filter.bands();
        for band in heard.bands {
            for value in [band.power, band.phasor[0]] {
                assert!(value == 0.0 || value.is_normal(), "{value:e}");
            }
        }
    }
}

#[test]
fn the_reported_tail_is_long_enough() {
    let rate = 8000.0;
    for (ring, release, floor) in
        [(1.5663, 188.95, -36.67), (0.1, 1000.0, -90.0), (6.0, 10.0, -90.0)]
    {
        let settings = Settings { mix: 100.0, ring, release, floor, ..Settings::REFERENCE };
        let tail = (ToneFilter::tail(&settings) * rate) as usize;
        let sound = noisy_chord(6.0, rate);
        let signal: Vec<f32> = sound.iter().copied().chain(vec![0.0; tail + 2000]).collect();
        let wet = reference::process(&reference::sound(&settings), rate, &[&signal]).remove(0);
        let peak = |part: &[f64]| part.iter().fold(0f64, |peak, y| peak.max(y.abs()));
        let fall = peak(&wet[sound.len() + tail..]) / peak(&wet[sound.len() - 4000..sound.len()]);
        let db = 20.0 * fall.log10();
        assert!(
            db <= -60.0,
            "ring {ring} s, release {release} ms: {db:.1} dB after {tail} samples"
        );
    }
}

#[test]
fn full_bypass_is_the_input_bit_for_bit() {
    let signal = noisy_chord(0.5, RATE);
    for settings in [Settings::REFERENCE, Settings::default()] {
        for output in [12.0, -24.0] {
            let mut filter = filter(&Settings { mix: 100.0, output, ..settings });
            filter.set_routing(BYPASS);
            filter.reset();
            assert!(filtered(&mut filter, &signal) == signal);
        }
    }
    let mut later = filter(&Settings { mix: 100.0, output: 12.0, ..Settings::REFERENCE });
    filtered(&mut later, &signal);
    later.set_routing(BYPASS);
    let output = filtered(&mut later, &signal);
    // The smoothing takes 20 ms in whole blocks of 64, and begins after at most one block.
    let settled = (0.02 * RATE) as usize + 2 * BLOCK;
    assert!(output[settled..] == signal[settled..]);
}

#[test]
fn jumps_of_numbers_do_not_click() {
    // A click is a step that the sound has neither before nor after the change. A low `tone` and a low note keep the steps of the
    // sound itself small.
    let calm = Settings { tone: 500.0, ..Settings::REFERENCE };
    let mut changes = Vec::new();
    let mut push = |what, one, other| changes.extend([(what, one, other), (what, other, one)]);
    for spec in SPECS.iter().filter(|spec| spec.id != "tone") {
        let (mut low, mut high) = (calm, calm);
        spec.set(&mut low, spec.min);
        spec.set(&mut high, spec.max);
        push(spec.id, low, high);
    }
    push("bands", calm, Settings { bands: BandMask::NONE, ..calm });
    let square = Settings { voice: Voice::Square, ..calm };
    push("octave", square, Settings { octave: 1.0, ..square });
    push("freeze", calm, Settings { freeze: true, ..calm });

    let seconds = 2.0;
    let (left, right) = (sine(220.0, 0.4, seconds, RATE), sine(330.0, 0.4, seconds, RATE));
    let change_at = left.len() / 2;
    for (what, before, after) in changes {
        let mut filter = filter(&before);
        let (mut l, mut r) = (left.clone(), right.clone());
        filter.process(&mut [&mut l[..change_at], &mut r[..change_at]]);
        filter.set_settings(&after).unwrap();
        filter.process(&mut [&mut l[change_at..], &mut r[change_at..]]);
        for (side, y) in [("left", l), ("right", r)] {
            let steepest = |part: &[f32]| {
                part.windows(2).fold(0f32, |steepest, pair| steepest.max((pair[1] - pair[0]).abs()))
            };
            let around = &y[change_at - 10..change_at + 2000];
            let quiet =
                steepest(&y[change_at - 8000..change_at]).max(steepest(&y[y.len() - 8000..]));
            let click = steepest(around);
            assert!(click <= 1.25 * quiet + 0.005, "{what} {side}: {click} against {quiet}");
        }
    }
}

#[test]
fn a_filter_for_no_channels_is_one_for_one() {
    let [none, one] = [0, 1].map(|channels| {
        let mut filter = filter(&Settings::default()).with_channels(channels);
        filtered(&mut filter, &white(1.0, RATE))
    });
    assert!(none.iter().all(|sample| sample.is_finite()));
    assert_eq!(none, one);
}

#[test]
fn faults_in_the_input_are_forgotten() {
    // After the fault, the inputs are equal; two ring times later, the outputs must be, too.
    let settings = Settings { ring: 0.4, release: 48.0, ..Settings::REFERENCE };
    let music = noisy_chord(3.0, RATE);
    type Fault = (&'static str, fn(f32) -> f32);
    let faults: [Fault; 3] = [
        ("denormals", |x| x.signum() * 1e-40),
        ("1e30", |x| x.signum() * 1e30),
        ("full-scale DC", |_| 1.0),
    ];
    let truth = filtered(&mut filter(&settings), &music);
    for (what, fault) in faults {
        let mut faulty = music.clone();
        for x in &mut faulty[44_100..44_580] {
            *x = fault(*x);
        }
        let output = filtered(&mut filter(&settings), &faulty);
        let after = 44_580 + (2.0 * 0.4 * RATE) as usize;
        let worst = output[after..]
            .iter()
            .zip(&truth[after..])
            .fold(0f32, |w, (a, b)| w.max((a - b).abs()));
        assert!(worst < 1e-3, "{what}: still {worst} off");
    }
}

#[test]
fn auto_level_forgets_faults() {
    let settings = Settings { focus: 0.0, ..Settings::default() };
    let music = noisy_chord(30.0, RATE);
    let mut faulty = music.clone();
    faulty[44_100..44_580].fill(f32::MAX);
    let [truth, faulty] = [music, faulty].map(|input| {
        let mut filter = filter(&settings);
        filtered(&mut filter, &input);
        filter.bands()
    });
    for (truth, faulty) in [(truth.gain, faulty.gain), (truth.makeup, faulty.makeup)] {
        assert!((faulty / truth - 1.0).abs() < 0.1, "{faulty}, not {truth}");
    }
}

#[test]
fn values_out_of_range_are_refused() {
    let bad = Settings { drive: 0.5, ..Settings::REFERENCE };
    assert!(matches!(ToneFilter::new(RATE, &bad), Err(Error::Setting(e)) if e.id == "drive"));
    for drive in [f32::NAN, f32::INFINITY, 0.99, 400.1] {
        assert!(Settings { drive, ..Settings::REFERENCE }.validate().is_err(), "{drive}");
    }
    for rate in [0.0, -1.0, 999.0, 1.1e9, f64::MAX, f64::NAN, f64::INFINITY] {
        let error = ToneFilter::new(rate, &Settings::REFERENCE).unwrap_err();
        assert!(matches!(error, Error::SampleRate(_)), "{rate}");
    }
    let mut filter = filter(&Settings::REFERENCE);
    assert_eq!(filter.set_settings(&bad).unwrap_err().id, "drive");
    assert_eq!(*filter.settings(), Settings::REFERENCE);
}

#[test]
fn a_filter_is_made_on_the_stack_of_any_thread() {
    // The stack of a thread on macOS has 512 KiB.
    let thread = std::thread::Builder::new().stack_size(512 * 1024);
    let made = thread.spawn(|| {
        let mut filter = ToneFilter::new(48_000.0, &Settings::default()).unwrap().with_channels(2);
        filter.process(&mut [&mut [0.1; 64], &mut [0.1; 64]]);
        filter.latency()
    });
    assert_eq!(made.unwrap().join().unwrap(), 0);
}
