//! Test run with automation: music, during which settings change. Library, plugin and bindings must give the same output.

use crate::{Draws, Music, Signal, Values, parameters_alone};
use tone_filter_dsp::{Controls, Kernel, Setting, Settings, SyncTo, ToneFilter};

/// Number of frames between two changes of settings. It is a multiple of all buffer lengths of the tests: powers of 2 from 64
/// to 1024.
const STEP: usize = 12 * 1024;

/// Number of sections of the run, the first of which has the default sound.
const STEPS: usize = 14;

/// Number of settings that are drawn in each step. The drawn value of a setting may be its default.
const TOGETHER: usize = 6;

/// Stereo music of 14 sections (3.6 s at 48 kHz), between which settings change.
///
/// The run starts with the default sound. Each step changes several settings, and the last step restores all defaults. Routing
/// and lookahead never change, so the latency stays constant.
#[derive(Debug, Clone)]
pub struct Automation {
    /// Sample rate in Hz.
    pub rate: f64,
    /// Left and right channel of the music.
    pub input: Signal,
    /// Steps: the frame of the change, which is never 0, and all settings from this frame on.
    pub steps: Vec<(usize, Controls)>,
}

impl Automation {
    /// Creates the run of `seed` at `rate` Hz.
    pub fn new(seed: u64, rate: f64) -> Self {
        let draws = &mut Draws::seeded(seed);
        let frames = STEPS * STEP;
        let mut input = Music::draw(draws, frames as f64 / rate).render(rate, frames as f64 / rate);
        input.iter_mut().for_each(|channel| channel.truncate(frames));
        let sound: Vec<_> = Setting::all().filter(|setting| !setting.is_routing()).collect();
        // Every setting is drawn once before any is drawn again.
        let mut deck = Vec::new();
        let step = |step| {
            let mut controls = Controls::default();
            for _ in 0..TOGETHER {
                if deck.is_empty() {
                    deck.clone_from(&sound);
                }
                deck.swap_remove(draws.below(deck.len())).draw(draws, &mut controls);
            }
            controls.settings.lookahead = Controls::default().settings.lookahead;
            // The tempo of the music is the same in all hosts. Their own tempos differ.
            controls.settings.sync_to = SyncTo::Music;
            let back = step == STEPS - 1;
            (step * STEP, if back { Controls::default() } else { controls })
        };
        let steps = (1..STEPS).map(step).collect();
        Self { rate, input, steps }
    }

    /// Resets bands, custom scale and targets to their defaults in all steps, because plugins have no parameters for them.
    #[must_use]
    pub fn with_parameters_alone(mut self) -> Self {
        for (_, controls) in &mut self.steps {
            controls.settings = parameters_alone(&controls.settings);
        }
        self
    }

    /// Plays the input in buffers of `size` frames, a divisor of the 12,288 frames of a section. `play` gets the new settings,
    /// if they change at the start of a buffer, and the buffer's two channels, whose samples it replaces. Returns the output.
    pub fn play(
        &self,
        size: usize,
        mut play: impl FnMut(Option<&Controls>, [&mut [f32]; 2]),
    ) -> Signal {
        let mut output = self.input.clone();
        let [left, right] = &mut output[..] else { unreachable!("two channels") };
        let blocks = left.chunks_mut(size).zip(right.chunks_mut(size)).enumerate();
        for (index, (left, right)) in blocks {
            let new = self.steps.iter().find(|(frame, _)| *frame == index * size);
            play(new.map(|(_, controls)| controls), [left, right]);
        }
        output
    }

    /// Returns the library's output for the run, computed by the fastest kernel. The run starts with the default sound.
    pub fn expected(&self) -> Signal {
        self.expected_from(&Settings::default(), Kernel::best())
    }

    /// Returns the library's output for the run, computed by `kernel`. The run starts with the settings `start`.
    pub fn expected_from(&self, start: &Settings, kernel: Kernel) -> Signal {
        let mut filter = ToneFilter::new(self.rate, start).expect("a rate").with_kernel(kernel);
        let output = self.play(STEP, |new, mut block| {
            if let Some(new) = new {
                filter.set_settings(&new.settings).expect("settings within their ranges");
            }
            filter.process(&mut block);
        });
        let loud = output.iter().flatten().filter(|sample| sample.abs() > 1e-3).count();
        assert!(4 * loud > output[0].len(), "silence proves nothing");
        output
    }
}

/// Asserts that two signals have the same bits. The message names the first difference.
pub fn assert_same_bits(output: &Signal, expected: &Signal) {
    assert_eq!(output.len(), expected.len());
    for (channel, (output, expected)) in output.iter().zip(expected).enumerate() {
        assert_eq!(output.len(), expected.len());
        let differs = output.iter().zip(expected).position(|(a, b)| a.to_bits() != b.to_bits());
        if let Some(frame) = differs {
            let (a, b) = (output[frame], expected[frame]);
            panic!("channel {channel}, frame {frame}: {a} in place of {b}");
        }
    }
}
