//! Long test sweeps: a random part of the cases in `cargo xtask test`, all cases in `cargo xtask verify`.

use crate::Draws;
use std::time::{SystemTime, UNIX_EPOCH};

/// Returns a random tenth of `cases`, as [`part`] does.
pub fn tenth<T>(cases: impl IntoIterator<Item = T>) -> Vec<T> {
    part(10, cases)
}

/// Returns a random part of `cases` in their order. Of N cases, it has N / `one_in`, rounded up.
///
/// The environment variable `TONE_FILTER_SWEEP` changes the draw: `all` returns all cases, and a printed seed repeats an
/// earlier draw.
pub fn part<T>(one_in: usize, cases: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut cases: Vec<_> = cases.into_iter().collect();
    let Some(seed) = seed() else { return cases };
    let mut draws = Draws::seeded(seed);
    let count = cases.len().div_ceil(one_in);
    println!("{count} of {} cases; TONE_FILTER_SWEEP={seed} draws them again", cases.len());
    // Selection sampling (Knuth, The Art of Computer Programming, volume 2, algorithm 3.4.2 S).
    let (mut remaining, mut wanted) = (cases.len(), count);
    cases.retain(|_| {
        let drawn = draws.below(remaining) < wanted;
        remaining -= 1;
        wanted -= usize::from(drawn);
        drawn
    });
    cases
}

/// Returns whether sweeps run all of their cases.
pub fn all() -> bool {
    seed().is_none()
}

/// Returns the seed of the draw; `None` to run all cases.
fn seed() -> Option<u64> {
    match std::env::var("TONE_FILTER_SWEEP") {
        Ok(all) if all == "all" => None,
        Ok(seed) => Some(seed.parse().expect("TONE_FILTER_SWEEP is `all` or a number")),
        Err(_) => {
            let since = SystemTime::now().duration_since(UNIX_EPOCH);
            Some(since.map_or(0, |time| u64::from(time.subsec_nanos())))
        }
    }
}
