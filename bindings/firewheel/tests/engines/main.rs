//! Tests of the kira effect and the firewheel node: both must sound like the filter alone. The examples run them in the engines'
//! own mixer and graph.
#![allow(clippy::duplicate_mod, reason = "each example has the module `common`")]

mod automation;
#[allow(dead_code, reason = "an example's command line")]
#[path = "../../../../examples/firewheel.rs"]
mod firewheel;
#[allow(dead_code, reason = "an example's command line")]
#[path = "../../../../examples/kira.rs"]
mod kira;

use ::firewheel::diff::Memo;
use ::kira::{
    Frame,
    effect::{Effect, EffectBuilder},
    info::MockInfoBuilder,
};
use hound::WavReader;
use kira::common::{FRAMES, state};
use std::{error::Error, path::Path, sync::Arc};
use tone_filter_dsp::{KeyEvent, Keyboard, Keys, Score, Settings, ToneFilter};
use tone_filter_firewheel::{ScoreEvent, ToneFilterNode, ToneFilterState};
use tone_filter_kira::{ToneFilterBuilder, ToneFilterHandle};
use tone_filter_testkit::{
    Draws, Music, controls, events,
    heap::{self, counted},
};

#[global_allocator]
static HEAP: heap::Counting = heap::Counting;

const RATE: u32 = 48_000;
const DEMO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../assets/demo.wav");

/// Function of an example that renders one file into another.
type Example = fn(&Path, &Path) -> Result<(), Box<dyn Error>>;

/// Returns `sound` after the filter.
fn filtered(filter: &mut ToneFilter, sound: &[[f32; 2]]) -> Vec<[f32; 2]> {
    let [mut left, mut right] = [0, 1].map(|c| sound.iter().map(|s| s[c]).collect::<Vec<_>>());
    filter.process(&mut [&mut left, &mut right]);
    left.into_iter().zip(right).map(|(left, right)| [left, right]).collect()
}

/// Returns the bits of an example's output for the demo tune.
fn rendered(name: &str, example: Example) -> Vec<u32> {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    example(DEMO.as_ref(), &path).unwrap();
    let mut file = WavReader::open(path).unwrap();
    assert_eq!(file.spec().sample_rate, 44_100);
    file.samples::<f32>().map(|sample| sample.unwrap().to_bits()).collect()
}

/// Returns the bits of the filter's output for the demo tune.
fn expected() -> Vec<u32> {
    let mut file = WavReader::open(DEMO).unwrap();
    let sample = |sample: hound::Result<i16>| f32::from(sample.unwrap()) / 32_768.0;
    let mut sound: Vec<f32> = file.samples().map(sample).collect();
    let mut filter = ToneFilter::new(44_100.0, &state(0).0).unwrap();
    for (count, block) in sound.as_chunks_mut().0.chunks_mut(FRAMES).enumerate() {
        let (settings, keyboard) = state(count);
        filter.set_settings(&settings).unwrap();
        filter.set_keyboard(&keyboard);
        block.copy_from_slice(&filtered(&mut filter, block));
    }
    assert!(sound.iter().all(|sample| sample.abs() < 1.0), "kira would clip");
    assert!(sound[2 * FRAMES * 400..].iter().any(|sample| sample.abs() > 0.01));
    sound.into_iter().map(f32::to_bits).collect()
}

#[test]
fn what_kira_renders_is_what_the_filter_makes() {
    let rendered =
        rendered("kira.wav", |from, to| kira::common::render_file(kira::render, from, to));
    assert!(rendered == expected());
}

#[test]
fn what_firewheel_renders_is_what_the_filter_makes() {
    let rendered = rendered("firewheel.wav", |from, to| {
        firewheel::common::render_file(firewheel::render, from, to)
    });
    assert!(rendered == expected());
}

/// Blocks of music, one after the other.
struct Blocks(std::vec::IntoIter<[[f32; 2]; FRAMES]>);

