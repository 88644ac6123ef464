//! Tests of the kira effect and the firewheel node: both must sound like the filter alone. `cargo xtask test-engines` also runs
//! the examples, in which the sound passes kira's mixer and firewheel's graph.

#[allow(dead_code, reason = "an example's command line")]
#[path = "../../../examples/firewheel.rs"]
mod firewheel;

use ::firewheel::diff::{Diff, Memo, PathBuilder};
use ::kira::{
    Frame,
    effect::{Effect, EffectBuilder},
    info::MockInfoBuilder,
};
use firewheel::common::FRAMES;
use std::sync::Arc;
use tone_filter_dsp::{KeyEvent, Keyboard, Keys, Score, Settings, ToneFilter};
use tone_filter_firewheel::{ScoreEvent, ToneFilterNode, ToneFilterState};
use tone_filter_kira::{ToneFilterBuilder, ToneFilterHandle};
use tone_filter_testkit::{
    Automation, Draws, Music, assert_same_bits,
    heap::{self, counted},
};

#[global_allocator]
static HEAP: heap::Counting = heap::Counting;

const RATE: u32 = 48_000;

fn filtered(filter: &mut ToneFilter, sound: &[[f32; 2]]) -> Vec<[f32; 2]> {
    let [mut left, mut right] = [0, 1].map(|c| sound.iter().map(|s| s[c]).collect::<Vec<_>>());
    filter.process(&mut [&mut left, &mut right]);
    left.into_iter().zip(right).map(|(left, right)| [left, right]).collect()
}

#[test]
fn kira_automation_matches_the_library_without_allocating() {
    let automation = Automation::new(1, RATE.into());
    let (mut effect, mut handle) = ToneFilterBuilder::default().build();
    effect.init(RATE, FRAMES);
    let info = MockInfoBuilder::new().build();
    let output = automation.play(FRAMES, |new, [left, right]| {
        if let Some(new) = new {
            handle.set_settings(&new.settings).unwrap();
        }
        let mut frames: Vec<_> =
            left.iter().zip(&*right).map(|(l, r)| Frame::new(*l, *r)).collect();
        let ((), allocations) = counted(|| {
            effect.on_start_processing();
            effect.process(&mut frames, 1.0 / f64::from(RATE), &info);
        });
        assert_eq!(allocations, 0);
        for ((left, right), frame) in left.iter_mut().zip(right).zip(frames) {
            (*left, *right) = (frame.left, frame.right);
        }
    });
    assert_same_bits(&output, &automation.expected());
    assert!(handle.bands().total_power > 0.0);
}

#[test]
fn firewheel_automation_matches_the_library_without_allocating() {
    let automation = Automation::new(1, RATE.into());
    let mut node = Memo::new(ToneFilterNode::default());
    let mut stream = firewheel::Stream::new(RATE, *node).unwrap();
    let mut blocks = 0;
    let output = automation.play(FRAMES, |new, [left, right]| {
        if let Some(new) = new {
            node.settings = new.settings;
            node.update_memo(&mut stream.context.event_queue(stream.node));
        }
        if blocks % 9 == 8 {
            // Out of range: has no effect.
            let wrong = Settings { mix: 101.0, ..node.settings };
            let event = ToneFilterNode { settings: wrong, ..*node };
            event.diff(&node, PathBuilder::default(), &mut stream.context.event_queue(stream.node));
        }
        stream.context.update().unwrap();
        let input: Vec<_> = left.iter().zip(&*right).map(|(l, r)| [*l, *r]).collect();
        let mut frames = [[0.0; 2]; FRAMES];
        let (result, allocations) = counted(|| stream.render(&input, &mut frames));
        result.unwrap();
        // The first block installs the graph, which may allocate.
        assert!(blocks == 0 || allocations == 0, "block {blocks}: {allocations}");
        blocks += 1;
        for ((left, right), frame) in left.iter_mut().zip(right).zip(frames) {
            [*left, *right] = frame;
        }
    });
    assert_same_bits(&output, &automation.expected());
    let state = stream.context.node_state_mut::<ToneFilterState>(stream.node).unwrap();
    assert!(state.bands().total_power > 0.0);
}

