//! Switches denormal numbers off while a block is processed.
//!
//! The output of a resonator decays towards zero and never reaches it, and most CPUs are a hundred times slower with numbers
//! below 1e-38. Such small numbers are inaudible. [`with_flush_to_zero`] switches the CPU to a mode in which they are zero, as
//! JUCE, nih-plug and most hosts do. Clamping in every loop instead would take longer and change the last bits of the sound
//! (docs/performance.md).
//!
//! # Whether Rust allows this
//!
//! Not officially: Rust and LLVM assume the default mode, and the documentation of `core::arch::x86_64::_mm_setcsr` calls it
//! undefined behaviour to run code in another mode. There is no way yet to declare such a mode to the compiler. The mode is
//! harmless here, for these reasons:
//!
//! **Proven**: each floating-point operation runs in the mode that its place in the source asks for.
//! * The instruction that sets the mode is an assembler block that gets the address of the pointer to the work. By the rules of
//!   `asm!`, the block may change this pointer, so the compiler does not know before the block which function will be called. No
//!   part of the work can run earlier.
//! * The called function is unknown to the compiler, so it may do anything, and the block that restores the mode may read and
//!   write memory. So the call and this block keep their order. No part of the work can run later.
//! * The function that holds both blocks computes with no floats and is not inlined: LLVM keeps to `noinline`. No surrounding
//!   code can run between the blocks.
//! * The blocks change only the two bits for denormals. Rounding, traps and the flags of exceptions stay as they are. A panic
//!   restores the mode, too.
//!
//! **Resting on LLVM**: within the work, LLVM may compute constants at compile time and simplify expressions as if denormals
//! existed. Each of these steps is right for all numbers but denormals, so a result is wrong by less than 1.2e-38, or a
//! comparison takes a denormal for zero or the reverse. A 24-bit file cannot hold such a difference. A denormal could cause an
//! invalid memory access only if it decided on an index or on the end of a loop. No code of this workspace does that: loops
//! over samples count integers, and a float becomes an index only after it has been limited to a range between normal numbers,
//! which compare with denormals as with zero. The two unsafe blocks that such code calls (`approx::truncated`, `Table::read`)
//! do not depend on denormals either. The caller's own code in the work, like a callback, should follow the same rule.

/// Whether [`with_flush_to_zero`] has an effect on this CPU; false in WebAssembly.
pub const FLUSHES: bool = control::FLUSH != 0;

/// Calls `work` once. Meanwhile, this thread's float arithmetic flushes denormals to zero. Restores the previous mode at the end,
/// also if `work` panics. Does not allocate or lock.
///
/// ```
/// use std::hint::black_box;
/// use tone_filter_simd::denormals::{FLUSHES, with_flush_to_zero};
///
/// let (least, mut half) = (black_box(f32::MIN_POSITIVE), 1.0);
/// with_flush_to_zero(&mut || half = 0.5 * least);
/// assert_eq!(half == 0.0, FLUSHES);
/// ```
#[inline(never)]
pub fn with_flush_to_zero(mut work: &mut dyn FnMut()) {
    let word = control::get();
    let _restored = Restored(word);
    control::set(word | control::FLUSH, &mut work);
    work();
}

/// Restores the previous mode for denormals when dropped.
struct Restored(control::Word);

impl Drop for Restored {
    fn drop(&mut self) {
        let others = control::get() & !control::FLUSH;
        control::set(others | self.0 & control::FLUSH, &mut ());
    }
}

#[cfg(target_arch = "x86_64")]
mod control {
    use std::arch::asm;

    pub type Word = u32;

    /// Bits of MXCSR for flush-to-zero and denormals-are-zero.
    pub const FLUSH: Word = 1 << 15 | 1 << 6;

    pub fn get() -> Word {
        let mut word = 0;
        // SAFETY: SSE is part of x86-64; the instruction writes four bytes to a local.
        unsafe { asm!("stmxcsr [{}]", in(reg) &mut word, options(nostack, preserves_flags)) };
        word
    }

