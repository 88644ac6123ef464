//! Tests of the tones' deviation from the semitones.

use super::*;

/// Returns the sum of the deviations after the first second, of a listener tuned to `a4` Hz.
fn deviation(signal: &[f32], rate: f64, a4: f64) -> Deviation {
    let mut listener = Listener::new(rate, false, Model::Light);
    listener.set_tuning(a4, 0.0);
    let mut sum = Deviation::default();
    for (index, block) in signal.as_chunks().0.iter().enumerate() {
        let decided = listener.push(Kernel::best(), block, None).is_some();
        if decided && (index * BLOCK) as f64 > rate {
            let Deviation { re, im, weight } = listener.deviation();
            sum = Deviation { re: sum.re + re, im: sum.im + im, weight: sum.weight + weight };
        }
    }
    sum
}

/// Returns the length of the sum over the sum of lengths: 1 if all tones agree.
fn share(sum: Deviation) -> f64 {
    sum.re.hypot(sum.im) / sum.weight
}

/// Returns the distance in cents of the measured deviation from `cents`, on the circle of 100 cents.
fn error(sum: Deviation, cents: f64) -> f64 {
    let off = sum.im.atan2(sum.re) / TAU * 100.0 - cents;
    off - 100.0 * (off / 100.0).round()
}

#[test]
fn sines_have_the_deviation_of_their_frequency() {
    for rate in [22_050.0, 44_100.0, 48_000.0, 192_000.0] {
        for (note, cents) in [(40.0, 13.0), (57.0, 0.0), (69.0, -40.0), (76.0, 25.0), (93.0, 49.0)]
        {
            let signal = sine(hertz(note + cents / 100.0), 0.1, 2.0, rate);
            let sum = deviation(&signal, rate, 440.0);
            assert!(error(sum, cents).abs() < 0.5, "{rate} {note}: {} {cents}", error(sum, cents));
            assert!(share(sum) > 0.9, "{rate} {note}: {}", share(sum));
        }
    }
}

#[test]
fn neither_the_level_nor_the_tuning_of_the_detectors_counts() {
    for (amplitude, a4) in [(0.9, 440.0), (0.001, 440.0), (0.1, 452.0), (0.1, 431.0)] {
        let signal = tone(hertz(64.0 - 0.27), 2.0, 44_100.0, |n| amplitude / f64::from(n));
        let sum = deviation(&signal, 44_100.0, a4);
        // The fifth and the seventh partial are 14 and 31 cents flat.
        assert!(error(sum, -27.0).abs() < 8.0, "{amplitude} {a4}: {}", error(sum, -27.0));
        assert!(sum.weight > 40.0, "{amplitude} {a4}: {}", sum.weight);
        let again = deviation(&signal, 44_100.0, 440.0);
        assert!((error(sum, 0.0) - error(again, 0.0)).abs() < 2.0, "{amplitude} {a4}");
    }
}

#[test]
fn silence_and_noise_have_none() {
    assert_eq!(deviation(&[0.0; 88_200], 44_100.0, 440.0), Deviation::default());
    let mut noise = noise();
    let signal: Vec<f32> = (0..10 * 44_100).map(|_| 0.3 * noise() as f32).collect();
    let sum = deviation(&signal, 44_100.0, 440.0);
    assert!(share(sum) < 0.06, "{}", share(sum));
}
