//! Settings that change during music.

use super::{firewheel, kira::common::FRAMES};
use ::firewheel::diff::Memo;
use ::kira::{Frame, effect::EffectBuilder, info::MockInfoBuilder};
use tone_filter_firewheel::ToneFilterNode;
use tone_filter_kira::ToneFilterBuilder;
use tone_filter_testkit::{Automation, assert_same_bits};

#[test]
fn automation_in_kira_has_the_bits_of_the_library() {
    let automation = Automation::new(1, 48_000.0);
    let (mut effect, mut handle) = ToneFilterBuilder::default().build();
    effect.init(48_000, FRAMES);
    let info = MockInfoBuilder::new().build();
    let output = automation.play(FRAMES, |new, [left, right]| {
        if let Some(new) = new {
            handle.set_settings(&new.settings).unwrap();
        }
        let mut frames: Vec<_> =
            left.iter().zip(&*right).map(|(l, r)| Frame::new(*l, *r)).collect();
        effect.on_start_processing();
        effect.process(&mut frames, 1.0 / 48_000.0, &info);
        for ((left, right), frame) in left.iter_mut().zip(right).zip(frames) {
            (*left, *right) = (frame.left, frame.right);
        }
    });
    assert_same_bits(&output, &automation.expected());
}

#[test]
fn automation_in_firewheel_has_the_bits_of_the_library() {
    let automation = Automation::new(1, 48_000.0);
    let mut node = Memo::new(ToneFilterNode::default());
    let mut stream = firewheel::Stream::new(48_000, *node).unwrap();
    let output = automation.play(FRAMES, |new, [left, right]| {
        if let Some(new) = new {
            node.settings = new.settings;
            node.update_memo(&mut stream.context.event_queue(stream.node));
        }
        stream.context.update().unwrap();
        let input: Vec<_> = left.iter().zip(&*right).map(|(l, r)| [*l, *r]).collect();
        let mut frames = [[0.0; 2]; FRAMES];
        stream.render(&input, &mut frames).unwrap();
        for ((left, right), frame) in left.iter_mut().zip(right).zip(frames) {
            [*left, *right] = frame;
        }
    });
    assert_same_bits(&output, &automation.expected());
}
