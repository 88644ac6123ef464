use super::*;
use model::Tap;
use std::f64::consts::TAU;
use tone_filter_reference as reference;
use tone_filter_simd::denormals::with_flush_to_zero;

const RATES: [f64; 9] =
    [8000.0, 11_025.0, 22_050.0, 44_100.0, 48_000.0, 88_200.0, 96_000.0, 192_000.0, 768_000.0];

#[path = "../../../tests/common/mod.rs"]
mod common;

/// White noise, uniform in -1..1.
fn noise() -> impl FnMut() -> f64 {
    common::noise(1)
}

/// The frequency in Hz of tone `index`, for an A4 of `tuning` Hz, moved by `transpose` semitones.
fn frequency(index: usize, tuning: f64, transpose: f64) -> f64 {
    tuning * ((index as f64 - 12.0 + transpose) / 12.0).exp2()
}

fn sine(f: f64, amplitude: f64, seconds: f64, rate: f64) -> Vec<f32> {
    (0..(seconds * rate) as usize)
        .map(|t| (amplitude * (TAU * f * t as f64 / rate).sin()) as f32)
        .collect()
}

/// Chords of decaying tones with overtones, a new one every 0.4 s, and strokes of noise between them.
fn music(seconds: f64, rate: f64) -> Vec<f32> {
    let chords =
        [[0, 4, 7, 12], [5, 9, 12, 24], [-5, 7, 11, 31], [2, 14, 17, 33], [-12, 3, 10, 40]];
    let mut noise = noise();
    (0..(seconds * rate) as usize)
        .map(|t| {
            let t = t as f64 / rate;
            let (beat, since) = ((t / 0.4) as usize, t % 0.4);
            let tone = |note: i32| -> f64 {
                let f = 440.0 * (f64::from(note - 5) / 12.0).exp2();
                let partials = (1..=6).filter(|n| f64::from(*n) * f < 0.45 * rate);
                let sum: f64 =
                    partials.map(|n| (TAU * f64::from(n) * f * t).sin() / f64::from(n)).sum();
                sum * (-since * (2.0 + f / 400.0)).exp()
            };
            let chord: f64 = chords[beat % chords.len()].map(tone).iter().sum();
            let drum = (-((t + 0.2) % 0.4) * 60.0).exp() * noise();
            (0.2 * chord + 0.2 * drum) as f32
        })
        .collect()
}

/// All that a listener decides about `signal`.
fn listen(listener: &mut Listener, kernel: Kernel, signal: &[f32]) -> Vec<Decisions> {
    let mut decisions = Vec::new();
    with_flush_to_zero(&mut || {
        let blocks = signal.as_chunks().0.iter();
        decisions.extend(blocks.filter_map(|block| listener.push(kernel, block).cloned()));
    });
    decisions
}

/// The bands that are on, and how much of the time, after the first half second.
fn lit(decisions: &[Decisions]) -> Vec<(usize, f64)> {
    let steady = &decisions[43..];
    let share =
        |band: usize| steady.iter().filter(|d| d.on[band]).count() as f64 / steady.len() as f64;
    (0..TONES).map(|band| (band, share(band))).filter(|(_, share)| *share > 0.0).collect()
}

/// The fitted weights as the reference takes them.
fn weights(lookahead: bool) -> reference::Weights {
    fn taps<const N: usize>(taps: &[Tap<N>]) -> Vec<reference::Tap<N>> {
        let tap = |&Tap { row, offset, weights }: &Tap<N>| reference::Tap {
            row: row.into(),
            offset: offset.into(),
            weights: weights.map(f64::from),
        };
        taps.iter().map(tap).collect()
    }
    let model = Model::fitted(lookahead);
    reference::Weights {
        threshold: model.threshold.into(),
        hysteresis: model.hysteresis.into(),
        templates: taps(model.templates),
        template_bias: model.template_bias.map(f64::from),
        mean_seconds: model.mean_seconds.map(|seconds| seconds.map(f64::from)),
        whole: model.whole.iter().map(|weights| weights.map(f64::from)).collect(),
        combine: taps(model.combine),
        combine_bias: model.combine_bias.map(f64::from),
        out: taps(model.out),
        note_bias: model.band_bias.map(f64::from),
    }
}

