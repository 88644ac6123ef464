//! Changes of choices and switches while sound is processed: no click, no hole, no ghost of earlier sound.

use std::f64::consts::TAU;
use tone_filter_dsp::{CHOICES, Controls, Kernel, KeyEvent, Setting, Settings, Stereo};
use tone_filter_testkit::{Draws, Music, Note, Scene, Values, sweep};

const RATE: f64 = 48_000.0;
/// Samples of the window in which a level is measured: 20 ms.
const WINDOW: usize = 960;
/// Samples after which a filter has settled: enough for lookahead, the listener and 50 time constants of the default Release.
const SETTLED: usize = 96_000;

/// Left and right.
type Sound = [Vec<f32>; 2];

/// Returns a chord of sines at -14 dB RMS in all.
fn chord(hertz: &[f64], seconds: f64) -> Vec<f32> {
    let amplitude = 0.2 * (2.0 / hertz.len() as f64).sqrt();
    let sample = |t: usize| -> f64 {
        hertz.iter().map(|f| (TAU * f * t as f64 / RATE).sin()).sum::<f64>() * amplitude
    };
    (0..(seconds * RATE) as usize).map(|t| sample(t) as f32).collect()
}

fn both(mono: Vec<f32>) -> Sound {
    [mono.clone(), mono]
}

/// A sample, and the controls that are set there.
type Change = (usize, Controls);

/// Returns the output for `input`, with a sidechain if there is one, while the key of A4 is held.
fn run(changes: &[Change], input: &Sound, sidechain: Option<&Sound>) -> Sound {
    let scene = Scene {
        rate: RATE,
        kernel: Kernel::best(),
        changes: changes.to_vec(),
        input: input.to_vec(),
        sidechain: sidechain.map_or(Vec::new(), |side| side.to_vec()),
        events: vec![(0, KeyEvent::Key(69, 1.0))],
        score: None,
    };
    scene.play(&mut scene.filter(), || 4800).try_into().unwrap()
}

fn rms_db(part: &[f32]) -> f64 {
    let power = part.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>() / part.len() as f64;
    10.0 * power.max(1e-30).log10()
}

/// Returns the minimum level in dB of all windows in `part`.
fn least(part: &[f32]) -> f64 {
    levels(part).into_iter().fold(f64::INFINITY, f64::min)
}

/// Returns the maximum second difference in `part`, a measure of clicks.
fn roughest(part: &[f32]) -> f32 {
    part.windows(3).map(|x| (x[0] - 2.0 * x[1] + x[2]).abs()).fold(0.0, f32::max)
}

/// Level in dB below which a steady sound counts as silence.
const SILENCE: f64 = -90.0;

/// Returns the levels in dB of overlapping windows of `part`.
fn levels(part: &[f32]) -> Vec<f64> {
    let starts = (0..=part.len() - WINDOW).step_by(WINDOW / 8);
    starts.map(|start| rms_db(&part[start..start + WINDOW])).collect()
}

/// Checks a change at the sample `at` between two steady sounds, which fill the last 1 s before `at` and the last 1 s of all.
/// There must be no click, and no hole between two sounds. If one of them is silence, the level must fall or rise only once: a
/// sound that has faded out must not return.
fn assert_seamless(what: &str, output: &Sound, at: usize) {
    for (channel, output) in ["left", "right"].iter().zip(output) {
        let second = RATE as usize;
        let (before, after) = (&output[at - second..at], &output[output.len() - second..]);
        let change = &output[at - WINDOW..output.len() - second];
        let [from, to] = [least(before), least(after)];
        let mut levels = levels(change);
        if from < SILENCE && to < SILENCE {
            let ghost = levels.iter().fold(f64::MIN, |most, level| most.max(*level));
            assert!(ghost < SILENCE, "{what}, {channel}: {ghost:.1} dB between two silences");
        } else if from < SILENCE || to < SILENCE {
            if from < SILENCE {
                levels.reverse();
            }
            let sound = from.max(to);
            let mut lowest = f64::INFINITY;
            for level in levels {
                let back = lowest < sound - 6.0 && level > (lowest + 3.0).max(sound - 60.0);
                assert!(
                    !back,
                    "{what}, {channel}: {level:.1} dB beside {lowest:.1} dB, of {sound:.1} dB"
                );
                lowest = lowest.min(level);
            }
        } else {
            let (low, floor) = (least(change), from.min(to));
            assert!(
                low > floor - 6.0,
                "{what}, {channel}: {low:.1} dB in the change, {floor:.1} dB beside it"
            );
        }
        let bound = 2.0 * roughest(before).max(roughest(after)) + 1e-4;
        let rough = roughest(change);
        assert!(
            rough <= bound,
            "{what}, {channel}: a step of {rough} in the change, {bound} at most"
        );
    }
}

