//! The f32 filter against the f64 reference.

use tone_filter_dsp::{
    BandRange, BandState, Kernel, PitchClass, Scale, Settings, Stereo, ToneFilter,
    notes::{TONES, frequency},
};
use tone_filter_testkit::{
    reference::{self, Bank},
    signals::{noisy_chord, sine, snr, white},
};

fn wet() -> Settings {
    Settings { mix: 100.0, ..Settings::REFERENCE }
}

fn whole() -> Settings {
    Settings { range: BandRange::Whole, ..wet() }
}

/// Creates a filter with the kernel named by the environment variable.
fn filter(rate: f64, settings: &Settings) -> ToneFilter {
    ToneFilter::new(rate, settings).unwrap().with_kernel(Kernel::from_environment().unwrap())
}

fn filtered(settings: &Settings, rate: f64, input: &[f32]) -> Vec<f32> {
    let mut signal = input.to_vec();
    filter(rate, settings).process(&mut [&mut signal]);
    signal
}

fn assert_close_to_reference(what: &str, settings: &Settings, rate: f64, input: &[f32], db: f64) {
    let truth = reference::process(&reference::sound(settings), rate, &[input]).remove(0);
    let reached = snr(&truth, &filtered(settings, rate, input));
    println!("{what} at {rate} Hz: {reached:.1} dB");
    assert!(reached >= db, "{what} at {rate} Hz: {reached:.1} dB, {db} dB are due");
}

#[test]
fn the_wet_signal_is_the_references_to_80_db_at_every_rate() {
    for rate in [22_050.0, 44_100.0, 48_000.0, 88_200.0, 96_000.0, 176_400.0, 192_000.0] {
        assert_close_to_reference("noise", &wet(), rate, &white(2.0, rate), 80.0);
        assert_close_to_reference("chord", &wet(), rate, &noisy_chord(2.0, rate), 80.0);
        assert_close_to_reference("whole, noise", &whole(), rate, &white(2.0, rate), 80.0);
        assert_close_to_reference("whole, chord", &whole(), rate, &noisy_chord(2.0, rate), 80.0);
    }
}

#[test]
fn the_wet_signal_is_the_references_to_80_db_for_settings_far_from_its_own() {
    let rate = 48_000.0;
    type Change = (&'static str, fn(&mut Settings));
    let changes: [Change; 14] = [
        ("drive 1", |s| s.drive = 1.0),
        ("drive 400", |s| s.drive = 400.0),
        ("threshold -60", |s| s.threshold = -60.0),
        ("threshold -10", |s| s.threshold = -10.0),
        ("ceiling -30", |s| s.ceiling = -30.0),
        ("floor -90", |s| s.floor = -90.0),
        ("ring 0.05", |s| s.ring = 0.05),
        ("ring 10", |s| s.ring = 10.0),
        ("release 10", |s| s.release = 10.0),
        ("tone 20000", |s| s.tone = 20_000.0),
        ("transpose -24", |s| s.transpose = -24.0),
        ("no A4", |s| s.bands = s.bands.with(12, false)),
        ("E major", |s| (s.root, s.scale) = (PitchClass::new(7), Scale::Major)),
        ("transpose 24, tuning 432", |s| (s.transpose, s.tuning) = (24.0, 432.0)),
    ];
    for (what, change) in changes {
        let mut settings = wet();
        change(&mut settings);
        assert_close_to_reference(what, &settings, rate, &noisy_chord(2.0, rate), 80.0);
    }
}

#[test]
fn quiet_and_loud_music_are_the_references_to_80_db() {
    let settings = Settings { floor: -90.0, ..wet() };
    for gain in [1e-3, 0.03, 4.0] {
        let input: Vec<f32> = noisy_chord(2.0, 44_100.0).iter().map(|x| x * gain).collect();
        assert_close_to_reference(&format!("gain {gain}"), &settings, 44_100.0, &input, 80.0);
    }
}

#[test]
fn the_reference_at_44100_is_the_published_sound() {
    let rate = 44_100.0;
    for (what, input) in [("noise", white(2.0, rate)), ("chord", noisy_chord(2.0, rate))] {
        let mut bank = Bank::published();
        let truth: Vec<f64> = input.iter().map(|&x| bank.next(f64::from(x))).collect();
        let db = snr(&truth, &filtered(&wet(), rate, &input));
        println!("{what}: {db:.1} dB");
        assert!(db >= 80.0, "{what}: {db:.1} dB");
    }
}

#[test]
fn mix_output_and_stereo_are_the_references() {
    let rate = 44_100.0;
    let (left, right) = (noisy_chord(1.0, rate), white(1.0, rate));
    for stereo in [Stereo::Mono, Stereo::Stereo] {
        let settings = Settings { stereo, mix: 70.0, output: 3.0, ..Settings::REFERENCE };
        let truth = reference::process(&reference::sound(&settings), rate, &[&left, &right]);
        let (mut l, mut r) = (left.clone(), right.clone());
        filter(rate, &settings).process(&mut [&mut l, &mut r]);
        for (truth, signal) in truth.iter().zip([l, r]) {
            let db = snr(truth, &signal);
            assert!(db >= 80.0, "{stereo:?}: {db:.1} dB");
        }
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
        outputs.push(bank.bands().map(|band| band.output));
    }
    filter.process(&mut [&mut input.clone()]);
    let heard = filter.bands();
    let close = |a: f32, b: f64| (f64::from(a) / b - 1.0).abs() < 1e-4;
    assert!(close(heard.total_power, bank.total_power()));

    for (tone, (band, truth)) in heard.bands.iter().zip(bank.bands()).enumerate() {
        assert!(close(band.power, truth.power), "tone {tone}");
        assert!(close(band.ratio, truth.power / (bank.total_power() + 1e-6)), "tone {tone}");
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
    }
}

#[test]
fn a_pure_a4_lights_band_12_and_no_other() {
    for rate in [44_100.0, 96_000.0] {
        let mut signal = sine(440.0, 0.5, 3.0, rate);
        let mut filter = filter(rate, &wet());
        filter.process(&mut [&mut signal]);
        let bands = filter.bands().bands;
        assert_eq!(bands[12].state, BandState::Saturated);
        for (tone, band) in bands.iter().enumerate().filter(|&(tone, _)| tone != 12) {
            assert_eq!(band.state, BandState::Inactive, "tone {tone}");
            let below = bands[12].level_db() - band.level_db();
            assert!(below >= 20.0, "tone {tone} is only {below:.1} dB below A4");
        }
    }
}

#[test]
fn every_tone_lights_its_own_band() {
    let rate = 44_100.0;
    for tone in 0..TONES {
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
fn percussion_alone_lights_next_to_nothing() {
    // Hits of decaying noise, four per second and as loud as music: a snare or a hi-hat without a note.
    let rate = 44_100.0;
    let mut signal = white(4.0, rate);
    for (t, x) in signal.iter_mut().enumerate() {
        let since_hit = (t as f64 / rate) % 0.25;
        *x *= (-since_hit / 0.03).exp() as f32;
    }
    let mut filter = filter(rate, &wet());
    let (mut lit, mut seen) = (0, 0);
    for block in signal.chunks_mut(441) {
        filter.process(&mut [block]);
        lit += filter.bands().bands.iter().filter(|b| b.state != BandState::Inactive).count();
        seen += TONES;
    }
    assert!(lit * 100 < seen, "{lit} of {seen} cells are lit");
}