fn assert_like_the_reference(rate: f64, kernel: Kernel, lookahead: bool, seconds: f64) {
    let signal = music(seconds, rate);
    let mut reference = reference::Listener::new(rate, 440.0, weights(lookahead));
    let truth: Vec<_> = signal.iter().filter_map(|&x| reference.next(f64::from(x))).collect();
    let decisions = listen(&mut Listener::new(rate, lookahead), kernel, &signal);
    let name = kernel.name();
    assert!(decisions.len() + 2 >= truth.len(), "{name} {rate}");
    let (mut unlike, mut worst) = (0, 0f64);
    for (index, (near, exact)) in decisions.iter().zip(&truth).enumerate() {
        unlike += usize::from(near.on != exact.on);
        for (near, exact) in near.logit.iter().zip(exact.logit) {
            let error = (f64::from(*near) - exact).abs();
            worst = worst.max(error);
            assert!(error < 2e-3, "{name} {rate} Hz, frame {index}: {near} {exact}");
        }
        let Some(before) = index.checked_sub(Model::fitted(lookahead).lookahead) else {
            continue;
        };
        for (near, exact) in near.level.iter().zip(truth[before].power) {
            let error = (f64::from(*near) - exact).abs();
            assert!(error < 1e-4 * exact + 1e-9, "{name} {rate} Hz, {index}: {near} {exact}");
        }
    }
    println!(
        "{name} {rate} Hz, lookahead {lookahead}: {unlike} frames differ, log odds by {worst:.3e}"
    );
    assert!(unlike * 1000 <= truth.len(), "{name} {rate}: {unlike} of {} differ", truth.len());
    assert!(truth.iter().any(|decisions| decisions.on.contains(&true)));
}

#[test]
fn every_kernel_decides_like_the_reference() {
    for kernel in Kernel::available() {
        for lookahead in [false, true] {
            assert_like_the_reference(44_100.0, kernel, lookahead, 12.0);
        }
    }
}

#[test]
fn at_every_rate_it_decides_like_the_reference() {
    for rate in RATES {
        assert_like_the_reference(rate, Kernel::best(), false, if rate < 1e5 { 6.0 } else { 1.0 });
    }
}

#[test]
fn after_a_reset_it_is_as_new() {
    let signal = music(1.0, 48_000.0);
    let mut listener = Listener::new(48_000.0, false);
    let first = listen(&mut listener, Kernel::best(), &signal[..30_011]);
    listener.reset();
    let second = listen(&mut listener, Kernel::best(), &signal[..30_011]);
    assert_eq!(first, second);
    assert!(!first.is_empty());
}

#[test]
fn quiet_music_is_heard_like_loud_music() {
    let signal = music(6.0, 44_100.0);
    let loud = listen(&mut Listener::new(44_100.0, false), Kernel::best(), &signal);
    for db in [-40.0, -60.0] {
        let gain = 10f32.powf(db / 20.0);
        let quiet: Vec<f32> = signal.iter().map(|x| gain * x).collect();
        let quiet = listen(&mut Listener::new(44_100.0, false), Kernel::best(), &quiet);
        // In the first frames, the reference power still rises from its least value.
        let same = loud.iter().zip(&quiet).skip(20).filter(|(loud, quiet)| loud.on == quiet.on);
        assert!(same.count() * 100 >= 99 * (loud.len() - 20), "{db} dB");
    }
}

#[test]
fn silence_lights_nothing_and_noise_less_than_a_band() {
    let silence = listen(&mut Listener::new(44_100.0, false), Kernel::best(), &[0.0; 88_200]);
    assert!(silence.iter().all(|decisions| decisions.on == [false; TONES]));
    let mut noise = noise();
    let noise: Vec<f32> = (0..10 * 44_100).map(|_| 0.5 * noise() as f32).collect();
    for lookahead in [false, true] {
        let heard = listen(&mut Listener::new(44_100.0, lookahead), Kernel::best(), &noise);
        let mean: f64 = lit(&heard).iter().map(|(_, share)| share).sum();
        assert!(mean < 1.0, "{mean} bands on average");
    }
}

