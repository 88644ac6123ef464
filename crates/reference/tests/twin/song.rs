//! Test music: melody, chords, bass and drums, different in its two channels.

use tone_filter_testkit::{Draws, Music, Note};

/// Duration of a chord in seconds.
pub const CHORD: f64 = 1.6;
const BEAT: f64 = CHORD / 4.0;

/// MIDI notes of the chords' roots. The chords are minor, major, major, major.
const ROOTS: [f64; 4] = [45.0, 41.0, 48.0, 43.0];

/// Returns `seconds` of the music at `rate` Hz. From 8 to 9.6 s there are drums alone; from 12.8 s on, everything is louder.
pub fn song(seconds: f64, rate: f64) -> [Vec<f32>; 2] {
    let (draws, mut music) = (&mut Draws::seeded(40), Music::default());
    for bar in 0..(seconds / CHORD).ceil() as usize {
        let start = bar as f64 * CHORD;
        let mut add = |at: f64, length: f64, pan: f64, pitch: f64, amplitude: f64, decay: f64| {
            let (start, end) = (start + at, start + at + length);
            let (slope, partials, vibrato) = (1.4, 6, 0.0);
            let note = Note { start, end, pitch, amplitude, slope, partials, decay, vibrato, pan };
            music.notes.push(note);
        };
        for at in (0..4).map(|beat| BEAT * f64::from(beat)) {
            // A bass drum at 55 Hz, then a hi-hat.
            add(at, 0.15, 0.0, 33.0, 0.35, 0.05);
            music.drum_hits.push((start + at + BEAT / 2.0, 0.12));
        }
        if bar == 5 {
            continue;
        }
        let root = ROOTS[bar % 4];
        let third = if bar.is_multiple_of(4) { 3.0 } else { 4.0 };
        for (half, below) in [(0.0, 12.0), (2.0 * BEAT, 5.0)] {
            add(half, 2.0 * BEAT, 0.0, root - below, 0.2, 0.6);
        }
        for (above, pan) in [(12.0, 0.7), (12.0 + third, -0.2), (19.0, -0.8)] {
            add(0.0, CHORD, pan, root + above, 0.1, 2.0);
        }
        for step in (0..8).filter(|step| step % 4 != 3) {
            let above = 24.0 + draws.pick(&[0.0, third, 7.0, 12.0, 19.0]);
            add(BEAT / 2.0 * f64::from(step), BEAT / 2.0, 0.3, root + above, 0.15, 0.3);
        }
    }
    music.gains = vec![(0.0, 0.7), (8.0 * CHORD, 1.4)];
    music.render(rate, seconds).try_into().expect("two channels")
}
