//! The CLAP and VST3 plugin: a thin shell around [`ToneFilter`].

use crate::{
    dsp::ToneFilter,
    editor::ToneFilterEditor,
    meters::{MeterInput, Meters, meters},
    params::{ToneFilterParams, clamp_state},
};
use nice_plug::prelude::*;
use nice_plug_egui::RepaintNotifier;
use std::sync::Arc;

/// The plugin as hosts see it.
pub struct ToneFilterPlugin {
    params: Arc<ToneFilterParams>,
    /// To the editor, which holds the other ends.
    meter_input: MeterInput,
    meters: Meters,
    repaint: RepaintNotifier,
    /// Built when the host tells the sample rate.
    active: Option<Active>,
}

/// What exists between activation and deactivation.
struct Active {
    filter: ToneFilter,
    /// Hz.
    sample_rate: f64,
    /// The most frames that the host has promised to send at once.
    max_frames: usize,
    /// Frames since the input was last anything but digital silence.
    silent_frames: u32,
}

impl Default for ToneFilterPlugin {
    fn default() -> Self {
        let (meter_input, meters) = meters();
        Self {
            params: Arc::default(),
            meter_input,
            meters,
            repaint: RepaintNotifier::new(),
            active: None,
        }
    }
}

/// A layout of as many inputs as outputs.
const fn layout(channels: u32) -> AudioIOLayout {
    AudioIOLayout {
        main_input_channels: NonZeroU32::new(channels),
        main_output_channels: NonZeroU32::new(channels),
        ..AudioIOLayout::const_default()
    }
}

impl Plugin for ToneFilterPlugin {
    const NAME: &'static str = "Tone Filter";
    const VENDOR: &'static str = "Tone Filter";
    // There is neither a page nor an address to point to.
    const URL: &'static str = "";
    const EMAIL: &'static str = "";
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");

    const AUDIO_IO_LAYOUTS: &'static [AudioIOLayout] = &[layout(2), layout(1)];
    const SAMPLE_ACCURATE_AUTOMATION: bool = true;
    // An event more than fits is allocated on the audio thread.
    const INPUT_EVENT_CAPACITY: usize = 8192;

    type Editor = ToneFilterEditor;
    type SysExMessage = ();
    type BackgroundTask = ();

    fn params(&self) -> Arc<dyn Params> {
        self.params.clone()
    }

    fn editor(&mut self, _executor: AsyncExecutor<Self>) -> Option<ToneFilterEditor> {
        let (params, meters) = (self.params.clone(), self.meters.clone());
        Some(ToneFilterEditor::new(params, meters, self.repaint.clone()))
    }

    fn filter_state(state: &mut PluginState) {
        clamp_state(state);
    }

    fn activate(
        &mut self,
        _layout: &AudioIOLayout,
        config: &BufferConfig,
        _context: &mut impl ActivateContext<Self>,
    ) -> bool {
        let sample_rate = f64::from(config.sample_rate);
        self.meter_input.set_sample_rate(sample_rate);
        self.active =
            ToneFilter::new(sample_rate, &self.params.settings()).ok().map(|filter| Active {
                filter,
                sample_rate,
                max_frames: config.max_buffer_size as usize,
                silent_frames: 0,
            });
        self.active.is_some()
    }

    fn deactivate(&mut self) {
        self.active = None;
    }

    fn reset(&mut self) {
        if let Some(active) = &mut self.active {
            active.follow(&self.params);
            active.filter.reset();
            active.silent_frames = 0;
        }
    }

    fn process(
        &mut self,
        buffer: &mut Buffer,
        _aux: &mut AuxiliaryBuffers,
        _context: &mut impl ProcessContext<Self>,
    ) -> ProcessStatus {
        let Some(active) = &mut self.active else {
            return ProcessStatus::Error("process without activation");
        };
        active.follow(&self.params);
        let status = active.process(buffer);
        if self.meter_input.advance(buffer.samples(), || active.filter.bands()) {
            self.repaint.request_repaint();
        }
        status
    }

    /// `Some(false)` leaves the host's standard error and panic hook alone.
    fn setup_logger() -> Option<bool> {
        Some(false)
    }
}

impl Active {
    /// Sets out for what the parameters say.
    fn follow(&mut self, params: &ToneFilterParams) {
        // They are within their ranges, so this does not fail; if it did, the sound would stay.
        let _ = self.filter.set_settings(&params.settings());
    }

    fn process(&mut self, buffer: &mut Buffer) -> ProcessStatus {
        // nice-plug splits at the times of events without checking them, and an event after the
        // block's end makes a buffer of samples that are not ours.
        if buffer.samples() > self.max_frames {
            return ProcessStatus::Error("more samples than the host announced");
        }
        let channels = buffer.as_slice();
        let silent = channels.iter().all(|channel| channel.iter().all(|sample| *sample == 0.0));
        self.filter.process(channels);

        // A host stops asking for silence only after `Normal`, but cuts the tail off there.
        let tail = (ToneFilter::tail(self.filter.settings()) * self.sample_rate).ceil() as u32;
        let frames = buffer.samples() as u32;
        self.silent_frames = if silent { self.silent_frames.saturating_add(frames) } else { 0 };
        if self.silent_frames < tail { ProcessStatus::Tail(tail) } else { ProcessStatus::Normal }
    }
}

impl ClapPlugin for ToneFilterPlugin {
    const CLAP_ID: &'static str = "org.tone-filter.tone-filter";
    const CLAP_DESCRIPTION: Option<&'static str> =
        Some("Picks the notes out of any music and gives them an 8-bit edge");
    const CLAP_MANUAL_URL: Option<&'static str> = None;
    const CLAP_SUPPORT_URL: Option<&'static str> = None;
    const CLAP_FEATURES: &'static [ClapFeature] = &[
        ClapFeature::AudioEffect,
        ClapFeature::Filter,
        ClapFeature::Distortion,
        ClapFeature::Stereo,
        ClapFeature::Mono,
    ];
}

impl Vst3Plugin for ToneFilterPlugin {
    const VST3_CLASS_ID: [u8; 16] = *b"ToneFilter48Bank";
    const VST3_SUBCATEGORIES: &'static [Vst3SubCategory] =
        &[Vst3SubCategory::Fx, Vst3SubCategory::Filter, Vst3SubCategory::Distortion];
}

nice_export_clap!(ToneFilterPlugin);
nice_export_vst3!(ToneFilterPlugin);
