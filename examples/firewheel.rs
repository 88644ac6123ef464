//! Renders a sound file through a node of firewheel's graph, without an audio device:
//! `cargo run -p tone-filter-firewheel --example firewheel -- in.wav out.wav`.
//!
//! The output equals the filter's, bit for bit.

pub mod common;

use audioadapter_buffers::direct::InterleavedSlice;
use common::{FRAMES, Result, Sound};
use firewheel::{
    ActivateInfo, FirewheelConfig, FirewheelContext,
    backend::BackendProcessInfo,
    channel_config::ChannelCount,
    diff::Memo,
    node::{NodeID, StreamStatus},
    processor::FirewheelProcessor,
};
use std::{num::NonZeroU32, time::Duration};
use tone_filter_firewheel::{ToneFilterNode, ToneFilterState};

fn main() -> Result<()> {
    common::run(render)
}

/// Renders `input` at `rate` Hz. The game changes the filter before each buffer.
pub fn render(rate: u32, input: &Sound) -> Result<Sound> {
    let (settings, keyboard) = common::state(0);
    let mut filter = Memo::new(ToneFilterNode { settings, keyboard });
    let mut stream = Stream::new(rate, *filter)?;
    let mut output = vec![[0.0; 2]; input.len()];
    for (count, (from, to)) in input.chunks(FRAMES).zip(output.chunks_mut(FRAMES)).enumerate() {
        (filter.settings, filter.keyboard) = common::state(count);
        filter.update_memo(&mut stream.context.event_queue(stream.node));
        stream.context.update()?;
        stream.render(from, to)?;
        if count % 100 == 99 {
            let state = stream.context.node_state_mut::<ToneFilterState>(stream.node);
            common::print(&state.ok_or("the node has no state")?.bands());
        }
    }
    Ok(output)
}

/// Audio graph with the filter between input and output, without an audio device.
pub struct Stream {
    /// Handle of the graph for the game's thread.
    pub context: FirewheelContext,
    /// Id of the filter's node.
    pub node: NodeID,
    /// Processor for the audio callback.
    pub processor: FirewheelProcessor,
}

/// Activates the graph at `rate` Hz. Returns the processor for the audio callback.
pub fn start(context: &mut FirewheelContext, rate: u32) -> Result<FirewheelProcessor> {
    Ok(context.activate(ActivateInfo {
        sample_rate: NonZeroU32::new(rate).ok_or("the sample rate is 0")?,
        max_block_frames: NonZeroU32::new(FRAMES as u32).ok_or("no frames")?,
        num_stream_in_channels: 2,
        num_stream_out_channels: 2,
        input_to_output_latency_seconds: 0.0,
    })?)
}

impl Stream {
    /// Creates a graph at `rate` Hz.
    pub fn new(rate: u32, filter: ToneFilterNode) -> Result<Self> {
        let mut context = FirewheelContext::new(FirewheelConfig {
            num_graph_inputs: ChannelCount::STEREO,
            // The default would replace quiet input by silence.
            clamp_graph_inputs_below: None,
            ..FirewheelConfig::default()
        });
        let node = context.add_node(filter, None)?;
        context.connect_stereo(context.graph_in_node_id(), node, false)?;
        context.connect_stereo(node, context.graph_out_node_id(), false)?;
        let processor = start(&mut context, rate)?;
        Ok(Self { context, node, processor })
    }

    /// Renders the next frames through firewheel.
    pub fn render(&mut self, input: &[[f32; 2]], output: &mut [[f32; 2]]) -> Result<()> {
        let frames = input.len();
        self.processor.process(
            &InterleavedSlice::new(input.as_flattened(), 2, frames)?,
            &mut InterleavedSlice::new_mut(output.as_flattened_mut(), 2, frames)?,
            BackendProcessInfo {
                frames,
                process_timestamp: None,
                duration_since_stream_start: Duration::ZERO,
                input_stream_status: StreamStatus::empty(),
                output_stream_status: StreamStatus::empty(),
                dropped_frames: 0,
                process_to_playback_delay: None,
            },
        );
        Ok(())
    }
}
