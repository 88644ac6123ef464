//! Logarithm and logistic function without branches or tables, so that loops over them become vectors.

use std::f32::consts::{LN_2, LOG2_E};

/// The natural logarithm of `x`, a positive normal number, within 3e-7 relative or absolute.
#[inline(always)]
pub fn ln(x: f32) -> f32 {
    // x = m 2^e with m in sqrt(1/2)..sqrt(2).
    const SQRT_HALF: i32 = 0x3f35_04f3;
    let bits = x.to_bits() as i32;
    let exponent = (bits - SQRT_HALF) >> 23;
    let m = f32::from_bits((bits - (exponent << 23)) as u32);
    // ln m = 2 artanh t, |t| < 0.172; the series' next term is below 1e-9.
    let t = (m - 1.0) / (m + 1.0);
    let u = t * t;
    let series = 1.0 + u * (1.0 / 3.0 + u * (1.0 / 5.0 + u * (1.0 / 7.0 + u * (1.0 / 9.0))));
    exponent as f32 * LN_2 + 2.0 * t * series
}

/// `1 / (1 + e^-x)`, within 1e-5 relative for `x` above -80; below, the value at -80.
#[inline(always)]
pub fn logistic(x: f32) -> f32 {
    let power = -x.clamp(-80.0, 80.0) * LOG2_E;
    // Adding 1.5 * 2^23 rounds to a whole number and leaves it in the low bits.
    const ROUND: f32 = 12_582_912.0;
    let rounded = power + ROUND;
    let y = (power - (rounded - ROUND)) * LN_2;
    // e^y, |y| < 0.347; the series' next term is below 1e-7.
    let series = 1.0
        + y * (1.0
            + y * (1.0 / 2.0
                + y * (1.0 / 6.0 + y * (1.0 / 24.0 + y * (1.0 / 120.0 + y * (1.0 / 720.0))))));
    let scale = f32::from_bits((rounded.to_bits() << 23).wrapping_add(0x3f80_0000));
    1.0 / (1.0 + series * scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_logarithm_is_that_of_f64() {
        for step in -3000..3000 {
            let x = (f64::from(step) / 100.0).exp() as f32;
            let (exact, near) = (f64::from(x).ln(), f64::from(ln(x)));
            assert!((near - exact).abs() < 3e-7 * exact.abs().max(1.0), "{x}: {near} {exact}");
        }
    }

    #[test]
    fn the_logistic_function_is_that_of_f64() {
        for step in -8000..8000 {
            let x = step as f32 / 100.0;
            let (exact, near) = (1.0 / (1.0 + f64::from(-x).exp()), f64::from(logistic(x)));
            assert!((near / exact - 1.0).abs() < 1e-5, "{x}: {near} {exact}");
        }
        assert_eq!(logistic(1e30), 1.0);
        assert_eq!(logistic(-1e30), logistic(-80.0));
    }
}
