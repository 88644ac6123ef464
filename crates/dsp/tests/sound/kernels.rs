//! Properties of every kernel that this CPU can run.

use tone_filter_dsp::{BLOCK, BandMask, Kernel, Settings, ToneFilter, notes::TONES};
use tone_filter_testkit::{
    reference,
    signals::{noisy_chord, snr, white},
};

const RATES: [f64; 3] = [44_100.0, 96_000.0, 192_000.0];

fn wet() -> Settings {
    Settings { mix: 100.0, ..Settings::REFERENCE }
}

fn filtered(kernel: Kernel, settings: &Settings, rate: f64, input: &[f32]) -> Vec<f32> {
    let mut signal = input.to_vec();
    let mut filter = ToneFilter::new(rate, settings).unwrap().with_kernel(kernel);
    filter.process(&mut [&mut signal]);
    signal
}

#[test]
fn the_wet_signal_is_the_references_to_96_db() {
    for rate in RATES {
        for (what, input) in [("noise", white(10.0, rate)), ("chord", noisy_chord(10.0, rate))] {
            let truth = reference::process(&reference::sound(&wet()), rate, &[&input]).remove(0);
            for kernel in Kernel::available() {
                let db = snr(&truth, &filtered(kernel, &wet(), rate, &input));
                println!("{kernel:?}, {what} at {rate} Hz: {db:.1} dB");
                assert!(db >= 96.0, "{kernel:?}, {what} at {rate} Hz: {db:.1} dB");
            }
        }
    }
}

#[test]
fn kernels_agree_to_90_db_on_every_band_mask_and_limit() {
    let rate = 48_000.0;
    let chord = noisy_chord(2.0, rate);
    // After a click at the end of a block, all bands have nearly the same power.
    let mut click = vec![0.0; 48_000];
    click[BLOCK - 1] = 8.0;
    let one = BandMask::NONE.with(16, true);
    let odd = (0..TONES).step_by(2).fold(BandMask::ALL, |mask, tone| mask.with(tone, false));
    let masks = [BandMask::ALL, one, odd].map(|bands| (Settings { bands, ..wet() }, &chord));
    let open = |voices| Settings { voices, floor: -90.0, threshold: -60.0, release: 10.0, ..wet() };
    let limits = [3.0, 20.0, 30.0, 40.0].map(|voices| (open(voices), &click));
    for (settings, input) in masks.into_iter().chain(limits) {
        let Settings { bands, voices, .. } = settings;
        let truth: Vec<f64> = filtered(Kernel::available().next().unwrap(), &settings, rate, input)
            .into_iter()
            .map(f64::from)
            .collect();
        for kernel in Kernel::available() {
            let db = snr(&truth, &filtered(kernel, &settings, rate, input));
            assert!(db >= 90.0, "{kernel:?}, {bands}, {voices}: {db:.1} dB");
        }
    }
}

#[test]
fn silence_is_silent_and_the_loudest_and_the_faintest_signals_are_finite() {
    let rate = 48_000.0;
    for kernel in Kernel::available() {
        assert!(filtered(kernel, &wet(), rate, &[0.0; 1000]).iter().all(|&y| y == 0.0));
        for drive in [1.0, 400.0] {
            let settings = Settings { drive, threshold: -60.0, floor: -90.0, ..wet() };
            for level in [1e-42, 1e-38, 1e-20, 1e-5, 1e5, 1e30] {
                let input: Vec<f32> = white(1.0, rate).iter().map(|x| x * level).collect();
                let output = filtered(kernel, &settings, rate, &input);
                let fine = output.iter().all(|y| y.is_finite() && y.abs() <= 1.0);
                assert!(fine, "{kernel:?}, drive {drive}, level {level:e}");
            }
        }
    }
}

#[test]
fn every_cpu_has_the_plain_kernels_and_its_own() {
    let names: Vec<_> = Kernel::available().map(Kernel::name).collect();
    let own = if cfg!(target_arch = "x86_64") { "sse2" } else { "neon" };
    assert_eq!(names[..3], ["scalar", "portable", own]);
    assert_eq!(Kernel::best().name(), *names.last().unwrap());
    for name in Kernel::NAMES {
        match name.parse::<Kernel>() {
            Ok(kernel) => assert_eq!(kernel.name(), name),
            Err(error) => assert!(!names.contains(&name), "{error}"),
        }
    }
    // The name of a kernel of earlier versions.
    assert_eq!("avx512-zen".parse::<Kernel>().ok(), "avx512".parse().ok());
}
