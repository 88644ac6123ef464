//! Musical time of a file: ticks, tempi, bars.

use tone_filter_dsp::{DEFAULT_TEMPO, FoundKey, NoteValue, Scale, listener::beats::Beats};

/// Ticks per quarter note.
pub const TICKS: u16 = 480;
/// Maximum distance of a beat from the tempo map in seconds.
const TOLERANCE: f64 = 0.012;
/// Largest fraction of a beat at the start of the sound that gets no beat of its own. The beats before the first detected one
/// are longer instead.
const LONGEST_REMAINDER: f64 = 0.15;
/// Minimum length of a beat in seconds, so that all tempi can be written to MIDI.
const SHORTEST: f64 = 0.02;

/// Tempo map of a file. The tempo is constant between two anchors.
#[derive(Debug, Clone, PartialEq)]
pub struct Timeline {
    /// Pairs of tick and time in seconds, at least two. The first is tick 0.
    anchors: Vec<(f64, f64)>,
    /// Changes of meter: tick, quarter notes per bar.
    pub meters: Vec<(u32, u8)>,
    /// Tempo in beats per minute: the constant one, or the median of the beats ([`Beats::tempo`]).
    pub tempo: f64,
}

impl Timeline {
    /// Creates the timeline of a constant `tempo` in beats per minute, without bars.
    pub fn fixed(tempo: f64) -> Self {
        let beat = 60.0 / tempo;
        Self { anchors: vec![(0.0, 0.0), (f64::from(TICKS), beat)], meters: Vec::new(), tempo }
    }

    /// Creates the timeline of `beats`, which are quarter notes. `None` with fewer than two beats.
    ///
    /// Tick 0 is the start of the sound and of a bar, which may be a pickup. The tempo changes only where a constant tempo would
    /// move ticks by more than 12 ms from their beats.
    pub fn of(beats: &Beats) -> Option<Self> {
        let (tempo, beats) = (beats.tempo()?, &beats.beats);
        let [first, second, ..] = &beats[..] else { return None };
        // Number of beats between the start of the sound and the first detected beat.
        let (length, meter) = (second.time - first.time, usize::from(first.meter));
        let early = (first.time / length - LONGEST_REMAINDER).ceil().max(0.0) as usize;
        let tick = |index: usize| ((early + index) * usize::from(TICKS)) as f64;
        let mut points = vec![(0.0, 0.0)];
        let times = beats.iter().enumerate().skip(usize::from(early == 0));
        points.extend(times.map(|(index, beat)| (tick(index), beat.time)));
        points.dedup_by(|next, last| next.1 - last.1 < SHORTEST);

        let mut meters = Vec::new();
        let downbeats: Vec<usize> =
            (0..beats.len()).filter(|index| beats[*index].place == 0).collect();
        // The beats before the first bar make a shortened bar, and then whole bars.
        let pickup = early + downbeats.first().copied().unwrap_or(beats.len());
        let shortened = pickup % meter;
        if shortened > 0 {
            meters.push((0, shortened as u8));
        }
        if pickup > shortened {
            meters.push(((shortened * usize::from(TICKS)) as u32, first.meter));
        }
        for (n, index) in downbeats.iter().enumerate() {
            let length = match downbeats.get(n + 1) {
                Some(next) => (next - index) as u8,
                None => beats[*index].meter,
            };
            meters.push((tick(*index) as u32, length));
        }
        meters.dedup_by_key(|(_, meter)| *meter);
        Some(Self { anchors: straighten(&points), meters, tempo })
    }

    /// Converts a time in seconds to ticks, at least 0.
    pub fn tick(&self, seconds: f64) -> f64 {
        let [(tick, time), (next_tick, next_time)] = self.around(|(_, time)| *time <= seconds);
        let fraction = (seconds - time) / (next_time - time);
        (tick + fraction * (next_tick - tick)).max(0.0)
    }

    /// Converts a tick to a time in seconds.
    pub fn seconds(&self, tick: f64) -> f64 {
        let [(last_tick, time), (next_tick, next_time)] =
            self.around(|(anchor, _)| *anchor <= tick);
        time + (tick - last_tick) / (next_tick - last_tick) * (next_time - time)
    }

    /// Returns the last anchor that has passed and the next one; beyond the ends, the nearest two.
    fn around(&self, has_passed: impl FnMut(&(f64, f64)) -> bool) -> [(f64, f64); 2] {
        let next = self.anchors.partition_point(has_passed).clamp(1, self.anchors.len() - 1);
        [self.anchors[next - 1], self.anchors[next]]
    }

