//! Patterns: likelihood of onsets of each strength at each place in a beat.
//!
//! `tools/fit/beats.py` counts onsets in scores and writes the file: a signed byte for each pattern (beats in halves and
//! quarters; beats in thirds), type of beat (strong, weak), kind of onset, place and class of strength, in this order. A byte is
//! the logarithm of a ratio, in units of 1 / [`UNIT`]: the frequency of the class at this place to its frequency at all places.

use super::UNIT;
use std::sync::LazyLock;

/// Number of patterns: straight beats (halves and quarters) and triplets (thirds).
pub const PATTERNS: usize = 2;
/// Number of types of beats: strong (first and third of four) and weak.
pub const TYPES: usize = 2;
/// Number of kinds of onsets; see [`super::onsets::Strengths`].
pub const KINDS: usize = 5;
/// Number of places in a beat; the first one is centred on the beat.
pub const PLACES: usize = 24;
/// Number of classes of strength; class 0 is the weakest.
pub const CLASSES: usize = 5;

/// Log likelihoods at all places in a beat, for each pattern and type.
pub type Row = [[[f32; PLACES]; TYPES]; PATTERNS];

/// Class of strength of each kind of onset.
pub type Classes = [u8; KINDS];

const FILE: &[u8; PATTERNS * TYPES * KINDS * PLACES * CLASSES] =
    include_bytes!("../../weights/beats.bin");

/// Log likelihoods by kind of onset and class of strength.
static TABLE: LazyLock<Box<[[Row; CLASSES]; KINDS]>> = LazyLock::new(|| {
    let mut table = Box::new([[[[[0.0; PLACES]; TYPES]; PATTERNS]; CLASSES]; KINDS]);
    for (index, byte) in FILE.iter().enumerate() {
        let (class, place) = (index % CLASSES, index / CLASSES % PLACES);
        let (kind, layer) =
            (index / (CLASSES * PLACES) % KINDS, index / (CLASSES * PLACES * KINDS));
        let value = f32::from(byte.cast_signed()) / UNIT;
        table[kind][class][layer / TYPES][layer % TYPES][place] = value;
    }
    table
});

/// Reads the file, so that later calls of [`table_row`] do not allocate.
pub fn load() {
    LazyLock::force(&TABLE);
}

/// Returns the log likelihoods of a frame's onsets, summed over their kinds.
pub fn table_row(classes: Classes) -> Row {
    let mut row = [[[0.0; PLACES]; TYPES]; PATTERNS];
    for (kind, class) in classes.into_iter().enumerate() {
        let own = TABLE[kind][usize::from(class)].as_flattened().as_flattened();
        let sums = row.as_flattened_mut().as_flattened_mut();
        sums.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
    }
    row
}
