//! The CLAP and VST3 plugin: a thin shell around [`ToneFilter`].

mod clap_entry;
mod clap_events;
mod clap_extensions;
mod clap_host;
mod handover;
mod note_input;
mod note_output;
mod preset_discovery;
mod told;
mod vst3_entry;

pub use clap_entry::clap_entry;

use crate::{
    dsp::{DEFAULT_TEMPO, ToneFilter, kernel::Kernel},
    editor::ToneFilterEditor,
    meters::{MeterInput, Meters, meters},
    params::{ToneFilterParams, complete_state},
};
use nice_plug::prelude::*;
use nice_plug_egui::RepaintNotifier;
use note_input::{NoteInput, NoteQueue};
use note_output::NoteOutput;
use std::sync::Arc;

/// The plugin as hosts see it.
pub struct ToneFilterPlugin {
    params: Arc<ToneFilterParams>,
    /// The audio thread's end of the meters.
    meter_input: MeterInput,
    /// The editor's end of the meters.
    meters: Meters,
    repaint: RepaintNotifier,
    /// `None` until the host activates the plugin with a sample rate.
    active: Option<Active>,
}

/// The state between activation and deactivation.
struct Active {
    filter: ToneFilter,
    /// Hz.
    sample_rate: f64,
    /// The largest block that the host has announced, in frames.
    max_frames: usize,
    /// Frames of digital silence at the input so far.
    silent_frames: u32,
    note_input: NoteInput,
    note_output: NoteOutput,
    /// The song's beats a minute, and whether it plays.
    tempo: f64,
    playing: bool,
    /// The parameters' changes and the tempo that the filter has followed last.
    followed: Option<(u32, f64)>,
}

impl Default for ToneFilterPlugin {
    fn default() -> Self {
        let (meter_input, meters) = meters();
        let params = Arc::default();
        handover::put(&params);
        Self { params, meter_input, meters, repaint: RepaintNotifier::new(), active: None }
    }
}

/// A layout with `channels` inputs and as many outputs, and with these sidechains.
const fn layout(
    name: &'static str,
    channels: u32,
    sidechains: &'static [NonZeroU32],
) -> AudioIOLayout {
    AudioIOLayout {
        main_input_channels: NonZeroU32::new(channels),
        main_output_channels: NonZeroU32::new(channels),
        aux_input_ports: sidechains,
        names: PortNames {
            layout: Some(name),
            aux_inputs: &["Sidechain"],
            ..PortNames::const_default()
        },
        ..AudioIOLayout::const_default()
    }
}

impl Plugin for ToneFilterPlugin {
    const NAME: &'static str = "Tone Filter";
    const VENDOR: &'static str = "Tone Filter";
    // The project has no web page and no mail address.
    const URL: &'static str = "";
    const EMAIL: &'static str = "";
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");

