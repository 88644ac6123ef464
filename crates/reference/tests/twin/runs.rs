//! Runs of a scene, block by block: by the filter and by its twin.

use tone_filter_dsp::{
    BLOCK, Controls, Kernel, KeyEvent, Settings,
    listener::Decisions,
    notes::{TONES, to_listener},
};
use tone_filter_testkit::{
    Scene,
    reference::{self, Decision, Early},
    signals::{self, noise},
};

/// Returns a scene with constant controls, without sidechain, keys and score, on the fastest kernel.
pub fn scene(rate: f64, input: impl Into<Vec<Vec<f32>>>, controls: impl Into<Controls>) -> Scene {
    Scene {
        rate,
        kernel: Kernel::best(),
        changes: vec![(0, controls.into())],
        input: input.into(),
        sidechain: Vec::new(),
        events: Vec::new(),
        score: None,
    }
}

/// The filter's output and decisions.
pub struct Played {
    pub output: Vec<Vec<f32>>,
    /// For each block: the settings before its changes and after them, and the decision at its end. The settings have the key and
    /// the tuning found so far.
    decided: Vec<([Settings; 2], Option<Decision>)>,
}

impl Played {
    /// Whether both runs made equal decisions on notes.
    pub fn agrees(&self, other: &Self) -> bool {
        let notes = |(_, decision): &([Settings; 2], Option<Decision>)| {
            decision.as_ref().map(|decision| (decision.played, decision.begun))
        };
        self.decided.iter().map(notes).eq(other.decided.iter().map(notes))
    }
}

/// Returns the values of a block. A value takes effect with the first block that begins at its frame or later.
fn at_block<T: Copy>(all: &[(usize, T)], block: usize) -> impl Iterator<Item = T> {
    all.iter().filter(move |(frame, _)| frame.div_ceil(BLOCK) == block).map(|(_, value)| *value)
}

/// Returns the controls of a block.
pub fn controls_at(scene: &Scene, block: usize) -> Controls {
    let until = scene.changes.iter().rfind(|(frame, _)| frame.div_ceil(BLOCK) <= block);
    until.expect("controls of the first block").1
}

/// Returns number, start and end of each block.
fn blocks(scene: &Scene) -> impl Iterator<Item = (usize, [usize; 2])> {
    let frames = scene.input[0].len();
    (0..frames).step_by(BLOCK).map(move |start| [start, frames.min(start + BLOCK)]).enumerate()
}

/// Returns a block of all channels.
fn part(channels: &[Vec<f32>], [start, end]: [usize; 2]) -> Vec<&[f32]> {
    channels.iter().map(|channel| &channel[start..end]).collect()
}

/// Plays the scene with the filter.
pub fn play(scene: &Scene) -> Played {
    let mut filter = scene.filter();
    let (mut output, mut decided) = (scene.input.clone(), Vec::new());
    for (block, span) in blocks(scene) {
        let found = filter.resolved();
        for controls in at_block(&scene.changes[1..], block) {
            filter.set_controls(&controls).unwrap();
        }
        at_block(&scene.events, block).for_each(|event| filter.play(event));
        let (settings, frames) = (filter.resolved(), filter.decisions().frames);
        let mut channels: Vec<&mut [f32]> =
            output.iter_mut().map(|channel| &mut channel[span[0]..span[1]]).collect();
        filter.process_events(&mut channels, &part(&scene.sidechain, span), [], |_, _| ());
        let decisions = filter.decisions();
        let new = (decisions.frames > frames).then(|| {
            let ahead = filter.listener().lookahead() > 0;
            Decision { early: ahead.then(|| early(decisions)), ..decision(decisions) }
        });
        decided.push(([found, settings], new));
    }
    Played { output, decided }
}

