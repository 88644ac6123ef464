//! Properties of the filter that hold for any settings, changes, music, sidechain, keys and scores, at any rate.

use tone_filter_dsp::{
    Kernel, Keys, Map, Settings, ToneFilter, Voice,
    notes::{midi_note, pitch_class},
};
use tone_filter_testkit::{Draws, Scene, Signal, controls, sweep};

/// Returns a random scene with the kernel for `seed`, and with levels and rates that are sometimes beyond those of music.
fn scene(seed: u64, draws: &mut Draws) -> Scene {
    let kernels: Vec<_> = Kernel::available().collect();
    let kernel = kernels[seed as usize % kernels.len()];
    let mut scene = Scene { kernel, ..Scene::draw(draws) };
    if draws.chance(0.2) {
        let gain = 10f64.powf(draws.between(-30.0, 30.0)) as f32;
        let inputs = scene.input.iter_mut().chain(&mut scene.sidechain);
        inputs.flatten().for_each(|sample| *sample *= gain);
    }
    if draws.chance(0.1) {
        scene.rate = draws.between(1000.0, 800_000.0);
    }
    scene
}

/// Asserts the tightest bound that holds with all settings: the input's peak plus 1, times the output gain. With auto level and
/// lookahead, the output follows the greatest input so far; the wet signal is at most 1.
fn assert_bounded(scene: &Scene, output: &Signal, seed: u64) {
    let gain = scene.changes.iter().fold(1f64, |most, (_, controls)| {
        let decibels = controls.settings.morph / 100.0 * controls.settings.output;
        most.max(10f64.powf(f64::from(decibels) / 20.0))
    });
    for (input, output) in scene.input.iter().zip(output) {
        let finite = input.iter().filter(|sample| sample.is_finite());
        let peak = finite.fold(0f64, |peak, x| peak.max(f64::from(x.abs())));
        let bound = gain * (peak + 1.0) * 1.000_01;
        for (frame, sample) in output.iter().enumerate() {
            let level = f64::from(sample.abs());
            assert!(level <= bound, "seed {seed}: {level} at {frame}, {bound} at most");
        }
    }
}

fn assert_finite_bands(filter: &ToneFilter, seed: u64) {
    let bands = filter.bands();
    let all = bands.bands.iter().flat_map(|band| {
        [band.power, band.ratio, band.angular_frequency, band.phasor[0], band.phasor[1]]
    });
    let mut all = all.chain([bands.total_power, bands.gain, bands.makeup]);
    assert!(all.all(f32::is_finite), "seed {seed}: {bands:?}");
}

/// Resets the filter and its controls to the start of the scene.
fn rewind(scene: &Scene, filter: &mut ToneFilter) {
    let controls = scene.changes[0].1;
    filter.set_controls(&controls).unwrap();
    filter.reset();
    filter.seek(0.0);
}

#[test]
fn output_is_bounded_repeatable_and_independent_of_block_sizes() {
    for seed in sweep::part(10, 0..300) {
        let mut draws = Draws::seeded(seed);
        let scene = scene(seed, &mut draws);
        let mut filter = scene.filter();
        let whole = scene.play(&mut filter, || 1 << 20);
        assert_bounded(&scene, &whole, seed);
        assert_finite_bands(&filter, seed);
        rewind(&scene, &mut filter);
        let longest = draws.pick(&[2, 64, 700, 5000]);
        let cut = scene.play(&mut filter, || 1 + draws.below(longest));
        assert!(
            whole == cut,
            "seed {seed}: another output after a reset in blocks of 1 to {longest}"
        );
    }
}

#[test]
fn notes_snap_to_the_nearest_allowed_one() {
    for seed in 0..1000 {
        let mut draws = Draws::seeded(seed);
        let settings = Settings { map: Map::Snap, ..controls(&mut draws).settings };
        let share = draws.pick(&[0.0, 0.01, 0.1, 1.0]);
        let held = (0..128).fold(0, |held, key| held | u128::from(draws.chance(share)) << key);
        let scale = settings.scale.pitch_classes(settings.root, settings.custom);
        let is_key = |note: i32| (0..128).contains(&note) && held >> note & 1 == 1;
        for (tone, offset) in settings.offsets(held).into_iter().enumerate() {
            let allows = |offset: &i32| {
                let note = midi_note(tone, settings.transpose) + offset;
                let class = (pitch_class(tone) as i32 + offset).rem_euclid(12) as usize;
                match settings.keys {
                    Keys::Off => scale.contains(class),
                    Keys::Hold => is_key(note),
                    Keys::HoldAny => {
                        (0..11).any(|octave| is_key(note.rem_euclid(12) + 12 * octave))
                    }
                    Keys::Add => scale.contains(class) || is_key(note),
                }
            };
            let nearest = (0..128).flat_map(|far| [-far, far]).find(allows).unwrap_or(0);
            let expected = if settings.voice == Voice::Soft { 0 } else { nearest };
            assert_eq!(i32::from(offset), expected, "seed {seed}, tone {tone}");
        }
    }
}

#[test]
fn faults_in_the_input_count_as_silence() {
    for seed in sweep::part(20, 0..100) {
        let mut draws = Draws::seeded(1000 + seed);
        let mut faulty = Scene::draw(&mut draws);
        let mut silent = faulty.clone();
        let frames = faulty.input[0].len();
        for _ in 0..30 {
            let fault = draws.pick(&[f32::NAN, f32::INFINITY, f32::NEG_INFINITY]);
            let start = draws.below(frames);
            let end = frames.min(start + draws.pick(&[1, 100, 3000]));
            for (scene, value) in [(&mut faulty, fault), (&mut silent, 0.0)] {
                for channel in scene.input.iter_mut().chain(&mut scene.sidechain) {
                    channel[start..end].fill(value);
                }
            }
        }
        let [faulty, silent] = [faulty, silent].map(|scene| {
            let mut filter = scene.filter();
            let output = scene.play(&mut filter, || 512);
            assert_finite_bands(&filter, seed);
            output
        });
        assert!(faulty == silent, "seed {seed}");
    }
}

/// Puts denormals, the greatest numbers and DC into the music: the output must stay bounded and the state finite.
#[test]
fn extremes_in_the_input_leave_the_state_finite() {
    for seed in sweep::part(20, 0..100) {
        let mut draws = Draws::seeded(2000 + seed);
        let mut scene = Scene::draw(&mut draws);
        let frames = scene.input[0].len();
        for _ in 0..6 {
            let value = draws.pick(&[1e-40, -1e-45, f32::MAX, f32::MIN, 1.0]);
            let start = draws.below(frames);
            for channel in scene.input.iter_mut().chain(&mut scene.sidechain) {
                channel[start..frames.min(start + 500)].fill(value);
            }
        }
        let mut filter = scene.filter();
        let output = scene.play(&mut filter, || 512);
        assert!(output.iter().flatten().all(|sample| sample.is_finite()), "seed {seed}");
        assert_bounded(&scene, &output, seed);
        assert_finite_bands(&filter, seed);
    }
}
