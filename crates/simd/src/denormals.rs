//! Denormal numbers off, for as long as a block is processed.
//!
//! The output of a resonator decays towards zero and never reaches it, and on most CPUs arithmetic on numbers below 1e-38
//! is a hundred times slower. Such small numbers are inaudible.

/// While this value lives, this thread's float arithmetic flushes denormals to zero; then the
/// thread's former mode is restored.
pub struct FlushToZero {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    before: ControlWord,
}

/// Whether this CPU can. WebAssembly has no such mode.
pub const FLUSHES: bool = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));

#[cfg(target_arch = "x86_64")]
type ControlWord = u32;
#[cfg(target_arch = "aarch64")]
type ControlWord = u64;

#[cfg(target_arch = "x86_64")]
mod control {
    use std::arch::asm;

    /// MXCSR's flush-to-zero and denormals-are-zero bits.
    pub const FLUSH: u32 = 1 << 15 | 1 << 6;

    pub fn get() -> u32 {
        let mut word = 0u32;
        // SAFETY: SSE is part of x86-64; the instruction writes four bytes to a local.
        unsafe { asm!("stmxcsr [{}]", in(reg) &mut word, options(nostack, preserves_flags)) };
        word
    }

    pub fn set(word: u32) {
        // SAFETY: SSE is part of x86-64; `word` is one that `get` returned, with rounding and exception
        // masks as they were, so only how denormals are treated changes.
        unsafe { asm!("ldmxcsr [{}]", in(reg) &word, options(nostack, readonly, preserves_flags)) };
    }
}

#[cfg(target_arch = "aarch64")]
mod control {
    use std::arch::asm;

    /// FPCR's flush-to-zero bit.
    pub const FLUSH: u64 = 1 << 24;

    pub fn get() -> u64 {
        let word: u64;
        // SAFETY: reads a register that every thread may read.
        unsafe { asm!("mrs {}, fpcr", out(reg) word, options(nomem, nostack, preserves_flags)) };
        word
    }

    pub fn set(word: u64) {
        // SAFETY: `word` is one that `get` returned, with rounding mode and traps as they were, so only
        // how denormals are treated changes.
        unsafe { asm!("msr fpcr, {}", in(reg) word, options(nomem, nostack, preserves_flags)) };
    }
}

impl FlushToZero {
    /// Switches denormals off.
    #[expect(clippy::new_without_default, reason = "it is not a value but a mode of the thread")]
    #[must_use = "denormals are back on when this is dropped"]
    pub fn new() -> Self {
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        {
            let before = control::get();
            control::set(before | control::FLUSH);
            Self { before }
        }
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        Self {}
    }
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
impl Drop for FlushToZero {
    fn drop(&mut self) {
        control::set(self.before);
    }
}

#[cfg(all(test, any(target_arch = "x86_64", target_arch = "aarch64")))]
mod tests {
    use super::*;
    use std::hint::black_box;

    #[test]
    fn denormals_are_zero_inside_and_back_outside() {
        let halve = || black_box(f32::MIN_POSITIVE) * black_box(0.5);
        let outside = halve();
        assert!(outside > 0.0);
        {
            let _guard = FlushToZero::new();
            assert_eq!(halve(), 0.0);
        }
        assert_eq!(halve(), outside);
    }
}
