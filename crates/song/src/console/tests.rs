//! Tests of the recorded ticks against the file's time and the filter.

use super::*;
use tone_filter_dsp::{Settings, Voice};

/// Records a file of `seconds`: silence in the first half, A4 in the second.
fn recorded(rate: f64, seconds: f64, lookahead: bool) -> Vec<ChipTick> {
    let settings = Settings { voice: Voice::Chip, voices: 3.0, lookahead, ..Settings::default() };
    let mut filter = ToneFilter::new(rate, &settings).unwrap();
    let mut recorder = Recorder::default();
    let frames = (seconds * rate) as usize;
    let square = |frame: usize| {
        let high = (440.0 * frame as f64 / rate).fract() < 0.5;
        if frame < frames / 2 || frame >= frames { 0.0 } else { [-0.2, 0.2][usize::from(high)] }
    };
    let mut samples: Vec<f32> = (0..frames + filter.latency()).map(square).collect();
    filter.process_with(&mut [&mut samples], |_, filter| recorder.push(filter));
    recorder.finish(seconds)
}

#[test]
fn ticks_have_the_times_of_the_file() {
    for (rate, lookahead) in [(44_100.0, true), (48_000.0, true), (32_000.0, false)] {
        let ticks = recorded(rate, 4.0, lookahead);
        assert_eq!(ticks.len(), 240);
        let sounds = |tick: &ChipTick| {
            let [one, other] = tick.pulses;
            [one.frequency, other.frequency, tick.triangle].iter().any(|hertz| *hertz > 0.0)
        };
        let first = ticks.iter().position(sounds).unwrap();
        assert!((120..130).contains(&first), "{rate}, {lookahead}: {first}");
        // A4 is below C5, so it is the bass, which the triangle plays.
        let triangle = ticks[200].triangle;
        assert!((triangle / 440.0 - 1.0).abs() < 0.003, "{triangle} Hz");
        assert!(ticks.windows(2).all(|pair| pair[0].number + 1 == pair[1].number), "{rate}");
    }
}

#[test]
fn a_file_is_as_long_at_every_rate_and_has_a_tick_at_least() {
    // At 2 kHz a block has two ticks.
    let ticks = recorded(2000.0, 4.0, false);
    assert_eq!(ticks.len(), 240);
    let last = ticks.iter().rposition(|tick| tick.number > 0).unwrap();
    assert!(last > 235, "{last}");
    assert_eq!(Recorder::default().finish(0.0), [ChipTick::default()]);
}