    /// Returns the changes of tempo: tick, length of a quarter note in microseconds.
    pub fn tempi(&self) -> impl Iterator<Item = (u32, u32)> {
        self.anchors.windows(2).map(|pair| {
            let quarters = (pair[1].0 - pair[0].0) / f64::from(TICKS);
            let length = 1e6 * (pair[1].1 - pair[0].1) / quarters;
            (pair[0].0 as u32, length.round() as u32)
        })
    }
}

/// Simplifies a polyline greedily. All `points` stay within [`TOLERANCE`] of the lines.
fn straighten(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let is_line = |from: usize, to: usize| {
        let [(x0, y0), (x1, y1)] = [points[from], points[to]];
        let error = |(x, y): &(f64, f64)| (y0 + (x - x0) / (x1 - x0) * (y1 - y0) - y).abs();
        points[from..to].iter().all(|point| error(point) <= TOLERANCE)
    };
    let (mut kept, mut from) = (vec![points[0]], 0);
    while from + 1 < points.len() {
        let to = (from + 1..points.len()).rev().find(|to| is_line(from, *to)).unwrap_or(from + 1);
        kept.push(points[to]);
        from = to;
    }
    kept
}

/// Musical time and key of a MIDI file.
#[derive(Debug, Clone, PartialEq)]
pub struct Layout {
    /// Tempi and bars.
    pub timeline: Timeline,
    /// Key for the key signature; `None` writes none.
    pub key: Option<FoundKey>,
    /// Grid for quantisation; `None` keeps the played times.
    pub grid: Option<Grid>,
}

impl Layout {
    /// Creates a layout with a constant `tempo` in beats per minute if given, otherwise from `beats`, otherwise with 120 beats
    /// per minute.
    ///
    /// Only a layout from `beats` has bars and the `key`, and the key only if it [is certain](FoundKey::is_certain).
    pub fn new(tempo: Option<f64>, beats: Option<&Beats>, key: Option<FoundKey>) -> Self {
        match (tempo, beats.and_then(Timeline::of)) {
            (None, Some(timeline)) => {
                Self { timeline, key: key.filter(FoundKey::is_certain), grid: None }
            }
            (tempo, _) => Self::fixed(tempo.unwrap_or(DEFAULT_TEMPO)),
        }
    }

    /// Creates a layout with a constant `tempo` in beats per minute, without bars and key.
    pub fn fixed(tempo: f64) -> Self {
        Self { timeline: Timeline::fixed(tempo), key: None, grid: None }
    }
}

/// Grid for quantising the starts of notes.
#[derive(Debug, Clone, PartialEq)]
pub struct Grid {
    /// Step sizes. A note moves to the nearest multiple of any of them.
    pub steps: Vec<NoteValue>,
    /// Fraction of the distance to the grid that a note moves, 0..=1.
    pub strength: f64,
}

impl Grid {
    /// Moves `tick` towards the grid.
    pub fn quantize(&self, tick: f64) -> f64 {
        let nearest = |step: &NoteValue| {
            let length = step.beats()? * f64::from(TICKS);
            Some((tick / length).round() * length - tick)
        };
        let moves = self.steps.iter().filter_map(nearest);
        let shortest = moves.min_by(|a, b| a.abs().total_cmp(&b.abs()));
        tick + self.strength * shortest.unwrap_or(0.0)
    }
}

/// Returns the key signature: number of sharps (negative: flats), and whether the key is minor.
pub fn signature(key: &FoundKey) -> (i8, bool) {
    let minor = key.scale != Scale::Major;
    // Root of the relative major key, in semitones above C.
    let c = key.root.index() + PITCH_OF_FIRST + if minor { 3 } else { 0 };
    // Each fifth up (7 semitones) adds a sharp. The range is -5 to 6.
    let fifths = (7 * c + 5) % 12;
    (fifths as i8 - 5, minor)
}

/// Semitones from C to the first [`PitchClass`], A.
const PITCH_OF_FIRST: usize = 9;

#[cfg(test)]
mod tests {
    use super::*;
    use tone_filter_dsp::{PitchClass, listener::beats::Beat};

    fn beats(times: impl Iterator<Item = (f64, u8, u8)>) -> Beats {
        let beats = times.map(|(time, place, meter)| Beat { time, place, meter }).collect();
        Beats { beats, certainty: 1.0 }
    }

    /// Returns 20 beats of `length` seconds from `start` on. The first is at position `place` of a bar of `meter`.
    fn steady(start: f64, length: f64, place: u8, meter: u8) -> Beats {
        beats((0..20).map(|n| (start + length * f64::from(n), (place + n) % meter, meter)))
    }

