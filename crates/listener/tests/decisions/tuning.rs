//! Tests the deviation of tones from the semitones.

use super::*;

/// Returns the sum of the deviations after the first second.
fn deviation(signal: &[f32], rate: f64) -> Deviation {
    let mut listener = Listener::new(rate, false, Model::Light);
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

/// Returns the length of the sum, divided by the sum of the weights: 1 if all tones agree.
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
            let sum = deviation(&signal, rate);
            assert!(error(sum, cents).abs() < 0.5, "{rate} {note}: {} {cents}", error(sum, cents));
            assert!(share(sum) > 0.9, "{rate} {note}: {}", share(sum));
        }
    }
}

#[test]
fn tones_weigh_by_distance_and_steadiness() {
    // Power of a detector at a distance in cents from a tone; its decay rate is a fraction of its frequency.
    let power = |cents: f64, rate: f64| (1.0 + (TAU * cents / 1731.23 / rate).powi(2)).powi(-2);
    // Weight of a tone above a semitone. The fast bank's detectors, 100 cents apart, give the reference.
    let weight = |cents: f64| {
        let reference: f64 = [-100.0, 0.0, 100.0].map(|at| power(cents - at, 0.15)).iter().sum();
        let pair = |off: f64| {
            let share = (power(off - 25.0, 0.05) + power(off + 25.0, 0.05)) / reference;
            (1.0 - (off / 50.0).powi(2)).powi(2) * share.powf(0.15)
        };
        pair(cents) + pair(cents - 50.0)
    };
    let tone = |cents: f64| sine(hertz(69.0 + cents / 100.0), 0.1, 2.0, 44_100.0);
    let measured = |cents: f64| deviation(&tone(cents), 44_100.0).weight / weight(cents);
    assert!((measured(25.0) / measured(0.0) - 1.0).abs() < 0.02);
    let mut noise = noise();
    let noisy: Vec<f32> = tone(13.0).iter().map(|x| x + 0.01 * noise() as f32).collect();
    assert!(error(deviation(&noisy, 44_100.0), 13.0).abs() < 1.0);
}