impl Blocks {
    /// Creates more blocks than any test plays.
    fn new() -> Self {
        let signal = Music::draw(&mut Draws::seeded(1), 5.0).render(RATE.into(), 5.0);
        let frames: Vec<_> = signal[0].iter().zip(&signal[1]).map(|(l, r)| [*l, *r]).collect();
        Self(frames.as_chunks().0.to_vec().into_iter())
    }

    fn next(&mut self) -> [[f32; 2]; FRAMES] {
        self.0.next().expect("music for all blocks")
    }
}

/// Settings and keyboard, drawn at random every fifth block.
struct Play {
    draws: Draws<'static>,
    settings: Settings,
    keyboard: Keyboard,
}

impl Play {
    fn new() -> Self {
        let (settings, keyboard) = (Settings::default(), Keyboard::default());
        Self { draws: Draws::seeded(2), settings, keyboard }
    }

    /// Returns the settings and keyboard of block `count`.
    fn at(&mut self, count: usize) -> (Settings, Keyboard) {
        if count % 5 == 4 {
            self.settings = controls(&mut self.draws).settings;
            let events = events(&mut self.draws, FRAMES);
            events.into_iter().for_each(|(_, event)| self.keyboard.play(event));
        }
        (self.settings, self.keyboard)
    }
}

/// A kira effect, and the filter that it must equal.
struct Pair {
    effect: Box<dyn Effect>,
    handle: ToneFilterHandle,
    filter: ToneFilter,
    music: Blocks,
}

impl Pair {
    fn new() -> Self {
        let (mut effect, handle) = ToneFilterBuilder::default().build();
        effect.init(RATE, FRAMES);
        let filter = ToneFilter::new(RATE.into(), &Settings::default()).unwrap();
        Self { effect, handle, filter, music: Blocks::new() }
    }

    /// Sets the effect and the filter to the same state.
    fn set(&mut self, (settings, keyboard): (Settings, Keyboard)) {
        self.handle.set_settings(&settings).unwrap();
        self.handle.set_keyboard(&keyboard);
        self.filter.set_settings(&settings).unwrap();
        self.filter.set_keyboard(&keyboard);
    }

