//! Tests the work per block, memory, changes of settings, and input of all kinds.

use super::*;

#[test]
fn decisions_come_when_delay_says() {
    for rate in [1000.0, 5000.0].into_iter().chain(RATES) {
        let mut listener = Listener::new(rate, true, Model::Light);
        let (frame, delay) = (listener.frame() as u64, listener.delay() as u64);
        assert_eq!(listener.lookahead() as u64, 4 * frame);
        let ages = (1..=128 * frame / BLOCK as u64 + 64).filter_map(|blocks| {
            let decisions = listener.push(Kernel::best(), &[0.0; BLOCK], None)?;
            let age = blocks * BLOCK as u64 - decisions.frames * frame;
            assert_eq!(decisions.age, age, "{rate}");
            Some(age)
        });
        let latest = ages.max().expect("there are decisions");
        assert!(latest <= delay, "{rate}: {latest} {delay}");
        // With frames so short that another one ends in the same block, decisions may be earlier.
        assert!(latest == delay || frame < 128, "{rate}: {latest} {delay}");
    }
    assert_eq!(Listener::new(44_100.0, false, Model::Full).delay(), 256);
}

/// Counts multiply-adds instead of time. Above 192 kHz, one step is more than the mean work.
#[test]
fn no_block_has_twice_the_mean_work() {
    for rate in RATES.into_iter().filter(|rate| *rate <= 192_000.0) {
        for model in Model::ALL {
            let mut listener = Listener::new(rate, false, model);
            let (mut before, mut peak, blocks) = (0, 0, 400 * listener.frame() / BLOCK);
            for _ in 0..blocks {
                listener.push(Kernel::best(), &[0.0; BLOCK], None);
                let now = measure::work(&listener);
                peak = peak.max(now - before);
                before = now;
            }
            let mean = before as f64 / blocks as f64;
            println!("{rate} Hz, {model:?}: at most {:.2} times the mean", peak as f64 / mean);
            assert!((peak as f64) < 2.0 * mean, "{rate} Hz, {model:?}: {peak}, mean {mean}");
        }
    }
}

#[test]
fn a_listener_takes_at_most_256_kb() {
    // The first listener of a process also parses the weights.
    drop(Listener::new(44_100.0, false, Model::Full));
    let new = || Box::new(Listener::new(192_000.0, false, Model::Full));
    let (_, bytes) = heap::peak_of(new);
    assert!(bytes <= 256 << 10, "{bytes}");
}

#[test]
fn nothing_breaks_it() {
    let mut noise = noise();
    for rate in [1000.0, 5000.0, 8000.0, 44_100.0, 1e9] {
        let mut listener = Listener::new(rate, false, Model::Full);
        for amplitude in [8000.0, 1e-38, f32::MAX, f32::INFINITY, f32::NAN, 8.0, 1e-30, 0.0] {
            for _ in 0..100 {
                let block = std::array::from_fn(|_| amplitude * noise().signum() as f32);
                listener.push(Kernel::best(), &block, Some(&[amplitude; BLOCK]));
            }
            let Decisions { logit, level, .. } = listener.decisions();
            assert!(logit.iter().chain(level).all(|x| x.is_finite()), "{rate}");
        }
    }
}

#[test]
fn no_state_is_denormal() {
    let mut listener = Listener::new(44_100.0, false, Model::Full);
    for block in music(1.0, 44_100.0).as_chunks().0 {
        listener.push(Kernel::best(), block, Some(block));
    }
    for _ in 0..86 * 60 {
        for _ in 0..8 {
            listener.push(Kernel::best(), &[0.0; BLOCK], Some(&[0.0; BLOCK]));
        }
        assert!(measure::states(&listener).all(|x| x == 0.0 || x.is_normal()));
    }
}

#[test]
fn settings_change_between_two_frames_only() {
    let signal = music(2.0, 44_100.0);
    let steady = heard(Model::Full, false, &signal);
    // Settings change and change back within a frame of 8 blocks, with or without unfinished work.
    for there in 0..8 {
        let mut listener = Listener::new(44_100.0, false, Model::Full);
        let mut decisions = Vec::new();
        for (index, block) in signal.as_chunks().0.iter().enumerate() {
            // A change in the last block would count, because the frame ends there.
            let now = index % 8 == there && there < 7;
            listener.set_lookahead(now);
            listener.set_model(if now { Model::Light } else { Model::Full });
            listener.set_tuning(if now { 432.0 } else { 440.0 }, 0.0);
            decisions.extend(listener.push(Kernel::best(), block, None).cloned());
        }
        assert!(decisions == steady, "block {there}");
    }
}

#[test]
fn a_change_of_lookahead_loses_no_memory() {
    let signal = music(4.0, 44_100.0);
    let both = [false, true].map(|lookahead| heard(Model::Full, lookahead, &signal));
    let mut listener = Listener::new(44_100.0, false, Model::Full);
    let (before, after) = signal.split_at(512 * 100);
    let mut decisions = listen(&mut listener, Kernel::best(), &[before]);
    listener.set_lookahead(true);
    decisions.extend(listen(&mut listener, Kernel::best(), &[after]));
    for (index, decisions) in decisions.iter().enumerate() {
        // The frame that ends next is the first one with lookahead.
        let same = &both[usize::from(index >= 100)][index];
        assert!(decisions.logit == same.logit && decisions.level == same.level, "frame {index}");
    }
}

#[test]
fn another_network_starts_as_after_silence_and_settles() {
    let signal = sine(440.0, 0.2, 4.0, 44_100.0);
    let (before, after) = signal.split_at(1000 * BLOCK);
    let mut listener = Listener::new(44_100.0, false, Model::Full);
    listen(&mut listener, Kernel::best(), &[before]);
    for (model, other) in [(Model::Light, Model::Full), (Model::Full, Model::Light)] {
        listener.set_model(model);
        let decisions = listen(&mut listener, Kernel::best(), &[after]);
        assert_eq!(lit(&decisions, 60), [(69, 1.0)]);
        let [near, far] = [model, other].map(|steady| {
            let steady = heard(steady, false, &signal);
            let pairs =
                std::iter::zip(&steady.last().unwrap().logit, &decisions.last().unwrap().logit);
            pairs.map(|(a, b)| (a - b).abs()).sum::<f32>()
        });
        assert!(near < far, "{model:?}: {near}, {far}");
    }
}

#[test]
fn a_second_channel_continues_the_first_one() {
    let signal = music(2.0, 44_100.0);
    let mono = heard(Model::Full, false, &signal);
    let (before, after) = signal.split_at(301 * BLOCK);
    let mut listener = Listener::new(44_100.0, false, Model::Full);
    let mut decisions = listen(&mut listener, Kernel::best(), &[before]);
    decisions.extend(listen(&mut listener, Kernel::best(), &[after, after]));
    assert!(decisions == mono);
}
