//! Size check of the codebooks in Vorbis files.
//!
//! A decoder unpacks all codebooks of a file at once, so a file of 5 kB could demand 5 GB of memory. This module adds up their
//! sizes first.

use symphonia::core::{
    errors::{Error, Result},
    io::{BitReaderRtl, ReadBitsRtl},
};

/// Magic bytes of the packet with the codebooks.
const SETUP: &[u8; 7] = b"\x05vorbis";

/// Sync pattern at the start of a codebook.
const SYNC: u32 = 0x0056_4342;

/// Maximum number of values in all codebooks of a file together. Files of real encoders have fewer than 100 000.
const MOST: u64 = 1 << 20;

/// Returns an error if the codebooks in `headers` are too large. `headers` is the setup data that the container has for the
/// decoder.
pub fn check(headers: &[u8]) -> Result<()> {
    let setup = headers.windows(SETUP.len()).position(|bytes| bytes == SETUP);
    // Without a setup header, the decoder itself reports the fault.
    let Some(setup) = setup else { return Ok(()) };
    let mut bits = BitReaderRtl::new(&headers[setup + SETUP.len()..]);
    let mut numbers = 0;
    for _ in 0..=bits.read_bits_leq32(8)? {
        numbers += codebook(&mut bits)?;
        if numbers > MOST {
            return Err(Error::LimitError("the size of its codebooks"));
        }
    }
    Ok(())
}

/// Skips a codebook (Vorbis I specification, 3.2.1). Returns how many values it takes in memory.
fn codebook(bits: &mut BitReaderRtl) -> Result<u64> {
    if bits.read_bits_leq32(24)? != SYNC {
        return Err(Error::DecodeError("it has a broken codebook"));
    }
    let dimensions = bits.read_bits_leq32(16)?;
    let entries = bits.read_bits_leq32(24)?;
    if bits.read_bool()? {
        bits.ignore_bits(5)?;
        let mut rest = entries;
        while rest > 0 {
            let same = bits.read_bits_leq32(u32::BITS - rest.leading_zeros())?;
            rest = rest.checked_sub(same).ok_or(Error::DecodeError("it has a broken codebook"))?;
        }
    } else if bits.read_bool()? {
        for _ in 0..entries {
            if bits.read_bool()? {
                bits.ignore_bits(5)?;
            }
        }
    } else {
        bits.ignore_bits(5 * entries)?;
    }
    let numbers = u64::from(entries) * u64::from(dimensions);
    let kind = bits.read_bits_leq32(4)?;
    if kind == 0 {
        return Ok(entries.into());
    }
    bits.ignore_bits(64)?;
    let width = bits.read_bits_leq32(4)? + 1;
    bits.ignore_bits(1)?;
    let stored = if kind == 1 { root(entries, dimensions) } else { numbers };
    if numbers <= MOST {
        bits.ignore_bits(stored as u32 * width)?;
    }
    Ok(numbers + u64::from(entries))
}

/// Returns the largest integer whose `dimensions`-th power is at most `entries` (`lookup1_values` in the specification).
fn root(entries: u32, dimensions: u32) -> u64 {
    let fits = |value: &u64| {
        let mut product = 1u64;
        // A product of 33 factors of 2 exceeds any `entries`.
        (0..dimensions.min(33)).all(|_| {
            product *= value;
            product <= entries.into()
        })
    };
    (1..=u64::from(entries)).take_while(fits).last().unwrap_or(0)
}
