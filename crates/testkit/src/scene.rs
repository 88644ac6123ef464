//! Random runs of the filter: input, events and changes of controls.

use crate::{Draws, Signal, Values, controls, events, music, rate};
use std::sync::Arc;
use tone_filter_dsp::{Controls, Kernel, KeyEvent, Score, Setting, ToneFilter};

/// Length of a scene in seconds. The listener needs 0.1 s to warm up. The rest is time for networks and levels to settle.
const SECONDS: f64 = 1.5;

/// Random run of the filter: all inputs that determine the output.
#[derive(Debug, Clone)]
pub struct Scene {
    /// Sample rate in Hz.
    pub rate: f64,
    /// Kernel of the inner loop.
    pub kernel: Kernel,
    /// Changes of controls: a frame, and all controls from this frame on. The first change is at frame 0.
    pub changes: Vec<(usize, Controls)>,
    /// Main input.
    pub input: Signal,
    /// Sidechain, as long as the main input. It has no channels if it is not connected.
    pub sidechain: Signal,
    /// Key events with their frames, sorted.
    pub events: Vec<(usize, KeyEvent)>,
    /// Score that replaces the notes of the listener; `None` if the listener decides.
    pub score: Option<Arc<Score>>,
}

impl Scene {
    /// Draws a scene of 1.5 s with up to three changes of controls.
    pub fn draw(draws: &mut Draws) -> Self {
        let rate = rate(draws);
        let (notes, input) = music(draws, rate, SECONDS);
        let frames = input[0].len();
        let sidechain = match draws.chance(0.5) {
            true => music(draws, rate, SECONDS).1,
            false => Vec::new(),
        };
        let kernels: Vec<Kernel> = Kernel::available().collect();
        let kernel = if draws.chance(0.7) { Kernel::best() } else { draws.pick(&kernels) };
        let mut current = controls(draws);
        let mut changes = vec![(0, current)];
        for _ in 0..draws.below(4) {
            let all: Vec<Setting> = Setting::all().collect();
            for _ in 0..=draws.below(3) {
                draws.pick(&all).draw(draws, &mut current);
            }
            changes.push((draws.below(frames), current));
        }
        changes.sort_by_key(|(frame, _)| *frame);
        let score = draws.chance(0.2).then(|| Arc::new(notes.score()));
        let events = events(draws, frames);
        Self { rate, kernel, changes, input, sidechain, events, score }
    }

    /// Creates a filter with the scene's first controls.
    pub fn filter(&self) -> ToneFilter {
        let controls = self.changes[0].1;
        let filter = ToneFilter::new(self.rate, &controls.settings).expect("a valid scene");
        let mut filter = filter.with_kernel(self.kernel).with_channels(self.input.len());
        filter.set_routing(controls.routing);
        filter.set_score(self.score.clone());
        filter.reset();
        filter
    }

    /// Returns the output of `filter`, which must be fresh from [`Scene::filter`]. `sizes` returns the maximum length of the
    /// next buffer, never 0; a buffer also ends at a change of controls.
    pub fn play(&self, filter: &mut ToneFilter, mut sizes: impl FnMut() -> usize) -> Signal {
        let mut output = self.input.clone();
        let frames = output[0].len();
        let mut start = 0;
        while start < frames {
            if let Some((_, controls)) = self.changes.iter().rfind(|(at, _)| *at <= start) {
                filter.set_controls(controls).expect("a valid scene");
            }
            let next = self.changes.iter().map(|(at, _)| *at).find(|at| *at > start);
            let end = next.unwrap_or(frames).min(start + sizes());
            let mut main: Vec<&mut [f32]> =
                output.iter_mut().map(|channel| &mut channel[start..end]).collect();
            let sidechain: Vec<&[f32]> =
                self.sidechain.iter().map(|channel| &channel[start..end]).collect();
            let events = self.events.iter().filter(|(at, _)| (start..end).contains(at));
            let events = events.map(|(at, event)| (at - start, *event));
            filter.process_events(&mut main, &sidechain, events, |_, _| ());
            start = end;
        }
        output
    }
}
