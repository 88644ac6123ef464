//! The fitted weights: a binary file for each network, checked and laid out in memory once, for all listeners.
//!
//! `tools/fit/export.py` writes the files and describes them.

use crate::{
    NOTES,
    detectors::{BANKS, DETECTORS},
    features::{FEATURES, FRAMES, MARGIN as FEATURE_MARGIN},
    matrices::{Error, Matrices, Matrix, Reader},
};
use std::sync::LazyLock;

/// Number of log odds for each note: held now, held before (with lookahead), begun, begun before.
pub const COLUMNS: usize = 4;

const MAGIC: &[u8; 8] = b"TFLISTEN";
const VERSION: u32 = 3;

/// Parts of the notes' range that have weights of their own.
pub const ZONES: usize = 3;
/// First notes of the zones but the lowest: MIDI 48 and 73.
pub const NOTES_FROM: [usize; ZONES - 1] = [20, 45];
/// First detectors of the zones but the lowest: MIDI 44 and 74.
pub const DETECTORS_FROM: [usize; ZONES - 1] = [20, 50];

/// Weights of the network `full`, which `docs/listening.md` describes.
pub static FULL: LazyLock<Weights<16, 32>> =
    LazyLock::new(|| fitted(include_bytes!("../weights/full.bin")));
/// Weights of the network `light`.
pub static LIGHT: LazyLock<Weights<8, 16>> =
    LazyLock::new(|| fitted(include_bytes!("../weights/light.bin")));

/// Parses a file that is part of the program. Tests parse all these files.
fn fitted<const C1: usize, const C: usize>(file: &[u8]) -> Weights<C1, C> {
    Weights::parse(file).expect("the tests parse the files that are included")
}

