//! A listener that runs on another thread, ahead of the filter: for files, whose input is known in advance.

use crate::{Kernel, analysis::NoteSource, downmix::finite, lanes::BLOCK, listener::Decisions};
use tone_filter_simd::denormals::with_flush_to_zero;

/// A listener that decides in advance for a [`ToneFilter`](crate::ToneFilter).
#[derive(Debug, Clone)]
pub struct Scout {
    source: NoteSource,
    kernel: Kernel,
    position: usize,
}

/// Decisions of a [`Scout`]: an item for each complete block of 64 samples.
#[derive(Debug, Clone, Default)]
pub struct ScoutDecisions(pub(crate) Vec<Option<Box<Decisions>>>);

impl Scout {
    /// Creates a scout from `source`, which must be at rest.
    pub(crate) fn new(source: NoteSource, kernel: Kernel) -> Self {
        Self { source, kernel, position: 0 }
    }

    /// Processes the next samples of all `channels`, which must have equal lengths. Returns the decisions for the completed
    /// blocks.
    pub fn listen(&mut self, channels: &[Vec<f32>]) -> ScoutDecisions {
        let frames = channels.iter().map(Vec::len).min().unwrap_or(0);
        let mut block = vec![[0.0; BLOCK]; channels.len()];
        let mut decided = ScoutDecisions::default();
        with_flush_to_zero(&mut || {
            let mut start = 0;
            while start < frames {
                let end = frames.min(start + BLOCK - self.position);
                for (part, channel) in block.iter_mut().zip(channels) {
                    let samples = part.iter_mut().zip(&channel[start..end]);
                    samples.for_each(|(to, sample)| *to = finite(*sample));
                }
                self.source.push(self.position, &block, 0..end - start);
                self.position = (self.position + end - start) % BLOCK;
                start = end;
                if self.position == 0 {
                    decided.0.push(self.source.listen(self.kernel).cloned().map(Box::new));
                }
            }
        });
        decided
    }
}
