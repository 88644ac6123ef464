//! Random bits for dither, measurements and tests.

/// Advances `state`, which must not be 0, and returns 64 random bits: xorshift64* by Vigna.
pub fn xorshift(state: &mut u64) -> u64 {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    state.wrapping_mul(0x2545_F491_4F6C_DD1D)
}
