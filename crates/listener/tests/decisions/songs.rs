//! Tests of decisions on four songs against listen.py's. tests/data/make.py has the same generator of songs.

use super::*;

const RATE: usize = 44_100;
const SECONDS: usize = 30;

/// Knuth's linear congruential generator.
struct Random(u64);

impl Random {
    /// Returns the next number from 0 to 1.
    fn next(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as f64 / (1u64 << 31) as f64
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() * n as f64) as usize
    }
}

/// Returns a song of notes that last up to a beat, in chords of one to four; with vibrato in song 1, with noise in song 2,
/// with one voice in song 3.
fn song(number: usize) -> Vec<f32> {
    let mut r = Random(number as u64);
    let mut out = vec![0.0; RATE * SECONDS];
    let beat = [0.5, 0.375, 0.25, 0.25][number];
    for k in 0..(SECONDS as f64 / beat) as usize {
        let root = 33 + r.below(24);
        let notes =
            [root, root + 12 + r.below(5), root + 19 + r.below(12), root + 31 + r.below(12)];
        let at = (k as f64 * beat * RATE as f64) as usize;
        let count = (beat * (0.5 + 0.5 * r.next()) * RATE as f64) as usize;
        let voices = 1 + r.below(if number == 3 { 1 } else { 4 });
        for (n, note) in notes[..voices].iter().enumerate() {
            let (f, wave, decay) = (hertz(*note as f64), (number + n) % 3, 4.0 * r.next());
            let partials = (1..if wave == 0 { 2 } else { 13 })
                .step_by(if wave == 2 { 2 } else { 1 })
                .map(f64::from)
                .filter(|p| p * f < 10_000.0);
            for (t, out) in out[at..at + count].iter_mut().enumerate() {
                let end = ((count - 1 - t) as f64 / RATE as f64 / 0.01).min(1.0);
                let t = t as f64 / RATE as f64;
                let swing =
                    if number == 1 { 0.02 * f / (TAU * 5.5) * (TAU * 5.5 * t).sin() } else { 0.0 };
                let sound: f64 =
                    partials.clone().map(|p| (TAU * p * (f * t + swing)).sin() / p).sum();
                *out += 0.15 * sound * (-decay * t).exp() * end;
            }
        }
    }
    if number == 2 {
        for (k, out) in out.iter_mut().enumerate() {
            let since = k as f64 / RATE as f64 % 0.5;
            *out += (0.003 + 0.2 * (-40.0 * since).exp()) * (2.0 * r.next() - 1.0);
        }
    }
    out.iter().map(|x| *x as f32).collect()
}

/// Returns the decisions of listen.py below the line `head` of its file.
fn decisions(head: &str) -> Vec<[bool; NOTES]> {
    let mut held = vec![[false; NOTES]; RATE * SECONDS / 512];
    let text = include_str!("../data/songs.txt");
    let lines = text.lines().skip_while(|line| *line != head).skip(1);
    for line in lines.take_while(|line| line.as_bytes()[0].is_ascii_digit()) {
        let mut numbers = line.split(' ').map(|n| n.parse::<usize>().expect("they are numbers"));
        let mut next = || numbers.next().expect("there are three");
        let (note, on, off) = (next(), next(), next());
        held[on..off].iter_mut().for_each(|held| held[note - LOWEST_NOTE] = true);
    }
    held
}

#[test]
fn songs_are_decided_like_by_listen_py() {
    let models = [(Model::Full, "full"), (Model::Light, "light")];
    let runs = models.into_iter().flat_map(|model| [(model, false), (model, true)]);
    let cases = runs.flat_map(|run| (0..4).map(move |number| (run, number)));
    for (((model, name), lookahead), number) in tenth(cases) {
        let head = format!("{name} {} {number}", if lookahead { 4 } else { 0 });
        let truth = decisions(&head);
        let heard = heard(model, lookahead, &song(number));
        assert!(heard.len() + 1 >= truth.len());
        let pairs = heard.iter().zip(&truth).flat_map(|(a, b)| a.on.into_iter().zip(*b));
        let unlike = pairs.clone().filter(|(a, b)| a != b).count();
        let lit = pairs.filter(|(a, b)| *a || *b).count();
        println!("{head}: {unlike} of {lit} differ");
        assert!(lit > 1000 && unlike * 1000 <= lit, "{head}: {unlike} of {lit} differ");
    }
}