/// Returns 5 s of music in blocks: more than any test plays.
fn blocks() -> std::vec::IntoIter<[[f32; 2]; FRAMES]> {
    let signal = Music::draw(&mut Draws::seeded(1), 5.0).render(RATE.into(), 5.0);
    let frames: Vec<_> = signal[0].iter().zip(&signal[1]).map(|(l, r)| [*l, *r]).collect();
    frames.as_chunks().0.to_vec().into_iter()
}

struct Pair {
    effect: Box<dyn Effect>,
    handle: ToneFilterHandle,
    filter: ToneFilter,
    music: std::vec::IntoIter<[[f32; 2]; FRAMES]>,
}

impl Pair {
    fn new() -> Self {
        let (mut effect, handle) = ToneFilterBuilder::default().build();
        effect.init(RATE, FRAMES);
        let filter = ToneFilter::new(RATE.into(), &Settings::default()).unwrap();
        Self { effect, handle, filter, music: blocks() }
    }

    /// Plays the next block through effect and filter, whose outputs must be equal. `count` names the block in a failure.
    /// Returns the number of allocations and frees in the effect.
    fn play(&mut self, count: usize) -> usize {
        let sound = self.music.next().unwrap();
        let mut frames: Vec<Frame> = sound.iter().map(|s| Frame::new(s[0], s[1])).collect();
        let info = MockInfoBuilder::new().build();
        let ((), allocations) = counted(|| {
            self.effect.on_start_processing();
            self.effect.process(&mut frames, 1.0 / f64::from(RATE), &info);
        });
        let expected = filtered(&mut self.filter, &sound);
        let output: Vec<_> = frames.iter().map(|frame| [frame.left, frame.right]).collect();
        assert!(output == expected, "block {count}");
        allocations
    }
}

#[test]
fn kira_keeps_its_settings_when_the_device_changes() {
    let mut pair = Pair::new();
    let ToneFilterNode { settings, keyboard } = played();
    pair.handle.set_settings(&settings).unwrap();
    let wrong = Settings { mix: 101.0, ..settings };
    assert!(ToneFilterBuilder::new(&wrong).is_err() && pair.handle.set_settings(&wrong).is_err());
    pair.handle.set_keyboard(&keyboard);
    pair.filter.set_settings(&settings).unwrap();
    pair.filter.set_keyboard(&keyboard);
    pair.handle.set_score(Some(score(3)));
    pair.handle.seek(1.0);
    pair.filter.set_score(Some(score(3)));
    pair.filter.seek(1.0);
    pair.play(0);
    // Mock backends may have a sample rate out of the filter's range: then the sound passes through.
    pair.effect.on_change_sample_rate(1);
    let mut frames = [Frame::from_mono(0.5); 100];
    pair.effect.process(&mut frames, 1.0, &MockInfoBuilder::new().build());
    assert_eq!(frames, [Frame::from_mono(0.5); 100]);
    pair.effect.on_change_sample_rate(44_100);
    pair.filter = ToneFilter::new(44_100.0, &settings).unwrap();
    pair.filter.set_keyboard(&keyboard);
    pair.filter.set_score(Some(score(3)));
    pair.filter.seek(1.0 + FRAMES as f64 / f64::from(RATE));
    (0..20).for_each(|count| assert_eq!(pair.play(count), 0));
}

/// Returns a node with a held key, and with settings by which keys and scores change the sound.
fn played() -> ToneFilterNode {
    let settings = Settings { keys: Keys::Hold, mix: 100.0, ..Settings::default() };
    let mut keyboard = Keyboard::default();
    keyboard.play(KeyEvent::Key(69, 1.0));
    ToneFilterNode { settings, keyboard }
}

fn score(seed: usize) -> Arc<Score> {
    Arc::new(Music::draw(&mut Draws::seeded(seed as u64), 2.0).score())
}

