//! The listener of a filter on another thread, ahead of it: for files, which are known before they are filtered.

use crate::{
    Kernel, Keys, Listen, ToneFilter, analysis::NoteSource, downmix::finite, lanes::BLOCK,
    listener::Decisions,
};
use tone_filter_simd::denormals::with_flush_to_zero;

/// Listens for a [`ToneFilter`].
#[derive(Debug, Clone)]
pub struct Scout {
    source: NoteSource,
    kernel: Kernel,
    /// The number of samples of the current block so far.
    position: usize,
}

/// What a [`Scout`] has decided, one item a block of 64 samples that is complete. Few blocks have decisions, which are large.
#[derive(Debug, Clone, Default)]
pub struct Decided(Vec<Option<Box<Decisions>>>);

impl ToneFilter {
    /// What listens for this filter, which is at rest, from its first sample on; `None` where nothing is to be listened to, or where the
    /// listener depends on more than the input: on keys, a sidechain, or on key and tuning that are found. Settings must stay as they are.
    pub fn scout(&self) -> Option<Scout> {
        let controls = self.controls();
        let alone = controls.settings.keys == Keys::Off
            && controls.routing.listen == Listen::Main
            && !controls.settings.follows();
        let source = self.analysis.source.clone();
        (alone && source.is_on() && source.score().is_none()).then_some(Scout {
            source,
            kernel: self.kernel(),
            position: 0,
        })
    }

    /// Takes what a scout has decided in the next blocks. From then on, the filter's own listener is off: each block needs a decision that has
    /// been taken before its end. The output is bit for bit the same. Allocates, and the filter frees the decisions while it processes.
    pub fn follow_scout(&mut self, decided: Decided) {
        self.analysis.source.follow_scout(decided.0);
    }
}

impl Scout {
    /// Takes the next samples of all `channels`, which have one length, and decides about the blocks that are complete.
    pub fn listen(&mut self, channels: &[Vec<f32>]) -> Decided {
        let mut decided = Decided::default();
        with_flush_to_zero(&mut || self.listen_to(channels, &mut decided));
        decided
    }

    fn listen_to(&mut self, channels: &[Vec<f32>], decided: &mut Decided) {
        let frames = channels.iter().map(Vec::len).min().unwrap_or(0);
        let mut block = vec![[0.0; BLOCK]; channels.len()];
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
    }
}
