//! Approximations of elementary functions without branches or tables, so that loops over them are vectorised.

use std::f32::consts::{LN_2, LOG2_E, PI, TAU};

/// Adding and subtracting 1.5 * 2^23 rounds to a whole number; the sum has that number in its low bits.
const ROUND: f32 = 12_582_912.0;

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

/// The hyperbolic tangent of `x`, within 5e-7.
#[inline(always)]
pub fn tanh(x: f32) -> f32 {
    2.0 * logistic(2.0 * x) - 1.0
}

/// The tangent of `x`, 0 to 1.45, within 1e-6 relative.
#[inline(always)]
pub fn tan(x: f32) -> f32 {
    // Both series up to terms below 1e-8.
    let u = x * x;
    let series = |divisors: [f32; 7]| {
        // The factors are constants; a division of its own for each would take far longer than all the rest.
        divisors.into_iter().rev().fold(1.0, |sum, divisor| 1.0 - u * (1.0 / divisor) * sum)
    };
    let sine = x * series([6.0, 20.0, 42.0, 72.0, 110.0, 156.0, 210.0]);
    let cosine = series([2.0, 12.0, 30.0, 56.0, 90.0, 132.0, 182.0]);
    sine / cosine
}

/// `x` without its fraction, which must be less than 2^30 from zero, as nothing else comes out; of what is no number, some
/// number.
#[inline(always)]
#[expect(clippy::manual_clamp, reason = "it would let NaN through")]
pub fn truncated(x: f32) -> i32 {
    const LIMIT: f32 = (1 << 30) as f32;
    // Rust's own conversion takes the lanes of a vector one by one.
    // SAFETY: `max` and `min` give the limit for what is no number; the result lies within the limits, an `i32`.
    unsafe { x.max(-LIMIT).min(LIMIT).to_int_unchecked() }
}

/// The angle of the point `(x, y)` and its distance from the origin, within 1e-6; 0 for the origin.
#[inline(always)]
pub fn polar(x: f32, y: f32) -> (f32, f32) {
    let distance = (x * x + y * y).sqrt();
    // tan(p/2) = sin(p) / (1 + cos(p)); of its arc tangent, Abramowitz and Stegun's 4.4.49.
    let half = y.abs() / (distance + x.abs()).max(f32::MIN_POSITIVE);
    let u = half * half;
    let series = [
        0.002_866_226,
        -0.016_165_737,
        0.042_909_615,
        -0.075_289_64,
        0.106_562_64,
        -0.142_089,
        0.199_935_5,
        -0.333_331_45,
        1.0,
    ];
    let angle = 2.0 * half * series.into_iter().fold(0.0, |sum, factor| sum * u + factor);
    let angle = if x < 0.0 { PI - angle } else { angle };
    (if y < 0.0 { -angle } else { angle }, distance)
}

/// The `angle` (up to a million turns) wrapped to `-pi..pi`.
#[inline(always)]
pub fn wrapped(angle: f32) -> f32 {
    angle - TAU * ((angle * (1.0 / TAU) + ROUND) - ROUND)
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

    #[test]
    fn the_hyperbolic_tangent_is_that_of_f64() {
        for step in -3000..=3000 {
            let x = step as f32 / 100.0;
            let (exact, near) = (f64::from(x).tanh(), f64::from(tanh(x)));
            assert!((near - exact).abs() < 5e-7, "{x}: {near} {exact}");
        }
    }

    #[test]
    fn the_tangent_is_that_of_f64() {
        for step in 0..=1450 {
            let x = step as f32 / 1000.0;
            let exact = f64::from(x).tan();
            assert!((f64::from(tan(x)) - exact).abs() <= 1e-6 * exact, "{x}");
        }
    }

    #[test]
    fn polar_coordinates_are_those_of_f64() {
        for step in -3141..=3141 {
            let angle = f64::from(step) / 1000.0;
            for radius in [1e-6, 1.0, 1e4] {
                let (x, y) = ((radius * angle.cos()) as f32, (radius * angle.sin()) as f32);
                let (near, distance) = polar(x, y);
                let exact = f64::from(y).atan2(f64::from(x));
                assert!((f64::from(near) - exact).abs() < 1e-6, "{angle}: {near}");
                assert!((f64::from(distance) / radius - 1.0).abs() < 1e-6);
            }
        }
        assert_eq!(polar(0.0, 0.0), (0.0, 0.0));
    }

    #[test]
    fn numbers_are_truncated_and_what_is_none_is_harmless() {
        let limit = 1 << 30;
        for (x, expected) in
            [(2.9, 2), (-2.9, -2), (1e30, limit), (f32::NEG_INFINITY, -limit), (f32::NAN, -limit)]
        {
            assert_eq!(truncated(x), expected, "{x}");
        }
    }

    #[test]
    fn angles_are_wrapped_to_one_turn() {
        for (angle, expected) in
            [(0.5, 0.5), (7.0, 7.0 - TAU), (-4.0, TAU - 4.0), (100.0, -0.53096)]
        {
            assert!((wrapped(angle) - expected).abs() < 1e-5, "{angle}: {}", wrapped(angle));
        }
    }
}
