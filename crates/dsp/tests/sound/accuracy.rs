//! The published sound on every kernel, and the displayed bands.

use tone_filter_dsp::{
    BandRange, BandState, Kernel, Settings, ToneFilter,
    notes::{TONES, frequency},
};
use tone_filter_testkit::{
    reference::{self, Bank},
    signals::{noisy_chord, sine, snr, white},
    sweep,
};

fn wet() -> Settings {
    Settings { mix: 100.0, ..Settings::REFERENCE }
}

fn whole() -> Settings {
    Settings { range: BandRange::Whole, ..wet() }
}

fn filter(rate: f64, settings: &Settings) -> ToneFilter {
    ToneFilter::new(rate, settings).unwrap()
}

#[test]
fn the_reference_at_44100_is_the_published_sound() {
    let rate = 44_100.0;
    for (what, input) in [("noise", white(2.0, rate)), ("chord", noisy_chord(2.0, rate))] {
        let mut bank = Bank::published();
        let truth: Vec<f64> = input.iter().map(|&x| bank.next(f64::from(x))).collect();
        let mut signal = input;
        filter(rate, &wet()).process(&mut [&mut signal]);
        let db = snr(&truth, &signal);
        println!("{what}: {db:.1} dB");
        assert!(db >= 80.0, "{what}: {db:.1} dB");
    }
}

#[test]
fn the_bands_are_those_of_the_reference() {
    let rate = 48_000.0;
    let input = noisy_chord(2.0, rate);
    let mut filter = filter(rate, &whole());
    let mut bank = Bank::new(&reference::sound(&whole()), rate);
    let mut outputs = Vec::new();
    for &x in &input {
        bank.next(f64::from(x));
        outputs.push(bank.bands.map(|band| band.output));
    }
    filter.process(&mut [&mut input.clone()]);
    let heard = filter.bands();
    let close = |a: f32, b: f64| (f64::from(a) / b - 1.0).abs() < 1e-4;
    assert!(close(heard.total_power, bank.total_power));

    for (tone, (band, truth)) in heard.bands.iter().zip(bank.bands).enumerate() {
        assert!(close(band.power, truth.power), "tone {tone}");
        assert!(close(band.ratio, truth.power / (bank.total_power + 1e-6)), "tone {tone}");
    }
    // The last three periods of the chord's notes A3 C#4 E4 A4 C#5, as the meter draws them.
    for tone in [0, 4, 7, 12, 16] {
        let band = &heard.bands[tone];
        let period = rate / frequency(tone, 440.0, 0.0);
        let ago = 0..(3.0 * period) as usize;
        let drawn: Vec<f32> = ago.clone().map(|t| band.wave(t as f32 / rate as f32)).collect();
        let played: Vec<f64> = ago.map(|t| outputs[input.len() - 1 - t][tone]).collect();
        let db = snr(&played, &drawn);
        assert!(db > 20.0, "tone {tone}: the picture of the wave is {db:.1} dB from the wave");
        // Three periods of 100 points rise through zero at the start.
        let mut points = [0.0; 301];
        band.trace(3.0, &mut points);
        for (point, y) in [(0, 0.0), (25, 1.0), (50, 0.0), (75, -1.0), (300, 0.0)] {
            assert!((points[point] - y).abs() < 1e-2, "tone {tone}, point {point}: {points:?}");
        }
    }
}

#[test]
fn every_tone_lights_its_own_band() {
    let rate = 44_100.0;
    for tone in sweep::tenth(0..TONES) {
        let mut signal = sine(frequency(tone, 440.0, 0.0), 0.3, 1.5, rate);
        let mut filter = filter(rate, &whole());
        filter.process(&mut [&mut signal]);
        for (other, band) in filter.bands().bands.iter().enumerate() {
            let lit = band.state != BandState::Inactive;
            assert_eq!(lit, other == tone, "tone {tone}, band {other}: {band:?}");
        }
    }
}

#[test]
fn a_band_lights_from_the_threshold_on() {
    let settings = Settings { threshold: -20.0, ..whole() };
    // A steady sine has its share of the power in its band, too.
    for (decibels, lit) in [(-21.5, false), (-18.5, true)] {
        let [loud, quiet] = [(12, 0.0), (36, decibels)].map(|(tone, decibels)| {
            sine(frequency(tone, 440.0, 0.0), 0.3 * 10f64.powf(decibels / 20.0), 1.5, 44_100.0)
        });
        let mut filter = filter(44_100.0, &settings);
        filter.process(&mut [&mut loud.iter().zip(&quiet).map(|(a, b)| a + b).collect::<Vec<_>>()]);
        assert_eq!(filter.bands().bands[36].state != BandState::Inactive, lit, "{decibels} dB");
    }
}

#[test]
fn the_wet_signal_is_the_references_to_96_db() {
    let both = |rate| [true, false].map(|is_noise| (rate, wet().ring, is_noise));
    let cases = [44_100.0, 96_000.0, 192_000.0].map(both).concat();
    // Bands that decay by 77 dB within a block of 64 samples.
    let cases = sweep::part(6, cases).into_iter().chain([(1000.0, 0.05, true)]);
    for (rate, ring, is_noise) in cases {
        let settings = Settings { ring, ..wet() };
        let input = if is_noise { white(10.0, rate) } else { noisy_chord(10.0, rate) };
        let truth = reference::process(&reference::sound(&settings), rate, &[&input]).remove(0);
        for kernel in Kernel::available() {
            let mut output = input.clone();
            filter(rate, &settings).with_kernel(kernel).process(&mut [&mut output]);
            let db = snr(&truth, &output);
            assert!(db >= 96.0, "{kernel:?}, noise {is_noise} at {rate} Hz: {db:.1} dB");
        }
    }
}

#[test]
fn every_cpu_has_the_plain_kernels_and_its_own() {
    let names: Vec<_> = Kernel::available().map(Kernel::name).collect();
    let native = if cfg!(target_arch = "x86_64") { "sse2" } else { "neon" };
    assert_eq!(names[..3], ["scalar", "portable", native]);
    assert_eq!(Kernel::best().name(), *names.last().unwrap());
    let message = "AVX2".parse::<Kernel>().unwrap_err().to_string();
    assert_eq!(message, format!("this CPU has no kernel 'AVX2'; use one of {}", names.join(", ")));
    // The name of a kernel of earlier versions.
    assert_eq!("avx512-zen".parse::<Kernel>().ok(), "avx512".parse().ok());
}
