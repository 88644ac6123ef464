//! Approximations of elementary functions, without branches or tables, so that loops with them are vectorised.

use fearless_simd::{Simd, SimdFloat};
use std::f32::consts::{LN_2, LOG2_E, PI, TAU};

/// The number 1.5 * 2^23. Adding it to a small `f32` rounds to an integer, which the low bits of the sum then hold.
const ROUND: f32 = 12_582_912.0;

/// Returns the natural logarithm of `x`, a positive normal number. The absolute error is below 3e-7 for
/// results in -1..1, and the relative error for all others.
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

/// Returns `e^-x` in every lane, with a relative error below 3e-6. `x` is limited to -40..40.
#[inline(always)]
pub fn decay<S: Simd, V: SimdFloat<S, Element = f32>>(simd: S, x: V) -> V {
    let whole = V::splat(simd, ROUND);
    let x = x.max(V::splat(simd, -40.0)).min(V::splat(simd, 40.0));
    let rounded = x.mul_add(V::splat(simd, -LOG2_E), whole);
    let y = x.mul_add(V::splat(simd, -LOG2_E), whole - rounded);
    // 2^y for |y| <= 0.5, by the polynomial of degree 5 that is 1 at 0 and has the least relative error, 4.4e-7.
    let mut power = V::splat(simd, 0.001_112_520_7);
    for factor in [0.009_666_283, 0.055_574_015, 0.240_223_51, 0.693_142_83, 1.0] {
        power = power.mul_add(y, V::splat(simd, factor));
    }
    // The whole number, added to the bits of the exponent, multiplies by its power of two.
    V::from_bits((rounded.to_bits() << 23) + power.to_bits())
}

/// Returns the tangent of `x`, 0 to 1.45, with a relative error below 1e-6.
#[inline(always)]
pub fn tan(x: f32) -> f32 {
    // Taylor series of sine and cosine, up to terms below 1e-8.
    let u = x * x;
    let series = |divisors: [f32; 7]| {
        // `1.0 / divisor` is a constant; a division at run time would take far longer than everything else.
        divisors.into_iter().rev().fold(1.0, |sum, divisor| 1.0 - u * (1.0 / divisor) * sum)
    };
    let sine = x * series([6.0, 20.0, 42.0, 72.0, 110.0, 156.0, 210.0]);
    let cosine = series([2.0, 12.0, 30.0, 56.0, 90.0, 132.0, 182.0]);
    sine / cosine
}

/// Truncates `x` to an integer, clamped to -2^30..=2^30; NaN gives -2^30.
#[inline(always)]
#[expect(clippy::manual_clamp, reason = "it would let NaN through")]
pub fn truncated(x: f32) -> i32 {
    const LIMIT: f32 = (1 << 30) as f32;
    // `as` would not be vectorised.
    // SAFETY: the value is not NaN, because `max` returns the limit then, and it fits an `i32`.
    unsafe { x.max(-LIMIT).min(LIMIT).to_int_unchecked() }
}

/// Returns the angle of the point `(x, y)` and its distance from the origin. The angle is exact within 1e-6, the distance within
/// a relative 1e-6. At the origin, the angle is 0.
#[inline(always)]
pub fn polar(x: f32, y: f32) -> (f32, f32) {
    // The squares of small values would underflow. A power of two scales without rounding.
    let scale = if x.abs().max(y.abs()) < 1e-12 { (1u128 << 80) as f32 } else { 1.0 };
    let distance = ((scale * x).powi(2) + (scale * y).powi(2)).sqrt() / scale;
    // tan(p/2) = sin(p) / (1 + cos(p)). The arc tangent is Abramowitz and Stegun's 4.4.49.
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

/// Wraps an angle in radians to -pi..=pi.
#[inline(always)]
pub fn wrapped(angle: f32) -> f32 {
    angle - TAU * ((angle * (1.0 / TAU) + ROUND) - ROUND)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Kernel, Work};
    use fearless_simd::{SimdBase, f32x4};

    #[test]
    fn the_logarithm_is_near_that_of_f64() {
        for step in -3000..3000 {
            let x = (f64::from(step) / 100.0).exp() as f32;
            let (exact, near) = (f64::from(x).ln(), f64::from(ln(x)));
            assert!((near - exact).abs() < 3e-7 * exact.abs().max(1.0), "{x}: {near} {exact}");
        }
    }

    #[test]
    fn the_decay_is_near_that_of_f64() {
        struct Decay<'a>(&'a mut [f32; 4]);

        impl Work for Decay<'_> {
            fn run<S: Simd>(self, simd: S) {
                decay(simd, f32x4::from_slice(simd, &*self.0)).store_slice(self.0);
            }
        }

        for kernel in Kernel::available() {
            let at = |x: f32| {
                let mut lanes = [x; 4];
                kernel.run(Decay(&mut lanes));
                lanes[0]
            };
            for step in -8000..=8000 {
                let x = step as f32 / 200.0;
                let (exact, near) = (f64::from(-x).exp(), f64::from(at(x)));
                assert!((near / exact - 1.0).abs() < 3e-6, "{x}: {near} {exact}");
            }
            assert_eq!([at(0.0), at(1e30), at(-1e30)], [1.0, at(40.0), at(-40.0)]);
        }
    }

    #[test]
    fn the_tangent_is_near_that_of_f64() {
        for step in 0..=1450 {
            let x = step as f32 / 1000.0;
            let exact = f64::from(x).tan();
            assert!((f64::from(tan(x)) - exact).abs() <= 1e-6 * exact, "{x}");
        }
    }

    #[test]
    fn polar_coordinates_are_near_those_of_f64() {
        for step in -3141..=3141 {
            let angle = f64::from(step) / 1000.0;
            for radius in [1e-30, 1e-6, 1.0, 1e4] {
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
    fn truncation_clamps_infinities_and_nan() {
        let limit = 1 << 30;
        for (x, expected) in
            [(2.9, 2), (-2.9, -2), (1e30, limit), (f32::NEG_INFINITY, -limit), (f32::NAN, -limit)]
        {
            assert_eq!(truncated(x), expected, "{x}");
        }
    }

    #[test]
    fn angles_wrap_to_plus_and_minus_pi() {
        for (angle, expected) in
            [(0.5, 0.5), (7.0, 7.0 - TAU), (-4.0, TAU - 4.0), (100.0, -0.53096)]
        {
            assert!((wrapped(angle) - expected).abs() < 1e-5, "{angle}: {}", wrapped(angle));
        }
    }
}
