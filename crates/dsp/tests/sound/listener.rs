//! The filter's listener, and the memory of the beats.

use tone_filter_dsp::{
    BLOCK, Kernel, Settings, ToneFilter,
    listener::{
        Decisions, Listener, Model,
        beats::{Beat, BeatFinder},
        notes::Notes,
    },
};
use tone_filter_testkit::{Draws, Music, heap, signals::sine, sweep};

#[test]
fn beats_of_long_music_take_few_bytes_a_frame() {
    let frames = if sweep::all() { 100_000 } else { 20_000 };
    let (found, peak) = heap::peak_of(|| {
        let mut finder = BeatFinder::new(0.05);
        // From a beat on.
        for frame in 10..frames + 10 {
            // A note in each half of a second, in the bass on each fourth.
            let (note, level) = (if frame % 40 < 10 { 10 } else { 40 }, 0.01);
            let mut decisions = Decisions { frames: frame, ..Decisions::NONE };
            if frame % 10 < 5 {
                (decisions.on[note], decisions.begun[note]) = (true, frame % 10 == 0);
                (decisions.level[note], decisions.peak[note]) = (level, level);
            }
            finder.push(&decisions);
        }
        finder.beats()
    });
    let beats = found.unwrap().beats;
    let steady = |pair: &[Beat]| (pair[1].time - pair[0].time - 0.5).abs() < 0.01;
    assert!(
        beats.len() as u64 > frames / 10 - 10 && beats.windows(2).all(steady),
        "{}",
        beats.len()
    );
    assert!(peak < (16 << 20) + 64 * frames as usize, "{peak} bytes");
}

#[test]
fn without_focus_the_listener_runs_on_request() {
    let mut filter = ToneFilter::new(48_000.0, &Settings::REFERENCE).unwrap();
    for asked in [false, true, false] {
        filter.detect_notes(asked);
        filter.process(&mut [&mut [0.0; 64]]);
        assert_eq!(filter.bands().played.is_some(), asked);
    }
}

#[test]
fn auto_level_gives_quiet_music_the_velocities_of_loud_music() {
    let velocity = |amplitude| {
        let tone = sine(440.0, amplitude, 0.5, 22_050.0);
        let mut signal = [&tone[..], &[0.0; 4410]].concat().repeat(12);
        let mut filter = ToneFilter::new(22_050.0, &Settings::default()).unwrap();
        let (mut notes, mut last) = (Notes::live(), 0);
        filter.process_with(&mut [&mut signal], |_, filter| {
            filter.report_notes(&mut notes, |note| last = note.velocity.unwrap_or(last));
        });
        i32::from(last)
    };
    let [loud, quiet] = [0.3, 0.03].map(velocity);
    assert!(loud < 127 && (loud - quiet).abs() <= 1, "{loud} {quiet}");
}

#[test]
fn sensitivity_moves_the_threshold_by_up_to_3_in_log_odds() {
    let rate = 22_050.0;
    let music = Music::draw(&mut Draws::seeded(3), 8.0).render(rate, 8.0);
    for (sensitivity, log_odds) in [(0.0, -3.0), (100.0, 3.0)] {
        let settings = Settings { sensitivity, ..Settings::default() };
        let mut filter = ToneFilter::new(rate, &settings).unwrap();
        let mut listener = Listener::new(rate, false, Model::Full);
        listener.set_sensitivity(log_odds);
        for block in music[0].as_chunks::<BLOCK>().0 {
            listener.push(Kernel::best(), block, None);
            filter.process(&mut [&mut block.clone()]);
            assert_eq!(filter.decisions(), listener.decisions());
        }
        assert!(listener.decisions().frames > 500);
    }
}
