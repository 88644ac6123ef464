#![doc = include_str!("../README.md")]

use firewheel::{
    StreamInfo,
    channel_config::{ChannelConfig, ChannelCount},
    clock::{DurationSamples, InstantSamples},
    diff::{Diff, EventQueue, Patch, PatchError, PathBuilder},
    event::{NodeEventType, ParamData, ProcEvents},
    node::{
        AudioNode, AudioNodeInfo, AudioNodeProcessor, ConstructProcessorContext, EmptyConfig,
        NodeError, ProcBuffers, ProcExtra, ProcInfo, ProcStreamCtx, ProcessStatus,
    },
};
use std::sync::Arc;
use tone_filter_dsp::{Bands, Keyboard, Score, Settings, Snapshot, ToneFilter};
use triple_buffer::{Input, Output, triple_buffer};

/// A node with the filter, stereo to stereo. Changes of its fields reach the audio thread as events, without locks.
///
/// The node reports no latency, because Firewheel asks for it before the sample rate is known. With [`Settings::lookahead`], the
/// latency is [`ToneFilter::lookahead`] frames.
///
/// With the feature `bevy`, the node is a Bevy component.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "bevy", derive(bevy_ecs::component::Component))]
pub struct ToneFilterNode {
    /// Settings of the sound. With a value out of range, the processor is not constructed. A running processor ignores such a
    /// change and keeps its settings.
    pub settings: Settings,
    /// Held keys, sustain pedal and pitch bend; see [`Settings::keys`].
    pub keyboard: Keyboard,
}

/// Event that replaces one field of [`ToneFilterNode`].
#[derive(Debug, Clone, Copy)]
#[expect(clippy::large_enum_variant, reason = "a box would be freed on the audio thread")]
pub enum ToneFilterNodePatch {
    /// Replaces [`ToneFilterNode::settings`].
    Settings(Settings),
    /// Replaces [`ToneFilterNode::keyboard`].
    Keyboard(Keyboard),
}

impl Diff for ToneFilterNode {
    fn diff<E: EventQueue>(&self, baseline: &Self, path: PathBuilder, events: &mut E) {
        if self.settings != baseline.settings {
            events.push_param(ParamData::any(self.settings), path.with(0));
        }
        if self.keyboard != baseline.keyboard {
            events.push_param(ParamData::any(self.keyboard), path.with(1));
        }
    }
}

impl Patch for ToneFilterNode {
    type Patch = ToneFilterNodePatch;

    fn patch(data: &ParamData, path: &[u32]) -> Result<Self::Patch, PatchError> {
        let patch = match path {
            [0] => data.downcast_ref().copied().map(ToneFilterNodePatch::Settings),
            [1] => data.downcast_ref().copied().map(ToneFilterNodePatch::Keyboard),
            _ => return Err(PatchError::InvalidPath),
        };
        patch.ok_or(PatchError::InvalidData)
    }

    fn apply(&mut self, patch: Self::Patch) {
        match patch {
            ToneFilterNodePatch::Settings(settings) => self.settings = settings,
            ToneFilterNodePatch::Keyboard(keyboard) => self.keyboard = keyboard,
        }
    }
}

/// Change of the score, a list of notes that replaces the listener's decisions. `FirewheelContext::queue_event_for` sends it:
///
/// ```
/// # use firewheel::{FirewheelConfig, FirewheelContext};
/// # use tone_filter_firewheel::{ScoreEvent, ToneFilterNode};
/// # let mut context = FirewheelContext::new(FirewheelConfig::default());
/// # let id = context.add_node(ToneFilterNode::default(), None)?;
/// let score = "tone-filter-score 1\n0.0 2.0 69".parse()?;
/// context.queue_event_for(id, ScoreEvent::Set(Some(std::sync::Arc::new(score))).into());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum ScoreEvent {
    /// Sets or removes the score, see [`ToneFilter::set_score`]. A new score starts at 0 s.
    Set(Option<Arc<Score>>),
    /// Sets the position in the score, in seconds. Send it when the music begins, jumps, repeats or goes on after a pause.
    Seek(f64),
}

impl From<ScoreEvent> for NodeEventType {
    fn from(event: ScoreEvent) -> Self {
        Self::custom(event)
    }
}

/// Part of the node that the game's thread reads: the bands. `FirewheelContext::node_state_mut` returns it.
pub struct ToneFilterState {
    bands: Output<Snapshot>,
}

