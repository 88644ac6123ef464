//! Properties of the filter that must hold however a host uses it.

use crate::filtered;
use tone_filter_dsp::{Error, Settings, ToneFilter};
use tone_filter_testkit::{
    reference,
    signals::{noisy_chord, white},
};

const RATE: f64 = 44_100.0;

fn filter(settings: &Settings) -> ToneFilter {
    ToneFilter::new(RATE, settings).unwrap()
}

#[test]
fn into_another_buffer_is_the_same_up_to_the_shorter_length() {
    let (left, right) = (noisy_chord(0.1, RATE), white(0.1, RATE));
    let (mut l, mut r) = (left.clone(), right.clone());
    let [mut one, mut other] = [(); 2].map(|()| filter(&Settings::REFERENCE));
    one.process(&mut [&mut l, &mut r]);
    let (mut to_l, mut to_r) = (vec![9.0; left.len() + 100], vec![9.0; left.len() + 10]);
    other.process_into(&[&left, &right], &mut [&mut to_l, &mut to_r]);
    assert_eq!([&to_l[left.len()..], &to_r[left.len()..]], [&[9.0; 100][..], &[9.0; 10]]);
    assert!(l == to_l[..l.len()] && r == to_r[..r.len()]);
    // Both are at the same time.
    assert_eq!(filtered(&mut one, &left), filtered(&mut other, &left));
}

#[test]
fn a_stack_of_320_kib_suffices() {
    // Ardour activates plugins on a thread with 512 KiB.
    let thread = std::thread::Builder::new().stack_size(320 * 1024);
    let play = || filtered(&mut filter(&Settings::default()), &white(0.1, RATE)).len();
    assert_eq!(thread.spawn(play).unwrap().join().unwrap(), 4410);
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
fn a_filter_for_no_channels_is_one_for_one() {
    let [none, one] = [0, 1].map(|channels| {
        let mut filter = filter(&Settings::default()).with_channels(channels);
        filtered(&mut filter, &white(1.0, RATE))
    });
    assert!(none.iter().all(|sample| sample.is_finite()));
    assert_eq!(none, one);
}

#[test]
fn the_loudness_of_every_channel_is_measured() {
    let makeup = [0, 2].map(|at| {
        let mut filter = filter(&Settings::default()).with_channels(3);
        let mut sound = vec![vec![0.0; 5 * 44_100]; 3];
        sound[at] = noisy_chord(5.0, RATE);
        filter.process(&mut sound.iter_mut().map(|channel| &mut channel[..]).collect::<Vec<_>>());
        filter.bands().makeup
    });
    assert!((makeup[0] / makeup[1] - 1.0).abs() < 1e-3, "{makeup:?}");
}

#[test]
fn a_missing_channel_is_silent_in_the_delays() {
    let dry = Settings { mix: 0.0, lookahead: true, ..Settings::default() };
    let mut filter = filter(&dry);
    filter.process(&mut [&mut white(1.0, RATE), &mut white(1.0, RATE)]);
    filter.process(&mut [&mut vec![0.0; filter.latency()]]);
    let mut channels = [[0.0; 64]; 2];
    filter.process(&mut channels.each_mut().map(|channel| &mut channel[..]));
    assert_eq!(channels, [[0.0; 64]; 2]);
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