    /// Sets the register. As far as the compiler knows, the instruction may replace `touched`.
    pub fn set<T>(word: Word, touched: &mut T) {
        let touched = std::ptr::from_mut(touched).cast::<()>();
        // SAFETY: SSE is part of x86-64. `word` differs from the result of `get` only in the bits of `FLUSH`, so no reserved bit
        // is set, and traps stay off. To run Rust code with these bits set is undefined behaviour by the letter; the module's
        // documentation says what is proven to keep its order, and what rests on LLVM.
        unsafe {
            asm!("ldmxcsr [{}]", "/* {} */", in(reg) &word, in(reg) touched, options(nostack));
        }
    }
}

#[cfg(target_arch = "aarch64")]
mod control {
    use std::arch::asm;

    pub type Word = u64;

    /// Bit of FPCR for flush-to-zero, for inputs and outputs.
    pub const FLUSH: Word = 1 << 24;

    pub fn get() -> Word {
        let word;
        // SAFETY: every thread may read this register.
        unsafe { asm!("mrs {}, fpcr", out(reg) word, options(nomem, nostack, preserves_flags)) };
        word
    }

    /// Sets the register. As far as the compiler knows, the instruction may replace `touched`.
    pub fn set<T>(word: Word, touched: &mut T) {
        let touched = std::ptr::from_mut(touched).cast::<()>();
        // SAFETY: every thread may write this register. `word` differs from the result of `get` only in `FLUSH`, so rounding and
        // traps stay as they are. To run Rust code with this bit set is undefined behaviour by the letter; the module's
        // documentation says what is proven to keep its order, and what rests on LLVM.
        unsafe {
            asm!("msr fpcr, {}", "/* {} */", in(reg) word, in(reg) touched, options(nostack))
        };
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod control {
    pub type Word = u32;

    pub const FLUSH: Word = 0;

    pub fn get() -> Word {
        0
    }

    pub fn set<T>(_: Word, _: &mut T) {}
}

#[cfg(all(test, any(target_arch = "x86_64", target_arch = "aarch64")))]
mod tests {
    use super::*;
    use std::{
        hint::black_box,
        panic::{AssertUnwindSafe, catch_unwind},
    };

    /// Returns half of the least normal number: a denormal, or 0 if denormals are flushed.
    fn half() -> f32 {
        black_box(f32::MIN_POSITIVE) * black_box(0.5)
    }

    /// Computes one expression at three places: the optimiser must not compute it once for all of them.
    #[test]
    fn operations_keep_to_their_side_of_the_call() {
        let (least, factor) = (black_box(f32::MIN_POSITIVE), black_box(0.5));
        let before = least * factor;
        let mut inside = f32::NAN;
        with_flush_to_zero(&mut || inside = least * factor);
        let after = least * factor;
        assert_eq!(
            [before, inside, after],
            [f32::from_bits(1 << 22), 0.0, f32::from_bits(1 << 22)]
        );
    }

    #[test]
    fn denormal_inputs_count_as_zero() {
        let denormal = black_box(f32::from_bits(1 << 22));
        let mut product = f32::NAN;
        with_flush_to_zero(&mut || product = denormal * black_box(1e30));
        assert_eq!(product, 0.0);
    }

    #[test]
    fn a_panic_restores_the_mode() {
        let mut inside = f32::NAN;
        let mut work = || {
            inside = half();
            std::panic::resume_unwind(Box::new(()));
        };
        let caught = catch_unwind(AssertUnwindSafe(|| with_flush_to_zero(&mut work)));
        assert!(caught.is_err());
        assert!(inside == 0.0 && half() > 0.0, "{inside} {}", half());
    }

    #[test]
    fn only_the_bits_for_denormals_change_and_return() {
        let before = control::get();
        with_flush_to_zero(&mut || {
            assert_eq!(control::get(), before | control::FLUSH);
            with_flush_to_zero(&mut || assert_eq!(half(), 0.0));
            assert_eq!(half(), 0.0, "of a caller that flushes");
            // The flag of an exception, on x86-64 in the same register.
            assert!((black_box(1.0) / black_box(0f32)).is_infinite());
        });
        const DIVIDED_BY_ZERO: control::Word =
            if cfg!(target_arch = "x86_64") { 1 << 2 } else { 0 };
        const UNDERFLOW: control::Word = if cfg!(target_arch = "x86_64") { 1 << 4 } else { 0 };
        let flags = DIVIDED_BY_ZERO | UNDERFLOW;
        assert_eq!(control::get() & (control::FLUSH | flags), before & control::FLUSH | flags);
    }
}