/// Returns the twin's output for the filter's decisions.
pub fn truth(scene: &Scene, played: &Played) -> Vec<Vec<f64>> {
    let mut controls = scene.changes[0].1;
    let sound = |controls: &Controls, settings: Settings| {
        let found = Controls { settings, ..*controls };
        let follows = controls.settings.follows() || controls.settings.follows_tempo();
        reference::Sound { follows, ..reference::controlled(&found) }
    };
    let mut last = sound(&controls, played.decided[0].0[0]);
    let mut twin = reference::Filter::new(&last, scene.rate, scene.input.len());
    let mut outputs = vec![Vec::new(); scene.input.len()];
    for ((block, span), ([found, settings], decision)) in blocks(scene).zip(&played.decided) {
        let found = sound(&controls, *found);
        if found != last {
            twin.set_found(&found);
        }
        last = found;
        controls = controls_at(scene, block);
        at_block(&scene.events, block).for_each(|event| twin.play(key_event(event)));
        let now = sound(&controls, *settings);
        if now != last {
            twin.set(&now);
            last = now;
        }
        let [input, sidechain] = [&scene.input, &scene.sidechain].map(|all| part(all, span));
        let block = twin.block(&input, &sidechain, decision.as_ref());
        outputs.iter_mut().zip(block).for_each(|(all, block)| all.extend(block));
    }
    outputs
}

/// Returns the twin's own signal-to-noise ratio in dB, with noise 90 dB below each sample and with a tuning one f32 higher.
pub fn sensitivity(scene: &Scene, played: &Played, exact: &[Vec<f64>]) -> f64 {
    let (mut scene, mut decided, mut noise) = (scene.clone(), played.decided.clone(), noise(1));
    let samples = scene.input.iter_mut().chain(&mut scene.sidechain).flatten();
    samples.for_each(|x| *x *= 1.0 + 2f32.powi(-15) * noise() as f32);
    let settings = decided.iter_mut().flat_map(|(settings, _)| settings);
    settings.for_each(|settings| settings.tuning = settings.tuning.next_up());
    let output = truth(&scene, &Played { output: Vec::new(), decided }).concat();
    signals::snr(&exact.concat(), &output.into_iter().map(|y| y as f32).collect::<Vec<_>>())
}

/// Converts the listener's decisions, which are in the order of its notes, to the order of the tones.
fn decision(decisions: &Decisions) -> Decision {
    let index = |tone: usize| to_listener(tone);
    Decision {
        played: std::array::from_fn(|tone| decisions.on[index(tone)]),
        begun: std::array::from_fn(|tone| decisions.begun[index(tone)]),
        level: std::array::from_fn(|tone| decisions.ahead[index(tone)].into()),
        place: std::array::from_fn(|tone| decisions.place[index(tone)].into()),
        early: None,
    }
}

/// Converts the listener's early decisions to the order of the tones.
fn early(decisions: &Decisions) -> Early {
    let index = |tone: usize| to_listener(tone);
    Early {
        played: std::array::from_fn(|tone| decisions.early[index(tone)]),
        likely: std::array::from_fn(|tone| decisions.likely[index(tone)]),
        edge: std::array::from_fn(|tone| decisions.edge[index(tone)].map(f64::from)),
    }
}

fn key_event(event: KeyEvent) -> reference::Event {
    use reference::Event;
    match event {
        KeyEvent::Key(note, velocity) => Event::Key(note.into(), velocity.into()),
        KeyEvent::Pressure(note, pressure) => Event::Pressure(note.into(), pressure.into()),
        KeyEvent::Gain(note, gain) => Event::Gain(note.into(), gain.into()),
        KeyEvent::Bend(semitones) => Event::Bend(semitones.into()),
        KeyEvent::Wheel(position) => Event::Wheel(position.into()),
        KeyEvent::Sustain(down) => Event::Sustain(down),
        KeyEvent::ReleaseAll => Event::ReleaseAll,
    }
}

/// Returns the signal-to-noise ratio of all channels together in dB.
pub fn snr(truth: &[Vec<f64>], output: &[Vec<f32>]) -> f64 {
    signals::snr(&truth.concat(), &output.concat())
}

const _: () = assert!(TONES == reference::TONES && BLOCK == reference::BLOCK);