    #[test]
    fn a_steady_song_has_one_tempo_and_starts_with_a_bar() {
        let line = Timeline::of(&steady(0.0, 0.5, 0, 4)).unwrap();
        assert_eq!(line.tempi().collect::<Vec<_>>(), [(0, 500_000)]);
        assert_eq!(line.meters, [(0, 4)]);
        assert_eq!(line.tempo, 120.0);
        assert!((line.tick(3.25) - 6.5 * 480.0).abs() < 1e-6);
        assert!((line.tick(1000.0) - 2000.0 * 480.0).abs() < 1e-3, "beyond the last beat");
        assert_eq!(line.tick(-1.0), 0.0);
    }

    #[test]
    fn a_bar_starts_before_a_pickup() {
        // The first beat, at 0.2 s, is the third of three. The start of the sound counts as the second.
        let line = Timeline::of(&steady(0.2, 0.5, 2, 3)).unwrap();
        assert_eq!(line.meters, [(0, 2), (960, 3)]);
        assert_eq!(line.tempi().next(), Some((0, 200_000)));
        assert!((line.tick(0.2) - 480.0).abs() < 1e-6);
        assert!((line.tick(0.7) - 960.0).abs() < 1e-6);
        // Silence of 3.1 beats before the first bar becomes three beats.
        let line = Timeline::of(&steady(1.55, 0.5, 0, 4)).unwrap();
        assert!((line.tick(1.55) - 1440.0).abs() < 1e-6);
        assert_eq!(line.meters, [(0, 3), (1440, 4)]);
        // A bar that starts just after the sound is moved to the start of the sound.
        let line = Timeline::of(&steady(0.05, 0.5, 0, 4)).unwrap();
        assert_eq!((line.tick(0.0), &line.meters[..]), (0.0, &[(0, 4)][..]));
        assert!((line.tick(0.55) - 480.0).abs() < 1e-6);
    }

    #[test]
    fn ticks_stay_near_the_beats_and_convert_back_to_seconds() {
        let (mut time, mut times) = (0.0, Vec::new());
        for n in 0..60 {
            times.push(time);
            time += 0.5 * (1.0 + f64::from(n) / 120.0);
        }
        let song = beats(times.iter().enumerate().map(|(n, time)| (*time, n as u8 % 4, 4)));
        let line = Timeline::of(&song).unwrap();
        let beat = |n: usize| times[n + 1] - times[n];
        for (n, time) in times.iter().enumerate().take(59) {
            let far = (line.tick(*time) / 480.0 - n as f64).abs() * beat(n);
            assert!(far <= 1.5 * TOLERANCE, "beat {n}: {far} s");
        }
        let tempi = line.tempi().count();
        assert!((2..20).contains(&tempi), "{tempi}");
        for seconds in times.into_iter().chain([0.3, 13.0, 100.0]) {
            assert!((line.seconds(line.tick(seconds)) - seconds).abs() < 1e-9, "{seconds}");
        }
    }

    #[test]
    fn a_shortened_bar_has_its_own_meter() {
        let places = [0, 1, 2, 3, 0, 1, 0, 1, 2, 3, 0, 1, 2, 3];
        let song = beats((0..).zip(places).map(|(n, place)| (0.5 * f64::from(n), place, 4)));
        let line = Timeline::of(&song).unwrap();
        assert_eq!(line.meters, [(0, 4), (4 * 480, 2), (6 * 480, 4)]);
    }

    #[test]
    fn quantising_moves_towards_the_nearest_step() {
        for (steps, strength, ticks) in [
            (&["1/16"][..], 1.0, &[(0.0, 0.0), (59.0, 0.0), (61.0, 120.0), (130.0, 120.0)][..]),
            (&["1/16", "1/8t"], 1.0, &[(150.0, 160.0), (130.0, 120.0)]),
            (&["1/16"], 0.5, &[(130.0, 125.0)]),
        ] {
            let steps = steps.iter().map(|id| NoteValue::try_from((*id).to_owned()).unwrap());
            let grid = Grid { steps: steps.collect(), strength };
            ticks.iter().for_each(|(tick, expected)| assert_eq!(grid.quantize(*tick), *expected));
        }
    }

    #[test]
    fn keys_have_the_signatures_of_the_circle_of_fifths() {
        for (root, scale, expected) in [
            ("C", Scale::Major, (0, false)),
            ("D", Scale::Major, (2, false)),
            ("F", Scale::Major, (-1, false)),
            ("A", Scale::NaturalMinor, (0, true)),
            ("E", Scale::HarmonicMinor, (1, true)),
            ("C", Scale::NaturalMinor, (-3, true)),
        ] {
            let root = (0..12).map(PitchClass::new).find(|class| class.name() == root).unwrap();
            let key = FoundKey { root, scale, certainty: 1.0 };
            assert_eq!(signature(&key), expected, "{key:?}");
        }
    }
}