/// Weights of a network with `C1` units for each detector, and `C` for each note and for the global GRU.
#[derive(Debug)]
pub struct Weights<const C1: usize, const C: usize> {
    /// From the features of some frames to the units of the detectors.
    pub near: Near<C1>,
    /// From the detectors' units to the notes' units.
    pub harmonic: Layer<C>,
    /// Bias of the inputs of the global GRU.
    pub global_in_bias: &'static [f32; C],
    /// From the mean and the maximum of the notes' units to the inputs of the global GRU.
    pub global_in: [&'static [[f32; C]; C]; 2],
    pub global: Cell<C>,
    /// From the global GRU to the inputs of every note's second GRU.
    pub global_mix: &'static [[f32; C]; C],
    /// From the global GRU to the log odds of every note.
    pub global_out: &'static [[f32; COLUMNS]; C],
    pub first: [Cell<C>; ZONES],
    /// From the first GRUs to the inputs of the second ones.
    pub mix: Layer<C>,
    /// From the notes' units to the inputs of the second GRUs.
    pub skip: [&'static [[f32; C]; C]; ZONES],
    pub second: [Cell<C>; ZONES],
    /// From the second GRUs and their inputs to the log odds.
    pub head: Head<C>,
    /// Thresholds without and with lookahead.
    pub thresholds: [Thresholds; 2],
}

/// Returns the zone of a note or a detector, counted from 0, by the first ones of all zones but the lowest.
pub fn zone(starts: [usize; ZONES - 1], index: usize) -> usize {
    starts.iter().filter(|first| index >= **first).count()
}

/// Layer with the same weights at every position of a zone.
#[derive(Debug)]
pub struct Layer<const OUT: usize> {
    /// Offsets in semitones from an output's position to an input's.
    pub offsets: Vec<isize>,
    /// Bias of each position.
    pub bias: Matrix<OUT>,
    /// Matrix for each offset, one below the other, with a row for each input.
    pub weights: [Matrix<OUT>; ZONES],
}

/// First layer: from the features of nearby semitones and recent frames.
#[derive(Debug)]
pub struct Near<const OUT: usize> {
    /// Offset and lag of each matrix: the offset as in a [`Layer`], the lag in frames. The lags of an offset follow each other.
    pub terms: Vec<(isize, usize)>,
    pub bias: Matrix<OUT>,
    pub weights: [&'static [[[f32; OUT]; FEATURES]]; ZONES],
}

/// Layer of the log odds.
#[derive(Debug)]
pub struct Head<const C: usize> {
    /// Offsets as in a [`Layer`].
    pub offsets: Vec<isize>,
    pub bias: Matrix<COLUMNS>,
    /// Matrix for each offset, with a row for each output.
    pub weights: [&'static [[[f32; C]; COLUMNS]]; ZONES],
    /// Weights of the second GRU's inputs at the same position.
    pub direct: [&'static [[f32; C]; COLUMNS]; ZONES],
}

/// Gated recurrent unit (GRU).
#[derive(Debug)]
pub struct Cell<const C: usize> {
    pub reset: Gate<C>,
    pub update: Gate<C>,
    pub candidate: Gate<C>,
    /// Bias of the candidate's product with the hidden state.
    pub hidden_bias: &'static [f32; C],
}

#[derive(Debug)]
pub struct Gate<const C: usize> {
    pub bias: &'static [f32; C],
    pub input: &'static [[f32; C]; C],
    pub hidden: &'static [[f32; C]; C],
}

/// Thresholds of the log odds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Thresholds {
    /// A note goes on above this.
    pub on: f32,
    /// A note goes off at `on` less this.
    pub hysteresis: f32,
    /// A note begins above this.
    pub begun: f32,
}

impl<const C1: usize, const C: usize> Weights<C1, C> {
    /// Parses a file of weights. Its matrices are never freed.
    ///
    /// # Errors
    /// If the file is damaged or for another network.
    pub fn parse(file: &[u8]) -> Result<Self, Error> {
        let mut header = Reader(file.strip_prefix(MAGIC).ok_or(Error::Magic)?);
        if header.u32()? != VERSION {
            return Err(Error::Version);
        }
        if header.u32()? != adler32(header.0) {
            return Err(Error::Checksum);
        }
        for size in [BANKS, FEATURES / BANKS, C1, C] {
            if header.size()? != size {
                return Err(Error::Sizes);
            }
        }
        let lags: Vec<usize> = header.list(|lag| lag as usize)?;
        let mut offsets = || header.list(|offset| offset as i32 as isize);
        let [near, harmonic, mix, head] = [offsets()?, offsets()?, offsets()?, offsets()?];
        if [&near, &harmonic, &mix, &head].iter().any(|offsets| offsets.is_empty())
            || near.iter().any(|offset| offset.unsigned_abs() > FEATURE_MARGIN)
            || lags.is_empty()
            || lags.iter().any(|lag| *lag >= FRAMES)
        {
            return Err(Error::Sizes);
        }
        let mut thresholds = || {
            let [on, hysteresis, begun] = [header.f32()?, header.f32()?, header.f32()?];
            Ok(Thresholds { on, hysteresis, begun })
        };
        let thresholds = [thresholds()?, thresholds()?];

        let mut m = Matrices::new(header)?;
        let terms = near.iter().flat_map(|offset| lags.iter().map(|lag| (*offset, *lag)));
        let weights = Self {
            near: m.near(terms.collect())?,
            harmonic: m.layer(harmonic, C1)?,
            global_in_bias: m.row()?,
            global_in: [m.block()?, m.block()?],
            global: m.cell()?,
            global_mix: m.block()?,
            global_out: m.block()?,
            first: zones(|| m.cell())?,
            mix: m.layer(mix, C)?,
            skip: zones(|| m.block())?,
            second: zones(|| m.cell())?,
            head: m.head(head)?,
            thresholds,
        };
        if m.is_empty() { Ok(weights) } else { Err(Error::Length) }
    }
}

impl Matrices<'_> {
    fn near<const OUT: usize>(&mut self, terms: Vec<(isize, usize)>) -> Result<Near<OUT>, Error> {
        let bias = self.matrix(DETECTORS)?;
        let weights = zones(|| Ok(self.matrix(terms.len() * FEATURES)?.as_chunks().0))?;
        Ok(Near { terms, bias, weights })
    }

    /// Reads a layer with a matrix of `depth` rows for each offset.
    fn layer<const OUT: usize>(
        &mut self,
        offsets: Vec<isize>,
        depth: usize,
    ) -> Result<Layer<OUT>, Error> {
        let bias = self.matrix(NOTES)?;
        let weights = zones(|| self.matrix(offsets.len() * depth))?;
        Ok(Layer { offsets, bias, weights })
    }

    fn head<const C: usize>(&mut self, offsets: Vec<isize>) -> Result<Head<C>, Error> {
        let bias = self.matrix(NOTES)?;
        let weights = zones(|| self.transposed(offsets.len()))?;
        let direct = zones(|| self.transposed(1)?.first().ok_or(Error::Length))?;
        Ok(Head { offsets, bias, weights, direct })
    }

    fn gate<const C: usize>(&mut self) -> Result<Gate<C>, Error> {
        Ok(Gate { bias: self.row()?, input: self.block()?, hidden: self.block()? })
    }

    fn cell<const C: usize>(&mut self) -> Result<Cell<C>, Error> {
        let [reset, update] = [self.gate()?, self.gate()?];
        let (bias, input) = (self.row()?, self.block()?);
        let hidden_bias = self.row()?;
        let candidate = Gate { bias, input, hidden: self.block()? };
        Ok(Cell { reset, update, candidate, hidden_bias })
    }
}

/// Reads the weights of each zone.
fn zones<T>(mut read: impl FnMut() -> Result<T, Error>) -> Result<[T; ZONES], Error> {
    Ok([read()?, read()?, read()?])
}

/// Returns the checksum Adler-32 of RFC 1950.
fn adler32(bytes: &[u8]) -> u32 {
    const MODULUS: u32 = 65_521;
    let [mut a, mut b] = [1, 0];
    for byte in bytes {
        a = (a + u32::from(*byte)) % MODULUS;
        b = (b + a) % MODULUS;
    }
    b << 16 | a
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &[u8] = include_bytes!("../weights/light.bin");

    /// Returns the error for the file after a change and with a new checksum.
    fn error(change: impl Fn(&mut Vec<u8>)) -> Option<Error> {
        let mut file = FILE.to_vec();
        change(&mut file);
        let sum = adler32(&file[16..]);
        file[12..16].copy_from_slice(&sum.to_le_bytes());
        Weights::<8, 16>::parse(&file).err()
    }

    #[test]
    fn the_files_of_the_program_are_right() {
        assert!(Weights::<16, 32>::parse(include_bytes!("../weights/full.bin")).is_ok());
        assert!(Weights::<8, 16>::parse(FILE).is_ok());
        assert!(error(|_| ()).is_none());
        let bytes = FILE.len() + include_bytes!("../weights/full.bin").len();
        assert!(bytes <= 350_000, "{bytes}");
        assert_eq!(LIGHT.thresholds[0], Thresholds { on: 0.0, hysteresis: 0.4, begun: 0.0 });
        assert_eq!(LIGHT.near.terms[..4], [(-2, 0), (-2, 1), (-2, 3), (-1, 0)]);
        assert_eq!(FULL.near.terms[16..], [(2, 0), (2, 1), (2, 3), (2, 7)]);
        for matrix in [FULL.near.weights[1].as_ptr().addr(), LIGHT.near.weights[1].as_ptr().addr()]
        {
            assert!(matrix.is_multiple_of(64));
        }
    }

    #[test]
    fn damage_is_found() {
        let parse = |file: &[u8]| Weights::<8, 16>::parse(file).err();
        assert_eq!(parse(b""), Some(Error::Magic));
        assert_eq!(parse(&FILE[..20]), Some(Error::Checksum));
        let mut flipped = FILE.to_vec();
        flipped[40_000] ^= 1;
        assert_eq!(parse(&flipped), Some(Error::Checksum));
        assert_eq!(error(|file| file[8] = 1), Some(Error::Version));
        assert_eq!(error(|file| file.truncate(200)), Some(Error::Length));
        assert_eq!(error(|file| file.extend([0; 4])), Some(Error::Length));
        // Adds a weight. The file ends with the number of weights and two planes of bytes.
        let more = |file: &mut Vec<u8>| {
            let count = |at: usize| u32::from_le_bytes(*file[at..].first_chunk().unwrap()) as usize;
            let at = (16..).step_by(4).find(|at| at + 4 + 2 * count(*at) == file.len()).unwrap();
            let weights = count(at);
            file[at..at + 4].copy_from_slice(&(weights as u32 + 1).to_le_bytes());
            (1..=2).rev().for_each(|planes| file.insert(at + 4 + planes * weights, 0));
        };
        assert_eq!(error(more), Some(Error::Length));
        assert_eq!(Weights::<16, 32>::parse(FILE).err(), Some(Error::Sizes));
        // Three lags start at byte 36, the offsets of `near` at byte 52.
        assert_eq!(error(|file| file[36] = 8), Some(Error::Sizes));
        assert_eq!(error(|file| file[52] = 3), Some(Error::Sizes));
        assert_eq!(error(|file| file[48] = 100), Some(Error::Sizes));
        // The second half of the file is the upper bytes of all weights.
        let infinite = |file: &mut Vec<u8>| file[FILE.len() / 2..].fill(0xff);
        assert_eq!(error(infinite), Some(Error::Infinite));
    }

    #[test]
    fn the_checksum_is_that_of_rfc_1950() {
        assert_eq!(adler32(b"Wikipedia"), 0x11e6_0398);
    }
}