    const AUDIO_IO_LAYOUTS: &'static [AudioIOLayout] = &[
        layout("Stereo with sidechain", 2, &[new_nonzero_u32(2)]),
        layout("Mono with sidechain", 1, &[new_nonzero_u32(1)]),
        layout("Stereo", 2, &[]),
        layout("Mono", 1, &[]),
    ];
    const SAMPLE_ACCURATE_AUTOMATION: bool = true;
    // Pitch bend and the sustain pedal come with the controllers.
    const MIDI_INPUT: MidiConfig = MidiConfig::MidiCCs;
    const MIDI_OUTPUT: MidiConfig = MidiConfig::MidiCCs;
    // More events than this in a block would be allocated on the audio thread.
    const INPUT_EVENT_CAPACITY: usize = 8192;

    type Editor = ToneFilterEditor;
    type SysExMessage = ();
    type BackgroundTask = ();

    fn params(&self) -> Arc<dyn Params> {
        self.params.clone()
    }

    fn editor(&mut self, _executor: AsyncExecutor<Self>) -> Option<ToneFilterEditor> {
        let (params, meters) = (self.params.clone(), self.meters.clone());
        let editor = ToneFilterEditor::new(params, meters, self.repaint.clone());
        handover::put_presets(editor.preset_loader());
        Some(editor)
    }

    fn filter_state(state: &mut PluginState) {
        complete_state(state);
    }

    fn activate(
        &mut self,
        _layout: &AudioIOLayout,
        config: &BufferConfig,
        context: &mut impl ActivateContext<Self>,
    ) -> bool {
        self.meter_input.set_sample_rate(f64::from(config.sample_rate));
        self.active = Active::new(&self.params, config);
        if let Some(active) = &self.active {
            context.set_latency_samples(active.latency());
        }
        self.active.is_some()
    }

    fn deactivate(&mut self) {
        self.active = None;
    }

    fn reset(&mut self) {
        // `reset` runs on the audio thread before the first block. In hosts without `clap.thread-check`, nice-plug asks
        // for the current thread's id while processing, which allocates on the first call. This is the first call.
        std::hint::black_box(std::thread::current().id());
        if let Some(active) = &mut self.active {
            active.follow(&self.params);
            active.filter.reset();
            active.note_input.clear();
            active.note_output.clear();
            active.silent_frames = 0;
        }
    }

    fn process(
        &mut self,
        buffer: &mut Buffer,
        aux: &mut AuxiliaryBuffers,
        context: &mut impl ProcessContext<Self>,
    ) -> ProcessStatus {
        let Some(active) = &mut self.active else {
            return ProcessStatus::Error("process without activation");
        };
        active.transport(context.transport());
        active.follow(&self.params);
        // nice-plug notifies the host if the latency has changed.
        context.set_latency_samples(active.latency());
        let sidechain = aux.inputs.first_mut().map_or(&mut [][..], |input| input.as_slice());
        let status = active.process(buffer, sidechain, &mut self.meter_input, context);
        if self.meter_input.advance(buffer.samples(), || active.filter.snapshot()) {
            self.repaint.request_repaint();
        }
        status
    }

    /// `Some(false)`: no logger and no panic hook are installed in the host's process.
    fn setup_logger() -> Option<bool> {
        Some(false)
    }
}

impl Active {
    /// `None` if the sample rate is out of range.
    fn new(params: &ToneFilterParams, config: &BufferConfig) -> Option<Self> {
        let sample_rate = f64::from(config.sample_rate);
        let filter = ToneFilter::new(sample_rate, &params.settings()).ok()?;
        // An unknown name in the environment variable is ignored: the plugin must not fail in a host because of it.
        let filter =
            filter.with_kernel(Kernel::from_environment().unwrap_or_else(|_| Kernel::best()));
        Some(Self {
            filter,
            sample_rate,
            max_frames: config.max_buffer_size as usize,
            silent_frames: 0,
            note_input: NoteInput::new(),
            note_output: NoteOutput::new(),
            tempo: DEFAULT_TEMPO,
            playing: false,
            followed: None,
        })
    }

    /// Follows the song: its tempo, and its stop, which releases the keys.
    fn transport(&mut self, transport: &Transport) {
        self.tempo = transport.tempo.unwrap_or(DEFAULT_TEMPO);
        if self.playing && !transport.playing {
            self.note_input.clear();
            self.filter.release_keys();
        }
        self.playing = transport.playing;
    }

    /// Passes the parameters' values to the filter, which smooths them, if any has changed.
    fn follow(&mut self, params: &ToneFilterParams) {
        let now = Some((params.changes(), self.tempo));
        if self.followed == now {
            return;
        }
        self.followed = now;
        // The parameters keep values within their ranges, so this does not fail. If it did, the settings would stay.
        let _ = self.filter.set_settings(&params.settings().at_tempo(self.tempo));
    }

    /// Latency in frames.
    fn latency(&self) -> u32 {
        self.filter.latency() as u32
    }

    /// Frames for which the output goes on after the input has ended.
    fn tail(&self) -> u32 {
        let tail = ToneFilter::tail(self.filter.settings()) * self.sample_rate;
        tail.ceil() as u32 + self.latency()
    }

