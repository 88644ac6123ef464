//! Matrices of a file of weights, in memory: each starts at a cache line.

/// Maximum length of a list in a file.
const LONGEST: usize = 24;
/// Number of floats of a cache line.
const LINE: usize = 16;

/// Fault in a file of weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Error {
    /// The file does not begin as a file of weights.
    Magic,
    /// The version is not supported.
    Version,
    /// The checksum is wrong.
    Checksum,
    /// The file is too short or too long.
    Length,
    /// The file is for a network of other sizes, or offsets and lags exceed their bounds.
    Sizes,
    /// A weight or a threshold is not finite.
    Infinite,
}

/// Matrix with a row for each input and a column for each output.
pub type Matrix<const OUT: usize> = &'static [[f32; OUT]];

/// Remaining bytes of a file, whose numbers are little-endian.
pub struct Reader<'a>(pub &'a [u8]);

impl Reader<'_> {
    pub fn u32(&mut self) -> Result<u32, Error> {
        let (bytes, rest) = self.0.split_first_chunk().ok_or(Error::Length)?;
        self.0 = rest;
        Ok(u32::from_le_bytes(*bytes))
    }

    pub fn size(&mut self) -> Result<usize, Error> {
        self.u32().map(|size| size as usize)
    }

    pub fn f32(&mut self) -> Result<f32, Error> {
        let value = f32::from_bits(self.u32()?);
        if value.is_finite() { Ok(value) } else { Err(Error::Infinite) }
    }

    /// Reads a list after its length, and converts each number.
    pub fn list<T>(&mut self, convert: impl Fn(u32) -> T) -> Result<Vec<T>, Error> {
        let length = self.size()?;
        if length > LONGEST {
            return Err(Error::Sizes);
        }
        (0..length).map(|_| self.u32().map(&convert)).collect()
    }
}

#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([f32; LINE]);

/// Reader that lays matrices out in memory, in the order of the file, which is the order of use.
pub struct Matrices<'a> {
    /// Unread weights, the upper halves of `f32`, split by byte: the lower bytes of all weights, then the upper ones.
    bytes: [&'a [u8]; 2],
    free: &'static mut [Line],
}

impl<'a> Matrices<'a> {
    /// Bound of the number of a network's matrices, each of which may leave a cache line partly unused.
    const MOST: usize = 128;

    /// Reads the number of weights; the weights must be the rest of the file.
    pub fn new(mut from: Reader<'a>) -> Result<Self, Error> {
        let count = from.size()?;
        if from.0.len() != 2 * count {
            return Err(Error::Length);
        }
        let bytes = std::array::from_fn(|byte| &from.0[count * byte..count * (byte + 1)]);
        let lines = vec![Line([0.0; LINE]); count / LINE + Self::MOST];
        Ok(Self { bytes, free: lines.leak() })
    }

    /// Whether all weights have been read.
    pub fn is_empty(&self) -> bool {
        self.bytes[0].is_empty()
    }

    fn weight(&mut self) -> Result<f32, Error> {
        let mut value = [0; 4];
        for (byte, from) in value[2..].iter_mut().zip(&mut self.bytes) {
            let (first, rest) = from.split_first().ok_or(Error::Length)?;
            (*byte, *from) = (*first, rest);
        }
        Reader(&value).f32()
    }

    /// Returns memory for `count` weights, from the start of a cache line.
    fn floats(&mut self, count: usize) -> Result<&'static mut [f32], Error> {
        let free = std::mem::take(&mut self.free);
        let (own, free) = free.split_at_mut_checked(count.div_ceil(LINE)).ok_or(Error::Length)?;
        self.free = free;
        // SAFETY: a `Line` is 16 floats without padding (64 bytes, aligned to 64), so `own` has `LINE * own.len()` contiguous
        // floats. Nothing else refers to `own`.
        let floats = unsafe {
            std::slice::from_raw_parts_mut(own.as_mut_ptr().cast::<f32>(), LINE * own.len())
        };
        Ok(&mut floats[..count])
    }

    pub fn matrix<const OUT: usize>(&mut self, rows: usize) -> Result<Matrix<OUT>, Error> {
        let own = self.floats(rows * OUT)?;
        for value in &mut *own {
            *value = self.weight()?;
        }
        Ok(own.as_chunks().0)
    }

    /// Reads `count` matrices and transposes them: one row for each output instead of each input.
    pub fn transposed<const IN: usize, const OUT: usize>(
        &mut self,
        count: usize,
    ) -> Result<&'static [[[f32; IN]; OUT]], Error> {
        let own = self.floats(count * IN * OUT)?.as_chunks_mut().0.as_chunks_mut().0;
        for matrix in &mut *own {
            for input in 0..IN {
                for row in &mut *matrix {
                    row[input] = self.weight()?;
                }
            }
        }
        Ok(own)
    }

    pub fn row<const OUT: usize>(&mut self) -> Result<&'static [f32; OUT], Error> {
        self.matrix(1)?.first().ok_or(Error::Length)
    }

    pub fn block<const OUT: usize, const C: usize>(
        &mut self,
    ) -> Result<&'static [[f32; OUT]; C], Error> {
        self.matrix(C)?.first_chunk().ok_or(Error::Length)
    }
}