    /// Compares effect and filter over the next block. Returns the number of allocations and frees in the effect.
    fn play(&mut self, count: usize) -> usize {
        let sound = self.music.next();
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
fn kiras_effect_follows_its_handle_without_allocation() {
    let (mut pair, mut play) = (Pair::new(), Play::new());
    for count in 0..400 {
        pair.set(play.at(count));
        assert_eq!(pair.play(count), 0);
        assert_eq!(pair.handle.bands(), pair.filter.bands());
    }
}

#[test]
fn kiras_effect_keeps_its_settings_when_the_device_changes() {
    let mut pair = Pair::new();
    let (settings, keyboard) = played();
    pair.set((settings, keyboard));
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

/// Returns settings with which keys and scores sound, and keys.
fn played() -> (Settings, Keyboard) {
    let settings = Settings { keys: Keys::Hold, mix: 100.0, ..Settings::default() };
    (settings, Play::new().at(4).1)
}

fn score(seed: usize) -> Arc<Score> {
    Arc::new(Music::draw(&mut Draws::seeded(seed as u64), 2.0).score())
}

#[test]
fn firewheels_node_follows_scores_and_frees_nothing() {
    let mut stream = firewheel::Stream::new(RATE, ToneFilterNode::default()).unwrap();
    let mut filter = ToneFilter::new(RATE.into(), &Settings::default()).unwrap();
    let mut music = Blocks::new();
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
        let (input, mut output) = (music.next(), [[0.0; 2]; FRAMES]);
        let (result, allocations) = counted(|| stream.render(&input, &mut output));
        result.unwrap();
        assert!(count == 0 || allocations == 0, "block {count}: {allocations}");
        assert!(output[..] == filtered(&mut filter, &input), "block {count}");
    }
}

#[test]
fn kiras_effect_follows_scores_and_frees_nothing() {
    let mut pair = Pair::new();
    for count in 0..200 {
        if count % 20 == 10 {
            // Handle and filter keep references, so the effect need not free the score.
            let score = (count % 60 != 50).then(|| score(count));
            // A score starts at 0, whatever was sought before it.
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
fn kira_gets_no_settings_out_of_range() {
    let wrong = Settings { mix: 101.0, ..Settings::default() };
    assert!(ToneFilterBuilder::new(&wrong).is_err());
    let mut pair = Pair::new();
    assert!(pair.handle.set_settings(&wrong).is_err());
    pair.play(0);
}

#[test]
fn firewheels_node_follows_its_parameters_without_allocation() {
    let mut node = Memo::new(ToneFilterNode::default());
    let mut stream = firewheel::Stream::new(RATE, *node).unwrap();
    let mut filter = ToneFilter::new(RATE.into(), &node.settings).unwrap();
    let (mut music, mut play) = (Blocks::new(), Play::new());
    for count in 0..400 {
        (node.settings, node.keyboard) = play.at(count);
        if count == 350 {
            // Out of range: has no effect.
            node.settings.mix = 101.0;
        }
        node.update_memo(&mut stream.context.event_queue(stream.node));
        stream.context.update().unwrap();
        let (input, mut output) = (music.next(), [[0.0; 2]; FRAMES]);
        let (result, allocations) = counted(|| stream.render(&input, &mut output));
        result.unwrap();
        // The first block installs the graph, which may allocate.
        assert!(count == 0 || allocations == 0, "block {count}: {allocations}");
        let _ = filter.set_settings(&node.settings);
        filter.set_keyboard(&node.keyboard);
        assert!(output[..] == filtered(&mut filter, &input), "block {count}");
        let state = stream.context.node_state_mut::<ToneFilterState>(stream.node).unwrap();
        assert_eq!(state.bands(), filter.bands());
    }
}

#[test]
fn firewheels_node_starts_with_its_parameters() {
    let mut keyboard = Keyboard::default();
    keyboard.play(KeyEvent::Key(69, 1.0));
    let settings = Settings { keys: Keys::Hold, ..Settings::default() };
    let mut stream = firewheel::Stream::new(RATE, ToneFilterNode { settings, keyboard }).unwrap();
    let mut filter = ToneFilter::new(RATE.into(), &settings).unwrap();
    filter.set_keyboard(&keyboard);
    let mut output = [[0.0; 2]; FRAMES];
    let input = Blocks::new().next();
    stream.render(&input, &mut output).unwrap();
    assert!(output[..] == filtered(&mut filter, &input));

    let wrong = Settings { mix: 101.0, ..settings };
    assert!(firewheel::Stream::new(RATE, ToneFilterNode { settings: wrong, keyboard }).is_err());
}

#[test]
fn firewheels_node_rests_while_it_is_bypassed_and_keeps_its_parameters_when_the_device_changes() {
    let (settings, keyboard) = played();
    let parameters = ToneFilterNode { settings, keyboard };
    let mut stream = firewheel::Stream::new(RATE, parameters).unwrap();
    let mut output = [[0.0; 2]; FRAMES];
    let mut music = Blocks::new();
    stream.context.queue_event_for(stream.node, ScoreEvent::Set(Some(score(3))).into());
    stream.context.queue_event_for(stream.node, ScoreEvent::Seek(1.0).into());
    stream.context.update().unwrap();
    stream.render(&music.next(), &mut output).unwrap();
    // The score goes on after a change of the device, and while the node is bypassed.
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
        let input = music.next();
        stream.render(&input, &mut output).unwrap();
        let expected = if bypassed { input.to_vec() } else { filtered(&mut filter, &input) };
        // Firewheel crossfades for 441 frames.
        let faded = if count == 40 || count == 80 { 441 } else { 0 };
        assert!(output[faded..] == expected[faded..], "block {count}");
    }
}