#[test]
fn a_bank_that_is_switched_off_ranks_no_notes() {
    // In the right channel alone, two loud notes; then two soft notes in both channels.
    let (loud, soft) = (chord(&[440.0, 554.37], 2.0), chord(&[659.26, 880.0], 6.0));
    let quiet: Vec<f32> = soft.iter().map(|x| 0.05 * x).collect();
    let silence = vec![0.0; loud.len()];
    let then = |first: &[f32]| [first, &vec![0.0; 6 * 48_000], &quiet].concat();
    let input = [then(&silence), then(&loud)];
    let mono = Settings { mix: 100.0, voices: 2.0, floor: -90.0, ..Settings::REFERENCE };
    let stereo = Settings { stereo: Stereo::Stereo, ..mono };
    let output = run(&[(0, stereo.into()), (90_000, mono.into())], &input, None);
    let fresh = run(&[(0, mono.into())], &both(quiet.clone()), None);
    let level = |sound: &Sound| rms_db(&sound[0][sound[0].len() - 48_000..]);
    assert!((level(&output) - level(&fresh)).abs() < 0.5, "{} {}", level(&output), level(&fresh));
}

/// Frequencies in Hz of all twelve notes, so that every scale has some: multiples of 5 Hz, so the sum repeats after 0.2 s.
const TWELVE: [f64; 12] =
    [440.0, 465.0, 495.0, 520.0, 550.0, 590.0, 620.0, 660.0, 700.0, 740.0, 780.0, 830.0];

/// Returns steady notes with overtones at different stereo positions, moved up by `octaves`: 0 for the input, 1 for the
/// sidechain.
fn notes(octaves: f64) -> Sound {
    let note = |(semitones, pan): (f64, f64)| Note {
        pitch: 57.0 + semitones + 12.0 * octaves,
        end: 10.0,
        slope: 2.0,
        pan,
        ..Note::default()
    };
    let chord = [(-5.0, 0.0), (0.0, 0.4), (7.0, -0.4), (12.0, 0.0), (16.0, 0.2), (22.0, -0.2)];
    let music = Music { notes: chord.map(note).into(), ..Music::default() };
    let [left, right] = music.render(RATE, 5.5).try_into().unwrap();
    [left, right]
}

/// Returns pairs of two choices, made one after the other: their names, and the controls before and after the second choice.
fn pairs() -> impl Iterator<Item = (String, Controls, Controls)> {
    // The default sound, fully wet. Without auto, whose gains take seconds when other notes begin to sound.
    let start =
        Controls::from(Settings { mix: 100.0, octave: -1.0, auto: false, ..Settings::default() });
    let entries = move |choice: &'static tone_filter_dsp::Choice| {
        let all = Setting::Choice(choice).ends(&start);
        // Only some entries of a long list, far apart.
        let step = all.len().div_ceil(4).max(1);
        all.into_iter().step_by(step).map(move |before| (choice, before))
    };
    let ones: Vec<_> = CHOICES.iter().flat_map(entries).collect();
    let twos = ones.clone();
    let pairs =
        ones.into_iter().flat_map(move |one| twos.clone().into_iter().map(move |two| (one, two)));
    pairs.filter_map(|((first, before), (second, two))| {
        let mut after = before;
        second.set(&mut after, second.get(&two));
        let text = |choice: &'static tone_filter_dsp::Choice, controls: &Controls| {
            format!("{} {}", choice.id, Setting::Choice(choice).text(controls))
        };
        let what = format!("{}, then {}", text(first, &before), text(second, &after));
        (first.id != second.id && before != after).then_some((what, before, after))
    })
}

#[test]
fn choices_change_without_clicks_and_holes() {
    let (input, side) = (notes(0.0), notes(1.0));
    let at = SETTLED + 17;
    // A frozen bank would play its recorded sound again.
    let pairs = pairs().filter(|(_, one, two)| !one.settings.freeze && !two.settings.freeze);
    for (what, before, after) in sweep::part(100, pairs) {
        assert_seamless(&what, &run(&[(0, before), (at, after)], &input, Some(&side)), at);
    }
}

#[test]
fn any_choices_at_any_times_leave_no_ghost() {
    let mut music = chord(&TWELVE, 1.0);
    music.extend(vec![0.0; 24_000]);
    music.extend(chord(&[440.0, 659.26, 1318.5], 1.0));
    let frames = music.len();
    music.extend(vec![0.0; 7 * 48_000]);
    let input = both(music);
    for seed in sweep::part(20, 0..40) {
        let mut draws = Draws::seeded(seed);
        let mut random = |count: usize| draws.below(count);
        let mut controls = Controls::from(Settings { ring: 0.2, ..Settings::default() });
        let mut changes = vec![(0, controls)];
        for _ in 0..24 {
            let choice = &CHOICES[random(CHOICES.len())];
            choice.set(&mut controls, random(choice.entries.len()));
            controls.settings.octave = random(5) as f32 - 2.0;
            controls.settings.focus = 50.0 * random(3) as f32;
            changes.push((random(frames), controls));
        }
        changes.sort_by_key(|change| change.0);
        // A frozen sound does not end.
        let mut last = changes[changes.len() - 1].1;
        last.settings.freeze = false;
        changes.push((frames, last));
        let output = run(&changes, &input, Some(&input));
        for channel in &output {
            let ghost = rms_db(&channel[frames + 6 * 48_000..]);
            assert!(ghost < -90.0, "seed {seed}: {ghost:.1} dB after six seconds of silence");
        }
    }
}