#[test]
fn firewheel_follows_scores_and_frees_nothing() {
    let mut stream = firewheel::Stream::new(RATE, ToneFilterNode::default()).unwrap();
    let mut filter = ToneFilter::new(RATE.into(), &Settings::default()).unwrap();
    let mut music = blocks();
    for count in 0..200 {
        let mut send = |event: ScoreEvent| {
            let node = stream.node;
            stream.context.queue_event_for(node, event.into());
        };
        if count % 20 == 10 {
            // The node has the only reference to its score, so a node that dropped the score would free it on the audio thread.
            let score = (count % 60 != 50).then(|| score(count));
            filter.set_score(score.as_deref().cloned().map(Arc::new));
            filter.seek(0.0);
            send(ScoreEvent::Set(score));
        }
        if count % 20 == 15 {
            filter.seek(0.01 * count as f64);
            send(ScoreEvent::Seek(0.01 * count as f64));
        }
        stream.context.update().unwrap();
        let (input, mut output) = (music.next().unwrap(), [[0.0; 2]; FRAMES]);
        let (result, allocations) = counted(|| stream.render(&input, &mut output));
        result.unwrap();
        assert!(count == 0 || allocations == 0, "block {count}: {allocations}");
        assert!(output[..] == filtered(&mut filter, &input), "block {count}");
    }
}

#[test]
fn kira_follows_scores_and_frees_nothing() {
    let mut pair = Pair::new();
    for count in 0..200 {
        if count % 20 == 10 {
            // Handle and filter keep references, so the effect need not free the score.
            let score = (count % 60 != 50).then(|| score(count));
            // A new score starts at 0 s, also after a seek.
            pair.handle.seek(0.5);
            pair.handle.set_score(score.clone());
            pair.filter.set_score(score);
            pair.filter.seek(0.0);
        }
        if count % 20 == 15 {
            pair.handle.seek(0.01 * count as f64);
            pair.filter.seek(0.01 * count as f64);
        }
        assert_eq!(pair.play(count), 0, "{count}");
    }
}

#[test]
fn firewheel_keeps_its_state_through_bypass_and_device_changes() {
    let ToneFilterNode { settings, keyboard } = played();
    let wrong = Settings { mix: 101.0, ..settings };
    assert!(firewheel::Stream::new(RATE, ToneFilterNode { settings: wrong, keyboard }).is_err());
    let mut stream = firewheel::Stream::new(RATE, played()).unwrap();
    let mut output = [[0.0; 2]; FRAMES];
    let mut music = blocks();
    let input = music.next().unwrap();
    stream.render(&input, &mut output).unwrap();
    let mut filter = ToneFilter::new(RATE.into(), &settings).unwrap();
    filter.set_keyboard(&keyboard);
    assert!(output[..] == filtered(&mut filter, &input));
    stream.context.queue_event_for(stream.node, ScoreEvent::Set(Some(score(3))).into());
    stream.context.queue_event_for(stream.node, ScoreEvent::Seek(1.0).into());
    stream.context.update().unwrap();
    stream.render(&music.next().unwrap(), &mut output).unwrap();
    // The score continues after a change of the device, and while the node is bypassed.
    let start = 1.0 + FRAMES as f64 / f64::from(RATE);
    let now = |count: usize| start + (count * FRAMES) as f64 / 44_100.0;
    let firewheel::Stream { mut context, node, processor } = stream;
    drop(processor);
    let processor = firewheel::start(&mut context, 44_100).unwrap();
    let mut stream = firewheel::Stream { context, node, processor };
    let mut filter = ToneFilter::new(44_100.0, &settings).unwrap();
    filter.set_keyboard(&keyboard);
    filter.set_score(Some(score(3)));
    filter.seek(now(0));
    for count in 0..100 {
        let bypassed = (40..80).contains(&count);
        if count == 40 || count == 80 {
            stream.context.queue_bypassed_for(node, bypassed);
            filter.reset();
            filter.set_keyboard(&keyboard);
            filter.seek(now(count));
        }
        stream.context.update().unwrap();
        let input = music.next().unwrap();
        stream.render(&input, &mut output).unwrap();
        let expected = if bypassed { input.to_vec() } else { filtered(&mut filter, &input) };
        // Firewheel crossfades for 441 frames.
        let faded = if count == 40 || count == 80 { 441 } else { 0 };
        assert!(output[faded..] == expected[faded..], "block {count}");
    }
}
