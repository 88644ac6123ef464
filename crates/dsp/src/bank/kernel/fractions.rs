//! Sums of fractions with fewer divisions than fractions.

use fearless_simd::{Simd, SimdBase, SimdFloat};

/// Number of lanes of the widest vectors.
pub const WIDEST: usize = 16;

/// Returns the sum of two or three fractions `n / d` with a single division.
#[inline(always)]
pub fn over<S: Simd, const N: usize>(n: [S::f32s; N], d: [S::f32s; N]) -> S::f32s {
    let (sum, product) = fraction::<S, N>(n, d);
    quotient::<S>(sum, product)
}

/// Returns the sums of two rows of fractions with equal denominators, with a single division.
#[inline(always)]
pub fn over_both<S: Simd, const N: usize>(
    simd: S,
    n: [[S::f32s; N]; 2],
    d: [S::f32s; N],
) -> [S::f32s; 2] {
    let [(one_sum, product), (other, _)] = [fraction::<S, N>(n[0], d), fraction::<S, N>(n[1], d)];
    if S::f32s::LEN == WIDEST {
        // Both compute the same estimate of the inverse, so the compiler needs it only once.
        return [quotient::<S>(one_sum, product), quotient::<S>(other, product)];
    }
    let inverse = S::f32s::splat(simd, 1.0) / product;
    [one_sum * inverse, other * inverse]
}

/// Returns the sum of all `n / d` as a fraction: numerator and denominator.
#[inline(always)]
fn fraction<S: Simd, const N: usize>(n: [S::f32s; N], d: [S::f32s; N]) -> (S::f32s, S::f32s) {
    let (mut sum, mut product) = (n[0], d[0]);
    for i in 1..N {
        (sum, product) = (sum.mul_add(d[i], n[i] * product), product * d[i]);
    }
    (sum, product)
}

/// Returns `n / d`, exact to the last bit or nearly so.
#[inline(always)]
pub fn quotient<S: Simd>(n: S::f32s, d: S::f32s) -> S::f32s {
    if S::f32s::LEN < WIDEST {
        return n / d;
    }
    // With the widest vectors, a division takes longer than an estimate of 14 bits and a correction, which doubles the bits.
    let inverse = d.approximate_recip();
    let estimate = n * inverse;
    estimate - d.mul_sub(estimate, n) * inverse
}

/// Returns `value(i)` for each `i` below `N`. Unlike `array::from_fn`, it is always inlined.
#[inline(always)]
pub fn each<T: Copy, const N: usize>(value: impl Fn(usize) -> T) -> [T; N] {
    let mut values = [value(0); N];
    for (i, entry) in values.iter_mut().enumerate().skip(1) {
        *entry = value(i);
    }
    values
}
