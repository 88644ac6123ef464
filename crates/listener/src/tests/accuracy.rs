//! Tests of the listener's decisions against the reference in f64 and against listen.py.

use super::*;
use crate::features::FEATURES;
use crate::weights::{Cell, Gate, Head, Layer, Near, Weights};
use tone_filter_reference as reference;

fn matrix<const N: usize>(rows: &[[f32; N]]) -> reference::Matrix {
    rows.iter().map(|row| row.map(f64::from).to_vec()).collect()
}

fn layer<const N: usize>(layer: &Layer<N>) -> reference::Layer {
    let Layer { offsets, bias, weights } = layer;
    let depth = weights[0].len() / offsets.len();
    let weights = weights.map(|zone| zone.chunks(depth).map(matrix).collect()).to_vec();
    reference::Layer { offsets: offsets.clone(), weights, bias: matrix(bias) }
}

/// Returns the lags of the first offset; all offsets have the same.
fn lags<const N: usize>(near: &Near<N>) -> Vec<usize> {
    let terms = &near.terms;
    terms.iter().take_while(|(offset, _)| *offset == terms[0].0).map(|(_, lag)| *lag).collect()
}

fn near<const N: usize>(near: &Near<N>) -> reference::Layer {
    let Near { terms, bias, weights } = near;
    let count = lags(near).len();
    let offsets = terms.iter().step_by(count).map(|(offset, _)| *offset).collect();
    let zone = |zone: &[[[f32; N]; FEATURES]]| {
        zone.chunks(count).map(|rows| matrix(rows.as_flattened())).collect()
    };
    reference::Layer { offsets, weights: weights.map(zone).to_vec(), bias: matrix(bias) }
}

fn transposed<const IN: usize, const OUT: usize>(rows: &[[f32; IN]; OUT]) -> reference::Matrix {
    (0..IN).map(|input| rows.iter().map(|row| row[input].into()).collect()).collect()
}

fn head<const N: usize>(head: &Head<N>) -> reference::Layer {
    let Head { offsets, bias, weights, .. } = head;
    let weights = weights.map(|zone| zone.iter().map(transposed).collect()).to_vec();
    reference::Layer { offsets: offsets.clone(), weights, bias: matrix(bias) }
}

fn cell<const N: usize>(cell: &Cell<N>) -> reference::Cell {
    let gates: [&Gate<N>; 3] = [&cell.reset, &cell.update, &cell.candidate];
    let row = |row: &[f32; N]| row.map(f64::from).to_vec();
    reference::Cell {
        input: gates.map(|gate| matrix(gate.input)),
        bias: gates.map(|gate| row(gate.bias)),
        hidden: gates.map(|gate| matrix(gate.hidden)),
        hidden_bias: row(cell.hidden_bias),
    }
}

fn weights<const C1: usize, const C: usize>(w: &Weights<C1, C>) -> reference::Weights {
    reference::Weights {
        lags: lags(&w.near),
        near: near(&w.near),
        harmonic: layer(&w.harmonic),
        global_in: w.global_in.iter().flat_map(|rows| matrix(*rows)).collect(),
        global_in_bias: w.global_in_bias.map(f64::from).to_vec(),
        global: cell(&w.global),
        global_mix: matrix(w.global_mix),
        global_out: matrix(w.global_out),
        first: w.first.iter().map(cell).collect(),
        mix: layer(&w.mix),
        skip: w.skip.map(|zone| matrix(zone)).to_vec(),
        second: w.second.iter().map(cell).collect(),
        head: head(&w.head),
        direct: w.head.direct.map(transposed).to_vec(),
        thresholds: w.thresholds.map(|t| [t.on, t.hysteresis, t.begun].map(f64::from)),
    }
}

/// Compares decisions, log odds and levels of one or two channels with the reference's.
fn assert_like_the_reference(
    rate: f64,
    kernels: &[Kernel],
    (model, lookahead): (Model, bool),
    channels: &[&[f32]],
) {
    let weights = match model {
        Model::Full => weights(&weights::FULL),
        Model::Light => weights(&weights::LIGHT),
    };
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
    for choice in
        [(Model::Full, false), (Model::Full, true), (Model::Light, false), (Model::Light, true)]
    {
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
    for rate in RATES {
        let signal = music(if rate < 1e5 { 2.0 } else { 1.0 }, rate);
        assert_like_the_reference(rate, &[Kernel::best()], (Model::Light, false), &[&signal]);
    }
}

/// Sound and log odds come from listen.py: see tests/data/make.py.
#[test]
fn log_odds_are_those_of_listen_py() {
    const FRAMES: usize = 80;
    let data = include_bytes!("../../tests/data/reference.bin").as_chunks().0;
    let values: Vec<f32> = data.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
    let (sound, logits) = values.split_at(FRAMES * 512);
    // Silence, because the decisions of the last frame come later.
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
