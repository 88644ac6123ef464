//! Condition under which a bank may skip the kernel.

use super::*;
use crate::{Settings, lanes::BLOCK, ramp::Ramp};
use tone_filter_simd::denormals::with_flush_to_zero;

#[test]
fn a_bank_rests_when_the_kernel_would_output_silence() {
    with_flush_to_zero(&mut compare_rest_and_work);
}

fn compare_rest_and_work() {
    let settings = Settings { ring: 0.05, release: 10.0, ..Settings::REFERENCE };
    let mut params = BankParams::new(&settings, 48_000.0);
    params.coefficients.set_weights(&Ramp::rest(Lanes::of(|_| 1.0)));
    params.set_gains(Ramp::rest(1.0));
    let sound: [f32; BLOCK] = std::array::from_fn(|t| ((t * t) % 17) as f32 / 17.0 - 0.5);
    let silence = [0.0; BLOCK];
    assert!(Bank::new().rests(&silence) && !Bank::new().rests(&sound));
    for kernel in Kernel::available() {
        let (mut bank, mut wet) = (Bank::new(), [0.0; BLOCK]);
        (0..100).for_each(|_| bank.process(kernel, &params, 0, &sound, &mut wet, &mut []));
        let block = (0..10 * 750).find(|_| {
            let rests = bank.rests(&silence);
            bank.process(kernel, &params, 0, &silence, &mut wet, &mut []);
            rests
        });
        // The total power decays slowest: to 1e-32 in 71 of its time constants of 12 ms.
        assert!((600..750).contains(&block.unwrap()), "{kernel:?}: {block:?}");
        // The kernel would output silence from the same state, and sound the same later.
        let (mut rested, mut worked) = (bank.clone(), bank);
        worked.inputs = FrameInputs::ZERO;
        for _ in 0..1000 {
            let mut sums = [1.0; BLOCK];
            worked.run(kernel, &params, 0, &mut sums, &mut []);
            assert_eq!(sums, silence, "{kernel:?}");
        }
        let (mut one, mut other) = ([0.0; BLOCK], [0.0; BLOCK]);
        for _ in 0..100 {
            rested.process(kernel, &params, 0, &sound, &mut one, &mut []);
            worked.process(kernel, &params, 0, &sound, &mut other, &mut []);
            assert_eq!(one, other, "{kernel:?}");
        }
    }
}
