use std::time::Instant;
use tone_filter_listener::*;
use tone_filter_simd::Kernel;
fn main() {
    let mut state = 1u64;
    let blocks: Vec<[f32; 64]> = (0..160).map(|_| std::array::from_fn(|_| { state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407); (state >> 33) as f32 / 2f32.powi(31) - 0.5 })).collect();
    for kernel in Kernel::available().filter(|k| std::env::args().nth(1).is_none_or(|n| n == k.name())) {
        for model in [Model::Full, Model::Light] {
            for stereo in [false, true] {
                let mut l = Listener::new(44100.0, false, model);
                let mut best = f64::MAX;
                for _ in 0..60 {
                    let t = Instant::now();
                    for b in &blocks { l.push(kernel, b, stereo.then_some(b)); }
                    best = best.min(t.elapsed().as_secs_f64());
                }
                let mut worst = 0f64;
                println!("{} {model:?} stereo {stereo}: {:.1} us a frame, {:.2} % of real time", kernel.name(), best / 20.0 * 1e6, best / (160.0 * 64.0 / 44100.0) * 100.0);
                let _ = &mut worst;
            }
        }
    }
}
