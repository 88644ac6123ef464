//! Tests of the kira effect and the firewheel node: both must sound like the filter alone, and allocate nothing. `cargo xtask
//! test-engines` also runs the examples, in which the sound passes kira's mixer and firewheel's graph.

#[allow(dead_code, reason = "an example's command line")]
#[path = "../../../examples/firewheel.rs"]
mod firewheel;

use ::firewheel::diff::{Diff, Memo, PathBuilder};
use ::kira::{
    Frame,
    effect::{Effect, EffectBuilder},
    info::MockInfoBuilder,
};
use firewheel::common::{FRAMES, Sound};
use std::sync::Arc;
use tone_filter_dsp::{Controls, KeyEvent, Keyboard, Keys, Score, Settings, ToneFilter};
use tone_filter_firewheel::{ScoreEvent, ToneFilterNode, ToneFilterState};
use tone_filter_kira::{ToneFilterBuilder, ToneFilterHandle};
use tone_filter_testkit::{
    Automation, Draws, Music, assert_same_bits,
    heap::{self, counted},
};

#[global_allocator]
static HEAP: heap::Counting = heap::Counting;

const RATE: u32 = 48_000;

/// The effect, and the handle with which a game controls it.
struct Kira {
    effect: Box<dyn Effect>,
    handle: ToneFilterHandle,
}

impl Kira {
    fn new() -> Self {
        let (mut effect, handle) = ToneFilterBuilder::default().build();
        effect.init(RATE, FRAMES);
        Self { effect, handle }
    }

    /// Returns the effect's output for a block. The effect must neither allocate nor free.
    fn play(&mut self, input: &[[f32; 2]]) -> Sound {
        let frames = input.iter().map(|[left, right]| Frame::new(*left, *right));
        let (mut frames, info) = (frames.collect::<Vec<_>>(), MockInfoBuilder::new().build());
        let ((), allocations) = counted(|| {
            self.effect.on_start_processing();
            self.effect.process(&mut frames, 1.0 / f64::from(RATE), &info);
        });
        assert_eq!(allocations, 0);
        frames.iter().map(|frame| [frame.left, frame.right]).collect()
    }
}

/// Lets firewheel install the graph, with an empty block. For this, it may allocate on the audio thread.
fn installed(mut stream: firewheel::Stream) -> firewheel::Stream {
    stream.context.update().unwrap();
    stream.render(&[], &mut []).unwrap();
    stream
}

/// Returns the graph's output for a block. The graph must neither allocate nor free.
fn play(stream: &mut firewheel::Stream, input: &[[f32; 2]]) -> Sound {
    stream.context.update().unwrap();
    let mut output = vec![[0.0; 2]; input.len()];
    let (result, allocations) = counted(|| stream.render(input, &mut output));
    result.unwrap();
    assert_eq!(allocations, 0);
    output
}

fn send(stream: &mut firewheel::Stream, event: ScoreEvent) {
    stream.context.queue_event_for(stream.node, event.into());
}

fn filtered(filter: &mut ToneFilter, sound: &[[f32; 2]]) -> Sound {
    let [mut left, mut right] = [0, 1].map(|c| sound.iter().map(|s| s[c]).collect::<Vec<_>>());
    filter.process(&mut [&mut left, &mut right]);
    left.into_iter().zip(right).map(|(left, right)| [left, right]).collect()
}

/// Plays the automation's run, and asserts the expected output. `play` gets the new settings, if they change at a block's
/// start, and the block's input. It returns the engine's output.
fn assert_automation(mut play: impl FnMut(Option<&Controls>, &[[f32; 2]]) -> Sound) {
    let automation = Automation::new(1, RATE.into());
    let output = automation.play(FRAMES, |new, [left, right]| {
        let input: Vec<_> = left.iter().zip(&*right).map(|(l, r)| [*l, *r]).collect();
        for ((left, right), frame) in left.iter_mut().zip(right).zip(play(new, &input)) {
            [*left, *right] = frame;
        }
    });
    assert_same_bits(&output, &automation.expected());
}

#[test]
fn kira_automation_matches_the_library() {
    let mut kira = Kira::new();
    assert_automation(|new, input| {
        new.into_iter().for_each(|new| kira.handle.set_settings(&new.settings).unwrap());
        kira.play(input)
    });
    assert!(kira.handle.bands().total_power > 0.0);
}

#[test]
fn firewheel_automation_matches_the_library() {
    let mut node = Memo::new(ToneFilterNode::default());
    let mut stream = installed(firewheel::Stream::new(RATE, *node).unwrap());
    assert_automation(|new, input| {
        let id = stream.node;
        if let Some(new) = new {
            node.settings = new.settings;
            node.update_memo(&mut stream.context.event_queue(id));
        }
        // Out of range: has no effect.
        let wrong = Settings { mix: 101.0, ..node.settings };
        let event = ToneFilterNode { settings: wrong, ..*node };
        event.diff(&node, PathBuilder::default(), &mut stream.context.event_queue(id));
        play(&mut stream, input)
    });
    let state = stream.context.node_state_mut::<ToneFilterState>(stream.node).unwrap();
    assert!(state.bands().total_power > 0.0);
}

/// Returns 5 s of music in blocks: more than any test plays.
fn blocks() -> std::vec::IntoIter<[[f32; 2]; FRAMES]> {
    let signal = Music::draw(&mut Draws::seeded(1), 5.0).render(RATE.into(), 5.0);
    let frames: Vec<_> = signal[0].iter().zip(&signal[1]).map(|(l, r)| [*l, *r]).collect();
    frames.as_chunks().0.to_vec().into_iter()
}

