//! Sums of fractions, in fewer divisions than there are fractions.

use fearless_simd::{Simd, SimdBase, SimdFloat};

/// The lanes of the widest vectors.
pub const WIDEST: usize = 16;

/// The sum of all `n / d`, in one division, or in one for every two.
#[inline(always)]
pub fn over<S: Simd, const PAIRS: bool, const N: usize>(
    n: [S::f32s; N],
    d: [S::f32s; N],
) -> S::f32s {
    if PAIRS {
        let pair = n[0].mul_add(d[1], n[1] * d[0]) / (d[0] * d[1]);
        return if N > 2 { pair + n[2] / d[2] } else { pair };
    }
    let (sum, product) = fraction::<S, N>(n, d);
    quotient::<S>(sum, product)
}

/// [`over`] for two rows of `n`, which share the divisions.
#[inline(always)]
pub fn over_both<S: Simd, const PAIRS: bool, const N: usize>(
    simd: S,
    n: [[S::f32s; N]; 2],
    d: [S::f32s; N],
) -> [S::f32s; 2] {
    let one = S::f32s::splat(simd, 1.0);
    if PAIRS {
        let (pair, last) = (one / (d[0] * d[1]), one / d[N - 1]);
        return each(|row| {
            let n = n[row];
            let sum = n[0].mul_add(d[1], n[1] * d[0]) * pair;
            if N > 2 { n[2].mul_add(last, sum) } else { sum }
        });
    }
    let [(one_sum, product), (other, _)] = [fraction::<S, N>(n[0], d), fraction::<S, N>(n[1], d)];
    if S::f32s::LEN == WIDEST {
        // The estimate of the inverse is the same.
        return [quotient::<S>(one_sum, product), quotient::<S>(other, product)];
    }
    let inverse = one / product;
    [one_sum * inverse, other * inverse]
}

/// The sum of all `n / d` as a fraction.
#[inline(always)]
fn fraction<S: Simd, const N: usize>(n: [S::f32s; N], d: [S::f32s; N]) -> (S::f32s, S::f32s) {
    let (mut sum, mut product) = (n[0], d[0]);
    for i in 1..N {
        (sum, product) = (sum.mul_add(d[i], n[i] * product), product * d[i]);
    }
    (sum, product)
}

/// `n / d`, exact to the last bit or nearly so.
#[inline(always)]
pub fn quotient<S: Simd>(n: S::f32s, d: S::f32s) -> S::f32s {
    if S::f32s::LEN < WIDEST {
        return n / d;
    }
    // With vectors this wide, roots and divisions take longer than the multiplications. The estimate has 14 bits, and the
    // correction doubles them.
    let inverse = d.approximate_recip();
    let estimate = n * inverse;
    estimate - d.mul_sub(estimate, n) * inverse
}

/// `value` of each of `N`. Unlike the library's functions, it is always inlined.
#[inline(always)]
pub fn each<T: Copy, const N: usize>(value: impl Fn(usize) -> T) -> [T; N] {
    let mut values = [value(0); N];
    for (i, own) in values.iter_mut().enumerate().skip(1) {
        *own = value(i);
    }
    values
}
