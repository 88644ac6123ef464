//! Tests the decisions against the reference in f64 and against listen.py.

use super::*;
use tone_filter_reference as reference;

/// Asserts that decisions, log odds and levels of one or two channels are near the reference's.
fn assert_like_the_reference(
    rate: f64,
    kernels: &[Kernel],
    (model, lookahead): (Model, bool),
    channels: &[&[f32]],
) {
    let weights = weights::read(match model {
        Model::Full => include_bytes!("../../weights/full.bin").as_slice(),
        Model::Light => include_bytes!("../../weights/light.bin"),
    });
    let mut reference = reference::Listener::new(rate, 440.0, channels.len(), lookahead, weights);
    let truth: Vec<_> = (0..channels[0].len())
        .filter_map(|t| {
            let samples: Vec<f64> = channels.iter().map(|x| x[t].into()).collect();
            reference.next(&samples)
        })
        .collect();
    assert!(truth.iter().any(|decisions| decisions.on.contains(&true)));
    for kernel in kernels {
        let mut listener = Listener::new(rate, lookahead, model);
        let delay = (listener.delay() / listener.frame()) + 1;
        let decisions = listen(&mut listener, *kernel, channels);
        let name = format!("{model:?} {} {rate} Hz, lookahead {lookahead}", kernel.name());
        assert!(decisions.len() + delay >= truth.len(), "{name}");
        let (mut unlike, mut lit, mut worst) = (0, 0, 0f64);
        for (index, (near, exact)) in decisions.iter().zip(&truth).enumerate() {
            let pairs = near.on.iter().zip(exact.on);
            unlike += pairs.clone().filter(|(near, exact)| **near != *exact).count();
            lit += pairs.filter(|(near, exact)| **near || *exact).count();
            for (near, exact) in near.logit.iter().zip(&exact.logits) {
                let error = (f64::from(*near) - exact[usize::from(lookahead)]).abs();
                worst = worst.max(error);
                assert!(error < 5e-3, "{name}, frame {index}: {near} {exact:?}");
            }
            let Some(before) = index.checked_sub(reference.lookahead()) else { continue };
            for (near, exact) in near.level.iter().zip(truth[before].power) {
                let error = (f64::from(*near) - exact).abs();
                assert!(error < 1e-4 * exact + 1e-9, "{name}, frame {index}: {near} {exact}");
            }
        }
        println!("{name}: {unlike} of {lit} decisions differ, log odds by {worst:.1e}");
        assert!(unlike * 1000 <= lit, "{name}: {unlike} of {lit} differ");
    }
}

#[test]
fn every_kernel_decides_like_the_reference() {
    let kernels: Vec<_> = Kernel::available().collect();
    let signal = music(4.0, 44_100.0);
    let choices = Model::ALL.map(|model| [(model, false), (model, true)]).concat();
    for choice in part(2, choices) {
        assert_like_the_reference(44_100.0, &kernels, choice, &[&signal]);
    }
}

#[test]
fn every_kernel_decides_about_two_channels_like_the_reference() {
    let kernels: Vec<_> = Kernel::available().collect();
    let left = music(2.0, 44_100.0);
    let mut noise = noise();
    let right = tone(330.0, 2.0, 44_100.0, |k| 0.1 / f64::from(k));
    let right: Vec<f32> = right.iter().map(|x| x + 0.02 * noise() as f32).collect();
    assert_like_the_reference(44_100.0, &kernels, (Model::Full, true), &[&left, &right]);
}

#[test]
fn at_every_rate_it_decides_like_the_reference() {
    for rate in tenth(RATES) {
        let signal = music(if rate < 1e5 { 2.0 } else { 1.0 }, rate);
        assert_like_the_reference(rate, &[Kernel::best()], (Model::Light, false), &[&signal]);
    }
}

/// Sound and log odds come from listen.py: see tests/data/make.py.
#[test]
fn log_odds_are_those_of_listen_py() {
    const FRAMES: usize = 80;
    let data = include_bytes!("../data/reference.bin").as_chunks().0;
    let values: Vec<f32> = data.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
    let (sound, logits) = values.split_at(FRAMES * 512);
    // Appends silence, because the decisions of the last frame come later.
    let sound = [sound, &[0.0; 512]].concat();
    for kernel in Kernel::available() {
        for lookahead in [false, true] {
            let mut listener = Listener::new(44_100.0, lookahead, Model::Full);
            let decisions = listen(&mut listener, kernel, &[&sound]);
            assert_eq!(decisions.len(), FRAMES);
            for (near, exact) in decisions.iter().zip(logits.as_chunks::<{ 4 * NOTES }>().0) {
                for (near, exact) in near.logit.iter().zip(exact.as_chunks::<4>().0) {
                    let error = near - exact[usize::from(lookahead)];
                    assert!(error.abs() < 2e-3, "{}: {near} {exact:?}", kernel.name());
                }
            }
        }
    }
}