fn score(seed: usize) -> Arc<Score> {
    Arc::new(Music::draw(&mut Draws::seeded(seed as u64), 2.0).score())
}

/// Plays music, with scores and seeks, and asserts the expected output. `play` gets the event before a block, if any, and the
/// block's input. It returns the engine's output.
fn assert_scores(mut play: impl FnMut(Option<ScoreEvent>, &[[f32; 2]]) -> Sound) {
    let mut filter = ToneFilter::new(RATE.into(), &Settings::default()).unwrap();
    for (count, input) in blocks().take(200).enumerate() {
        let event = match count % 20 {
            10 => {
                // The engine has the only reference to its score, and must not free it on the audio thread.
                let score = (count % 60 != 50).then(|| score(count));
                filter.set_score(score.as_deref().cloned().map(Arc::new));
                filter.seek(0.0);
                Some(ScoreEvent::Set(score))
            }
            15 => {
                filter.seek(0.01 * count as f64);
                Some(ScoreEvent::Seek(0.01 * count as f64))
            }
            _ => None,
        };
        assert!(play(event, &input) == filtered(&mut filter, &input), "block {count}");
    }
}

#[test]
fn kira_follows_scores_and_frees_nothing() {
    let mut kira = Kira::new();
    assert_scores(|event, input| {
        match event {
            Some(ScoreEvent::Set(score)) => {
                // A new score starts at 0 s, also after a seek.
                kira.handle.seek(0.5);
                kira.handle.set_score(score);
            }
            Some(ScoreEvent::Seek(seconds)) => kira.handle.seek(seconds),
            None => {}
        }
        kira.play(input)
    });
}

#[test]
fn firewheel_follows_scores_and_frees_nothing() {
    let stream = firewheel::Stream::new(RATE, ToneFilterNode::default());
    let mut stream = installed(stream.unwrap());
    assert_scores(|event, input| {
        event.into_iter().for_each(|event| send(&mut stream, event));
        play(&mut stream, input)
    });
}

/// Returns a node with a held key, and with settings by which keys and scores change the sound.
fn played() -> ToneFilterNode {
    let settings = Settings { keys: Keys::Hold, mix: 100.0, ..Settings::default() };
    let mut keyboard = Keyboard::default();
    keyboard.play(KeyEvent::Key(69, 1.0));
    ToneFilterNode { settings, keyboard }
}

/// Returns a filter at 44.1 kHz with the settings and keys of [`played`], `seconds` after the start of its score.
fn filter_in_score(seconds: f64) -> ToneFilter {
    let ToneFilterNode { settings, keyboard } = played();
    let mut filter = ToneFilter::new(44_100.0, &settings).unwrap();
    filter.set_keyboard(&keyboard);
    filter.set_score(Some(score(3)));
    filter.seek(seconds);
    filter
}

/// Position in the score one block after 1 s, in seconds.
const AFTER_A_BLOCK: f64 = 1.0 + FRAMES as f64 / RATE as f64;

#[test]
fn kira_keeps_its_settings_when_the_device_changes() {
    let (mut kira, mut music) = (Kira::new(), blocks());
    let ToneFilterNode { settings, keyboard } = played();
    kira.handle.set_settings(&settings).unwrap();
    let wrong = Settings { mix: 101.0, ..settings };
    assert!(ToneFilterBuilder::new(&wrong).is_err() && kira.handle.set_settings(&wrong).is_err());
    kira.handle.set_keyboard(&keyboard);
    kira.handle.set_score(Some(score(3)));
    kira.handle.seek(1.0);
    kira.play(&music.next().unwrap());
    // Mock backends may have a sample rate out of the filter's range: then the sound passes through.
    kira.effect.on_change_sample_rate(1);
    assert_eq!(kira.play(&[[0.5; 2]; 100]), [[0.5; 2]; 100]);
    kira.effect.on_change_sample_rate(44_100);
    let mut filter = filter_in_score(AFTER_A_BLOCK);
    for input in music.take(20) {
        assert!(kira.play(&input) == filtered(&mut filter, &input));
    }
}

#[test]
fn firewheel_keeps_its_state_through_bypass_and_device_changes() {
    let wrong = Settings { mix: 101.0, ..played().settings };
    assert!(firewheel::Stream::new(RATE, ToneFilterNode { settings: wrong, ..played() }).is_err());
    let mut stream = installed(firewheel::Stream::new(RATE, played()).unwrap());
    let mut music = blocks();
    play(&mut stream, &music.next().unwrap());
    send(&mut stream, ScoreEvent::Set(Some(score(3))));
    send(&mut stream, ScoreEvent::Seek(1.0));
    play(&mut stream, &music.next().unwrap());
    // The score continues after a change of the device, and while the node is bypassed.
    let firewheel::Stream { mut context, node, processor } = stream;
    drop(processor);
    let processor = firewheel::start(&mut context, 44_100).unwrap();
    let mut stream = installed(firewheel::Stream { context, node, processor });
    let now = |count: usize| AFTER_A_BLOCK + (count * FRAMES) as f64 / 44_100.0;
    let mut filter = filter_in_score(now(0));
    for (count, input) in music.take(100).enumerate() {
        let bypassed = (40..80).contains(&count);
        if count == 40 || count == 80 {
            stream.context.queue_bypassed_for(node, bypassed);
            filter = filter_in_score(now(count));
        }
        let output = play(&mut stream, &input);
        let expected = if bypassed { input.to_vec() } else { filtered(&mut filter, &input) };
        // Firewheel crossfades for 441 frames.
        let faded = if count == 40 || count == 80 { 441 } else { 0 };
        assert!(output[faded..] == expected[faded..], "block {count}");
    }
}