#[test]
fn a_sine_some_cents_off_lights_its_band_alone() {
    for rate in [44_100.0, 96_000.0] {
        for (tuning, transpose) in [(440.0, 0.0), (432.0, 0.0), (440.0, -3.5), (440.0, 12.0)] {
            for (tone, cents) in [(5, 0.0), (12, 20.0), (24, -20.0)] {
                let f = frequency(tone, tuning, transpose) * (cents / 1200f64).exp2();
                let mut listener = Listener::new(rate, false);
                listener.set_tuning(tuning, transpose);
                listener.reset();
                let heard = listen(&mut listener, Kernel::best(), &sine(f, 0.2, 2.0, rate));
                let lit = lit(&heard);
                assert!(
                    matches!(lit[..], [(band, share)] if band == tone && share > 0.99),
                    "{lit:?}"
                );
                let level = heard.last().expect("there are decisions").level[tone];
                // The response of two one-poles that decay by 0.15 f a second, off by so much.
                let detuned = TAU * ((cents / 1200f64).exp2() - 1.0) / 0.15;
                let expected = 0.02 / (1.0 + detuned * detuned).powi(2);
                assert!((f64::from(level) / expected - 1.0).abs() < 0.02, "{level} {expected}");
            }
        }
    }
}

#[test]
fn a_new_tuning_counts_from_the_next_frame_on() {
    let signal = sine(440.0, 0.2, 4.0, 44_100.0);
    let mut listener = Listener::new(44_100.0, false);
    let (before, after) = signal.split_at(1000 * BLOCK);
    assert_eq!(lit(&listen(&mut listener, Kernel::best(), before)), [(12, 1.0)]);
    listener.set_tuning(440.0, 2.0);
    assert_eq!(lit(&listen(&mut listener, Kernel::best(), after)), [(10, 1.0)]);
}

#[test]
fn a_lower_threshold_lights_more() {
    let signal = music(3.0, 44_100.0);
    let count = |shift: f32| -> usize {
        let mut listener = Listener::new(44_100.0, false);
        listener.set_sensitivity(shift);
        let heard = listen(&mut listener, Kernel::best(), &signal);
        heard.iter().flat_map(|decisions| decisions.on).filter(|on| *on).count()
    };
    let (few, some, many) = (count(-3.0), count(0.0), count(3.0));
    assert!(few < some && some < many, "{few} {some} {many}");
}

#[test]
fn decisions_come_when_delay_says() {
    for rate in RATES {
        let mut listener = Listener::new(rate, true);
        let (frame, delay) = (listener.frame() as u64, listener.delay() as u64);
        assert_eq!(listener.lookahead() as u64, 4 * frame);
        let ages = (1..=128 * frame / BLOCK as u64).filter_map(|blocks| {
            let decisions = listener.push(Kernel::best(), &[0.0; BLOCK])?;
            let age = blocks * BLOCK as u64 - decisions.frames * frame;
            assert_eq!(decisions.age, age, "{rate}");
            Some(age)
        });
        let latest = ages.max().expect("there are decisions");
        assert_eq!(latest, delay, "{rate}");
    }
    assert_eq!(Listener::new(44_100.0, false).delay(), 64);
}

#[test]
fn nothing_finite_breaks_it() {
    let mut noise = noise();
    for rate in [1000.0, 5000.0, 8000.0, 44_100.0, 1e9] {
        let mut listener = Listener::new(rate, false);
        for amplitude in [8000.0, 1e-38, 8.0, 1e-30, 0.0] {
            for _ in 0..200 {
                let block = std::array::from_fn(|_| (amplitude * noise().signum()) as f32);
                listener.push(Kernel::best(), &block);
            }
            let Decisions { logit, level, .. } = listener.decisions();
            assert!(logit.iter().chain(level).all(|x| x.is_finite()), "{rate}");
        }
    }
}

#[test]
fn lookahead_changes_between_two_frames_only() {
    let signal = music(4.0, 44_100.0);
    let steady = listen(&mut Listener::new(44_100.0, false), Kernel::best(), &signal);
    // There and back again within a frame of 8 blocks, while a decision is pending or not.
    for there in 0..8 {
        let mut listener = Listener::new(44_100.0, false);
        let mut decisions = Vec::new();
        for (index, block) in signal.as_chunks().0.iter().enumerate() {
            // The last block of a frame ends it.
            listener.set_lookahead(index % 8 == there && there < 7);
            decisions.extend(listener.push(Kernel::best(), block).cloned());
        }
        assert!(decisions == steady, "block {there}");
    }
}