impl ToneFilterState {
    /// Returns the bands at the end of the last block.
    pub fn bands(&mut self) -> Bands {
        self.bands.read().read()
    }
}

impl AudioNode for ToneFilterNode {
    type Configuration = EmptyConfig;

    fn info(&self, _: &EmptyConfig) -> Result<AudioNodeInfo, NodeError> {
        let channels =
            ChannelConfig { num_inputs: ChannelCount::STEREO, num_outputs: ChannelCount::STEREO };
        let (_, bands) = triple_buffer(&Snapshot::default());
        let info = AudioNodeInfo::new().debug_name("tone_filter").channel_config(channels);
        Ok(info.custom_state(ToneFilterState { bands }))
    }

    fn construct_processor(
        &self,
        _: &EmptyConfig,
        mut cx: ConstructProcessorContext,
    ) -> Result<impl AudioNodeProcessor, NodeError> {
        let rate = cx.stream_info.sample_rate.get();
        let mut filter = ToneFilter::new(rate.into(), &self.settings)?;
        filter.set_keyboard(&self.keyboard);
        let (snapshots, bands) = triple_buffer(&Snapshot::default());
        if let Some(state) = cx.custom_state_mut() {
            *state = ToneFilterState { bands };
        }
        Ok(Processor { filter, snapshots, clock: None })
    }
}

struct Processor {
    filter: ToneFilter,
    snapshots: Input<Snapshot>,
    /// Time on the stream's clock to which the filter's position in the score belongs. `None` before a stream's first block.
    clock: Option<InstantSamples>,
}

impl Processor {
    /// Seeks in the score to the start of this block. Between the last block and this one, the node may have been bypassed.
    fn catch_up(&mut self, info: &ProcInfo) {
        let missed = self.clock.map_or(0, |clock| (info.clock_samples - clock).0);
        if missed > 0 {
            self.filter.seek(self.filter.score_time() + missed as f64 * info.sample_rate_recip);
        }
        self.clock = Some(info.clock_samples);
    }
}

impl AudioNodeProcessor for Processor {
    fn events(&mut self, info: &ProcInfo, events: &mut ProcEvents, _: &mut ProcExtra) {
        self.catch_up(info);
        for mut event in events.drain() {
            match event.downcast_mut() {
                Some(ScoreEvent::Set(score)) => {
                    // The event takes the old score along, because another thread frees it with the event.
                    *score = self.filter.set_score(score.take());
                    self.filter.seek(0.0);
                }
                Some(ScoreEvent::Seek(seconds)) => self.filter.seek(*seconds),
                None => {}
            }
            match ToneFilterNode::patch_event(&event) {
                Some(ToneFilterNodePatch::Settings(settings)) => {
                    // The filter ignores settings with a value out of range.
                    let _ = self.filter.set_settings(&settings);
                }
                Some(ToneFilterNodePatch::Keyboard(keyboard)) => {
                    self.filter.set_keyboard(&keyboard);
                }
                None => {}
            }
        }
    }

    fn bypassed(&mut self, bypassed: bool) {
        // After a bypass, the sound from before it must not ring on.
        if !bypassed {
            let (keyboard, seconds) = (*self.filter.keyboard(), self.filter.score_time());
            self.filter.reset();
            self.filter.set_keyboard(&keyboard);
            self.filter.seek(seconds);
        }
    }

    fn process(
        &mut self,
        info: &ProcInfo,
        buffers: ProcBuffers,
        _: &mut ProcExtra,
    ) -> ProcessStatus {
        self.catch_up(info);
        self.filter.process_into(buffers.inputs, buffers.outputs);
        self.clock = Some(info.clock_samples + DurationSamples(info.frames as i64));
        self.snapshots.write(self.filter.snapshot());
        ProcessStatus::OutputsModified
    }

    fn new_stream(&mut self, stream: &StreamInfo, _: &mut ProcStreamCtx) {
        // At a sample rate out of range, the old filter stays.
        let rate = stream.sample_rate.get();
        if let Ok(mut filter) = ToneFilter::new(rate.into(), self.filter.settings()) {
            filter.set_keyboard(self.filter.keyboard());
            filter.set_score(self.filter.set_score(None));
            filter.seek(self.filter.score_time());
            (self.filter, self.clock) = (filter, None);
        }
    }
}

/// Compiles and runs the Rust in the manual.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/manual/games.md")]
struct Manual;
