//! The same tests for buffers that are processed through VST3.

use super::{MAX_BLOCK, RATE};
use ::vst3::Steinberg::{Vst::ParamID, kResultOk};
use tone_filter_testkit::{
    Draws,
    plugin::music,
    rate,
    traps::{watch_system_calls, watched},
    vst3::{Factory, Instance, Queue, Setup},
};

/// Returns the factories of the linked build and of the bundle.
fn factories() -> [Factory; 2] {
    // SAFETY: `GetPluginFactory` returns an owned reference to a factory.
    let linked = unsafe { Factory::linked(tone_filter::GetPluginFactory) };
    [linked, Factory::bundled().unwrap_or_else(|error| panic!("{error}"))]
}

/// Replaces `signal` by the plugin's output while a few parameters change, in place or not.
fn play(
    instance: &Instance,
    parameters: &[ParamID],
    signal: &mut [&mut [f32]],
    in_place: bool,
    draws: &mut Draws,
) {
    let frames = signal[0].len();
    let queue = |draws: &mut Draws| {
        let mut points: Vec<_> = (0..4)
            .map(|_| {
                let any = draws.share();
                (draws.below(frames) as i32, draws.pick(&[0.0, 1.0, any, any, any, any]))
            })
            .collect();
        points.sort_by_key(|(offset, _)| *offset);
        Queue { parameter: draws.pick(parameters), points }
    };
    let changes = (0..3).map(|_| queue(draws)).collect();
    let copy: Vec<_> = signal.iter().map(|channel| channel.to_vec()).collect();
    let input = (!in_place).then_some(&copy[..]);
    assert_eq!(instance.process(input, signal, changes), kResultOk);
}

/// Plays in buffers of all sizes, mono and stereo, in place and not.
pub fn neither_allocates_nor_calls_the_system() {
    watch_system_calls();
    let draws = &mut Draws::seeded(3);
    let mut changed = 0;
    for factory in factories() {
        for channels in [1, 2] {
            let setup = Setup { rate: rate(draws), channels, max_block: MAX_BLOCK };
            let mut instance = Instance::active(&factory, setup);
            instance.call = watched;
            let parameters: Vec<_> = instance.parameters().iter().map(|info| info.id).collect();
            for size in [1, 2, 63, 64, 65, 512, MAX_BLOCK] {
                let input = music(if size < 64 { 0.02 } else { 0.5 }, RATE);
                let mut output = input.clone();
                for start in (0..input[0].len()).step_by(size) {
                    let end = input[0].len().min(start + size);
                    let mut block: Vec<&mut [f32]> = output[..channels]
                        .iter_mut()
                        .map(|channel| &mut channel[start..end])
                        .collect();
                    play(&instance, &parameters, &mut block, start / size % 2 == 0, draws);
                }
                assert!(output.iter().flatten().all(|sample| sample.is_finite()));
                changed += usize::from(output[..channels] != input[..channels]);
            }
        }
    }
    // Some of the 28 outputs are bypassed or dry.
    assert!(changed > 7, "{changed} outputs are not the input");
}