    fn process(
        &mut self,
        buffer: &mut Buffer,
        sidechain: &mut [&mut [f32]],
        meters: &mut MeterInput,
        queue: &mut impl NoteQueue,
    ) -> ProcessStatus {
        // A longer block than announced is refused, as buffers may be shorter than the host says.
        if buffer.samples() > self.max_frames {
            return ProcessStatus::Error("more samples than the host announced");
        }
        let channels = buffer.as_slice();
        let mut heard = channels.iter().chain(&*sidechain).flat_map(|channel| channel.iter());
        let silent = heard.all(|sample| *sample == 0.0);
        let sidechain = match sidechain {
            [] => &[][..],
            [one] => &[&**one][..],
            [left, right, ..] => &[&**left, &**right][..],
        };
        meters.measure(channels, |channels| {
            let Self { filter, note_input, note_output, .. } = self;
            note_input.process(filter, channels, sidechain, note_output, queue);
        });

        if self.filter.settings().freeze {
            return ProcessStatus::KeepAlive;
        }
        // With `Normal` a host may stop processing silence, so it must not come before the tail has ended.
        let tail = self.tail();
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

#[cfg(test)]
mod tests {
    use super::{note_input::TestQueue, *};
    use crate::dsp::Settings;

    fn active(params: &ToneFilterParams, sample_rate: f32) -> Option<Active> {
        let config = BufferConfig {
            sample_rate,
            min_buffer_size: None,
            max_buffer_size: 512,
            process_mode: ProcessMode::Realtime,
        };
        Active::new(params, &config)
    }

    fn process(active: &mut Active, channels: &mut [Vec<f32>]) -> ProcessStatus {
        process_watched(active, channels, &mut meters().0)
    }

    fn process_watched(
        active: &mut Active,
        channels: &mut [Vec<f32>],
        meters: &mut MeterInput,
    ) -> ProcessStatus {
        let mut buffer = Buffer::default();
        let frames = channels[0].len();
        // SAFETY: all channels are `frames` long and outlive the buffer.
        unsafe {
            buffer.set_slices(frames, |slices| {
                *slices = channels.iter_mut().map(Vec::as_mut_slice).collect();
            });
        }
        active.process(&mut buffer, &mut [], meters, &mut TestQueue::default())
    }

    fn set(params: &ToneFilterParams, id: &str, normalized: f32) {
        let (_, param, _) = params.param_map().into_iter().find(|(own, ..)| own == id).unwrap();
        // SAFETY: `params` owns the parameter and is still borrowed.
        unsafe { param._internal_set_normalized_value(normalized) };
    }

    /// A sine in each channel, of different frequencies.
    fn music(frames: usize) -> [Vec<f32>; 2] {
        [220.0, 330.0].map(|hertz| {
            (0..frames).map(|frame| 0.3 * (0.000_1 * hertz * frame as f32).sin()).collect()
        })
    }

    #[test]
    fn it_runs_at_every_valid_sample_rate() {
        let params = ToneFilterParams::default();
        for rate in [1234.5678, 8_000.0, 44_100.0, 768_000.0] {
            let mut active = active(&params, rate).unwrap();
            let mut channels = music(512);
            process(&mut active, &mut channels);
            assert!(channels.iter().flatten().all(|sample| sample.is_finite()), "{rate}");
        }
        for rate in [0.0, -44_100.0, 999.0, f32::NAN, f32::INFINITY] {
            assert!(active(&params, rate).is_none(), "{rate}");
        }
    }

    #[test]
    fn it_sounds_like_the_filter_and_follows_its_parameters() {
        let params = ToneFilterParams::default();
        let mut active = active(&params, 48_000.0).unwrap();
        let mut filter = ToneFilter::new(48_000.0, &Settings::default()).unwrap();
        for block in 0..100 {
            if block == 50 {
                set(&params, "drive", 0.9);
                set(&params, "mix", 1.0);
                set(&params, "stereo", 1.0);
                active.follow(&params);
                filter.set_settings(&params.settings()).unwrap();
                assert_ne!(*filter.settings(), Settings::default());
            }
            let (mut own, mut expected) = (music(500), music(500));
            process(&mut active, &mut own);
            let [left, right] = &mut expected;
            filter.process(&mut [left, right]);
            assert_eq!(own, expected, "block {block}");
        }
    }

    #[test]
    fn nothing_a_host_sets_stops_it() {
        let params = ToneFilterParams::default();
        let mut active = active(&params, 48_000.0).unwrap();
        let ids: Vec<_> = params.param_map().into_iter().map(|(id, ..)| id).collect();
        for normalized in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -1.0, 2.0] {
            for id in &ids {
                set(&params, id, normalized);
                active.follow(&params);
                let expected = params.settings().at_tempo(DEFAULT_TEMPO);
                assert_eq!(*active.filter.settings(), expected, "{id} = {normalized}");
                let mut channels = music(512);
                process(&mut active, &mut channels);
                assert!(channels.iter().flatten().all(|sample| sample.is_finite()));
            }
        }
    }

    #[test]
    fn the_tail_is_reported_until_it_has_ended() {
        let params = ToneFilterParams::default();
        let mut active = active(&params, 48_000.0).unwrap();
        set(&params, "lookahead", 1.0);
        active.follow(&params);
        let tail = (48_000.0 * ToneFilter::tail(&Settings::default())).ceil() as u32 + 2229;
        assert_eq!(process(&mut active, &mut music(512)), ProcessStatus::Tail(tail));
        let silence = || [vec![0.0; 512], vec![0.0; 512]];
        let statuses = (0..tail / 512).map(|_| process(&mut active, &mut silence()));
        assert!(statuses.into_iter().all(|status| status == ProcessStatus::Tail(tail)));
        assert_eq!(process(&mut active, &mut silence()), ProcessStatus::Normal);
        assert_eq!(process(&mut active, &mut music(512)), ProcessStatus::Tail(tail));
    }

    #[test]
    fn an_impulse_is_delayed_by_the_reported_latency_bypassed_or_not() {
        for (rate, latency) in [(44_100.0, 2048), (96_000.0, 4458)] {
            for (lookahead, bypass) in [(0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0)] {
                let params = ToneFilterParams::default();
                set(&params, "mix", 0.0);
                set(&params, "lookahead", lookahead);
                set(&params, "bypass", bypass);
                let mut active = active(&params, rate).unwrap();
                let latency = if lookahead == 1.0 { latency } else { 0 };
                assert_eq!(active.latency(), latency);
                let mut input = vec![0.0; 5120];
                input[37] = 0.5;
                let mut channels = [input.clone(), input];
                for start in (0..5120).step_by(512) {
                    let mut block =
                        channels.each_ref().map(|channel| channel[start..start + 512].to_vec());
                    process(&mut active, &mut block);
                    for (channel, block) in channels.iter_mut().zip(block) {
                        channel[start..start + 512].copy_from_slice(&block);
                    }
                }
                let mut expected = vec![0.0; 5120];
                expected[37 + latency as usize] = 0.5;
                assert_eq!(channels, [expected.clone(), expected], "{rate} Hz");
            }
        }
    }

    #[test]
    fn a_block_longer_than_announced_is_neither_changed_nor_read() {
        let params = ToneFilterParams::default();
        let mut active = active(&params, 48_000.0).unwrap();
        let mut channels = music(513);
        let (mut input, meters) = meters();
        let mut viewer = meters.open();
        let status = process_watched(&mut active, &mut channels, &mut input);
        assert!(matches!(status, ProcessStatus::Error(_)));
        assert_eq!(channels, music(513));
        assert!(input.advance(1, || active.filter.snapshot()));
        let heard = viewer.latest().map(|update| update.sound);
        let nothing = [const { Vec::new() }; 2];
        assert_eq!(heard, Some(nothing), "an open editor must not read them either");
    }
}
