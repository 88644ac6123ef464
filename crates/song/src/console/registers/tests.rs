//! Tests of the registers against the facts of the hardware.

use super::*;
use tone_filter_dsp::ChipNoise;

fn pulse(frequency: f32, amplitude: f32) -> ChipTick {
    let pulse = ChipPulse { frequency, amplitude, duty: 0.25 };
    ChipTick { pulses: [pulse, ChipPulse::default()], ..ChipTick::default() }
}

/// Returns the contents of the registers at each tick of `song`.
fn held(song: &Song) -> Vec<[u8; 0x18]> {
    let mut held = [0; 0x18];
    let tick = |writes: &Vec<Write>| {
        writes.iter().for_each(|[register, value]| held[usize::from(*register)] = *value);
        held
    };
    song.ticks.iter().map(tick).collect()
}

#[test]
fn periods_are_those_of_the_hardware() {
    // A4 on a pulse is 1789773 / (16 * 254), on the triangle 1789773 / (32 * 127).
    assert_eq!(period(440.0, 16, 8), Some(253));
    assert_eq!(period(440.0, 32, 2), Some(126));
    for midi in 33..=108 {
        let frequency = 440.0 * f64::powf(2.0, f64::from(midi - 69) / 12.0);
        let period = period(frequency as f32, 16, 8).unwrap();
        let sounds = |period: f64| f64::from(CLOCK) / (16.0 * (period + 1.0));
        let off = |period: f64| (sounds(period) - frequency).abs();
        let period = f64::from(period);
        assert!(off(period) <= off(period - 1.0) && off(period) <= off(period + 1.0), "{midi}");
    }
}

#[test]
fn low_notes_go_up_by_octaves_and_high_ones_are_silent() {
    assert_eq!(period(54.7, 16, 8), Some(2044));
    assert_eq!(period(54.0, 16, 8), period(108.0, 16, 8));
    assert_eq!(period(10.3, 16, 8), period(82.4, 16, 8));
    assert_eq!(period(27.4, 32, 2), Some(2040));
    assert_eq!(period(27.0, 32, 2), period(54.0, 32, 2));
    assert_eq!(period(12_400.0, 16, 8), Some(8));
    for silent in [13_200.0, f32::INFINITY, f32::NAN, 0.0, -440.0] {
        assert_eq!(period(silent, 16, 8), None, "{silent}");
    }
    let song = Song::new(&[pulse(440.0, 1.0), pulse(14_000.0, 1.0)], None);
    assert_eq!(held(&song)[1][0] & 15, 0);
}

#[test]
fn the_first_tick_sets_all_registers_and_later_ones_the_changes() {
    let mut tick = pulse(440.0, 1.0);
    tick.pulses[1] = ChipPulse { frequency: 220.0, amplitude: 0.5, duty: 0.5 };
    tick.triangle = 110.0;
    tick.noise = ChipNoise { amplitude: 0.01, rate: 6 };
    let mut other = ChipTick { triangle: 0.0, ..tick };
    other.pulses[1].duty = 0.125;
    let song = Song::new(&[tick, tick, other], None);
    let all = [
        [0x15, 0x0F],
        [0x17, 0x40],
        // First pulse: 25 %, volume 15, period 253.
        [0x0, 0x7F],
        [0x1, 0x08],
        [0x2, 253],
        [0x3, 0x08],
        // Second pulse: 50 %, volume 7.5, rounded up; period 507.
        [0x4, 0xB8],
        [0x5, 0x08],
        [0x6, 0xFB],
        [0x7, 0x09],
        // Triangle: on, period 507.
        [0x8, 0xFF],
        [0xA, 0xFB],
        [0xB, 0x09],
        // Noise: volume 1, though the amplitude is less than half a step.
        [0xC, 0x31],
        [0xE, 6],
        [0xF, 0x08],
    ];
    assert_eq!(song.ticks[0], all);
    assert!(song.ticks[1].is_empty());
    assert_eq!(song.ticks[2], [[0x4, 0x38], [0x8, 0x80]], "12.5 %; the triangle's period stays");
    assert_eq!(song.ticks[3], [[0x15, 0]], "the end is silent");
    assert_eq!(song.ticks.len(), 4);
}

#[test]
fn the_maximum_volume_is_the_99th_percentile() {
    let mut ticks: Vec<_> = (1..=99).map(|step| pulse(440.0, step as f32)).collect();
    // In each tick, only the louder pulse counts. Silent ticks do not count.
    ticks.iter_mut().for_each(|tick| tick.pulses[1].amplitude = 0.5);
    ticks.push(pulse(440.0, 1000.0));
    ticks.extend([ChipTick::default(); 500]);
    assert_eq!(unit(&ticks), 1000.0);
    ticks.push(pulse(440.0, 99.0));
    assert_eq!(unit(&ticks), 99.0);
    let held = held(&Song::new(&ticks, None));
    let volumes = [0, 32, 65, 98, 99].map(|tick| held[tick][0] & 15);
    assert_eq!(volumes, [1, 5, 10, 15, 15]);

    let silence = ChipTick::default();
    let noise = ChipTick { noise: ChipNoise { amplitude: 0.2, rate: 4 }, ..silence };
    assert_eq!(unit(&[silence, noise]), 0.2);
    assert_eq!(unit(&[silence]), 1.0);
}

#[test]
fn a_note_that_wavers_does_not_click() {
    // The high byte changes at 436.1 Hz.
    let ticks = [437.0, 435.0, 434.0, 437.0, 428.0, 415.3, 440.0].map(|f| pulse(f, 1.0));
    let held = held(&Song::new(&ticks, None));
    let periods: Vec<_> = held.iter().map(|h| u16::from_le_bytes([h[2], h[3] & 7])).collect();
    // 428 Hz gets its own period, as 1.9 % of error is audible; 440 Hz is another note.
    assert_eq!(periods[..7], [255, 255, 255, 255, 260, 268, 253]);
    let pause = [pulse(437.0, 1.0), ChipTick::default(), pulse(435.0, 1.0)];
    assert_eq!(self::held(&Song::new(&pause, None))[2][3] & 7, 1, "a new note may click");
}

#[test]
fn a_repeat_continues_like_the_first_time() {
    let notes = [440.0, 220.0, 330.0, 110.0].map(|frequency| pulse(frequency, 1.0));
    assert_eq!(Song::new(&notes, Some(4)), Song::new(&notes, Some(3)), "rounded up to the end");
    for start in 0..4 {
        let song = Song::new(&notes, Some(start));
        assert_eq!(song.ticks.len(), 4, "no silence at its end");
        let mut again = song.clone();
        again.ticks.extend_from_slice(&song.ticks[start..]);
        let held = held(&again);
        assert_eq!(held[4..], held[start..4], "{start}");
    }
}

#[test]
fn notes_are_counted_where_they_begin() {
    let notes_of = |frequencies: &[f32]| {
        let ticks: Vec<_> = frequencies.iter().map(|f| pulse(*f, 1.0)).collect();
        Song::new(&ticks, None).notes
    };
    assert_eq!(notes_of(&[0.0, 440.0, 445.0, 440.0, 0.0]), 1);
    assert_eq!(notes_of(&[440.0, 466.2, 440.0]), 3);
    assert_eq!(notes_of(&[440.0, 0.0, 440.0]), 2);
    assert_eq!(notes_of(&[0.0]), 0);
}
