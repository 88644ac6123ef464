//! CLAP and VST3 plugin: a thin shell around [`ToneFilter`].

mod host_extensions;
mod midi_learn;
mod notes;

use crate::{
    editor::{self, RepaintNotifier, ToneFilterEditor},
    meters::{MeterInput, Meters, meters},
    params::{ScoreOutput, ToneFilterParams, complete_state},
    session::Session,
};
use host_extensions::Guarded;
use midi_learn::MidiLearn;
use nice_plug::prelude::*;
use notes::Notes;
use plugin_guard::{HostLink, Latency, Task, construction};
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};
use tone_filter_dsp::{Controls, Kernel, KeyEvent, ToneFilter};
use tone_filter_presets::Folder;

/// The plugin that nice-plug runs; parameters and state outlive each activation.
pub struct ToneFilterPlugin {
    params: Arc<ToneFilterParams>,
    latency: Arc<Latency>,
    meter_input: MeterInput,
    meters: Meters,
    repaint: RepaintNotifier,
    /// Audio thread's end of the score in `params`.
    score: Option<ScoreOutput>,
    /// Program changes and mapped controllers; `None` until nice-plug asks for the editor, before the first activation.
    midi_learn: Option<Arc<MidiLearn>>,
    /// State of the active plugin; `None` while the plugin is inactive.
    active: Option<Active>,
    /// Note queue of the last activation. The next activation takes it over, as it must still end the notes that were sent to
    /// the host.
    notes: Option<Notes>,
}

struct Active {
    filter: ToneFilter,
    /// Latency that the host compensates. `None` in the standalone program, where a change of the setting `lookahead` acts at
    /// once.
    latency: Option<Arc<Latency>>,
    /// Length of the longest buffer that the host has announced, in frames.
    max_frames: usize,
    /// Frames since the last buffer in which the input or the sidechain was not silent.
    silent_frames: u32,
    notes: Notes,
    /// Host's tempo in beats per minute, if the host reports one.
    tempo: Option<f64>,
    /// Whether the host was playing in the last buffer.
    playing: bool,
    /// State at the last [`Active::follow`]: number of setting changes, host's tempo, whether the host compensates lookahead.
    followed: Option<(u32, Option<f64>, Option<bool>)>,
    /// See [`tail`].
    tail: u32,
}

impl Default for ToneFilterPlugin {
    fn default() -> Self {
        let (meter_input, meters) = meters();
        let params = Arc::<ToneFilterParams>::default();
        Self {
            score: params.score.take_output(),
            params,
            latency: Arc::default(),
            meter_input,
            meters,
            repaint: RepaintNotifier::new(),
            midi_learn: None,
            active: None,
            notes: None,
        }
    }
}

plugin_guard::export!(ToneFilterPlugin);

/// Whether this process is the standalone program.
static IS_STANDALONE: AtomicBool = AtomicBool::new(false);

/// Runs the plugin as a standalone program until its window is closed. `args` are the command line: the program's name, then
/// options for the audio and MIDI devices. Returns false if the window could not be opened.
#[cfg(feature = "standalone")]
pub fn run_standalone(args: impl IntoIterator<Item = String>) -> bool {
    IS_STANDALONE.store(true, Ordering::Relaxed);
    nice_plug::wrapper::standalone::nice_export_standalone_with_args::<ToneFilterPlugin, _>(args)
}

/// Returns a layout whose main input and main output have `channels` channels each. `sidechains` has the number of channels of
/// each sidechain.
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
    // The filter needs notes, pitch bend and the sustain pedal. nice-plug passes the latter two only with the controllers.
    const MIDI_INPUT: MidiConfig = MidiConfig::MidiCCs;
    const MIDI_OUTPUT: MidiConfig = MidiConfig::MidiCCs;
    // Events beyond this number in a buffer would be allocated on the audio thread.
    const INPUT_EVENT_CAPACITY: usize = 8192;

    type Editor = ToneFilterEditor;
    type SysExMessage = ();
    type BackgroundTask = Task;

    fn task_executor(&mut self) -> TaskExecutor<Self> {
        Box::new(Task::run)
    }

    fn params(&self) -> Arc<dyn Params> {
        self.params.clone()
    }

    fn editor(&mut self, executor: AsyncExecutor<Self>) -> Option<ToneFilterEditor> {
        let repaint = self.repaint.clone();
        let host = HostLink::new(move || repaint.request_repaint());
        let session = Session::new(self.params.clone(), host, Folder::of_user());
        self.midi_learn = Some(Arc::new(MidiLearn::new(session.clone())));
        let editor = editor::create(session.clone(), self.meters.clone(), self.repaint.clone());
        construction::put(Guarded { session, latency: self.latency.clone() }, executor);
        editor
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
        // The standalone program has no host that could activate the plugin again after a change of latency.
        let compensated = context.plugin_api() != PluginApi::Standalone;
        let latency = compensated.then(|| self.latency.clone());
        let notes = self.notes.take().unwrap_or_default();
        self.active = Active::new(&self.params, latency, config, notes);
        self.active.is_some()
    }

    fn deactivate(&mut self) {
        self.latency.deactivate();
        // A host may deactivate twice.
        self.notes = self.active.take().map(|active| active.notes).or(self.notes.take());
        self.notes.iter_mut().for_each(Notes::clear);
    }

    fn reset(&mut self) {
        // In hosts without `clap.thread-check`, nice-plug asks for the current thread's id while it processes. The first such call
        // on a thread allocates, so it is made here, on the audio thread before the first buffer.
        std::hint::black_box(std::thread::current().id());
        if let Some(active) = &mut self.active {
            active.follow(&self.params);
            active.filter.reset();
            active.notes.clear();
            active.notes.end_detected();
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
        let transport = context.transport();
        self.meter_input.bar = transport.bar_number().filter(|_| transport.playing);
        if let Some(score) = &mut self.score {
            let seconds = transport.pos_seconds().filter(|_| transport.playing);
            follow_score(score, &mut active.filter, seconds);
        }
        let sidechain = aux.inputs.first_mut().map_or(&[][..], |input| input.as_slice());
        let watched = self.meter_input.is_watched();
        active.filter.find_key_and_tuning(watched);
        active.filter.find_tempo(watched && active.tempo.is_none());
        let tempo = f64::from(self.params.tempo.load());
        active.filter.expect_tempo((tempo > 0.0).then_some(tempo));
        let (midi_learn, mut calls) = (self.midi_learn.as_ref(), false);
        let seen = |event: &_| calls |= midi_learn.is_some_and(|it| it.receive(event));
        let status = active.process(buffer, sidechain, &mut self.meter_input, context, seen);
        if let Some(job) = midi_learn.filter(|_| calls) {
            context.execute_gui(Task::new(job.clone()));
        }
        if self.meter_input.advance(buffer.samples(), || active.filter.snapshot()) {
            self.repaint.request_repaint();
        }
        status
    }

    /// Returns `Some(false)` in a host, whose process gets no logger and no panic hook. The standalone program logs to standard error.
    fn setup_logger() -> Option<bool> {
        (!IS_STANDALONE.load(Ordering::Relaxed)).then_some(false)
    }
}

impl Active {
    /// Creates the state for a sample rate; `None` if the rate is out of range.
    fn new(
        params: &ToneFilterParams,
        latency: Option<Arc<Latency>>,
        config: &BufferConfig,
        notes: Notes,
    ) -> Option<Self> {
        let sample_rate = f64::from(config.sample_rate);
        let Controls { settings, routing } = params.controls();
        let filter = ToneFilter::new(sample_rate, &settings).ok()?;
        if let Some(latency) = &latency {
            latency.activate(filter.latency() as u32);
        }
        // An unknown kernel name in the environment variable is ignored, so that the plugin does not fail in a host.
        let mut filter =
            filter.with_kernel(Kernel::from_environment().unwrap_or_else(|_| Kernel::best()));
        filter.set_routing(routing);
        filter.detect_notes(routing.midi_out);
        filter.reset();
        Some(Self {
            tail: tail(&filter),
            filter,
            // The standalone program announces its option's length, but gets JACK's, in memory of its own.
            max_frames: latency.as_ref().map_or(usize::MAX, |_| config.max_buffer_size as usize),
            latency,
            silent_frames: 0,
            notes,
            tempo: None,
            playing: false,
            followed: None,
        })
    }

    /// Takes the host's tempo. When the host stops, discards the waiting note-ons and releases all keys.
    fn transport(&mut self, transport: &Transport) {
        self.tempo = transport.tempo;
        if self.playing && !transport.playing {
            self.notes.clear();
            self.filter.play(KeyEvent::ReleaseAll);
        }
        self.playing = transport.playing;
    }

    /// Passes the parameters to the filter if they, the tempo or the latency have changed.
    fn follow(&mut self, params: &ToneFilterParams) {
        let lookahead = self.latency.as_ref().map(|latency| latency.samples() > 0);
        let now = Some((params.changes.count(), self.tempo, lookahead));
        if self.followed == now {
            return;
        }
        self.followed = now;
        let mut controls = params.controls();
        let settings = &mut controls.settings;
        *settings = self.tempo.map_or(*settings, |tempo| settings.at_tempo(tempo));
        settings.lookahead = lookahead.unwrap_or(settings.lookahead);
        // Never fails, as the parameters are within their ranges. After a failure, the old settings would stay.
        let _ = self.filter.set_controls(&controls);
        self.filter.detect_notes(controls.routing.midi_out);
        self.tail = tail(&self.filter);
    }

    /// Processes a buffer. Passes each event of the host to `seen`.
    fn process(
        &mut self,
        buffer: &mut Buffer,
        sidechain: &[&mut [f32]],
        meters: &mut MeterInput,
        host: &mut impl ProcessContext<ToneFilterPlugin>,
        seen: impl FnMut(&NoteEvent<()>),
    ) -> ProcessStatus {
        // If a host passes more frames than it has announced, the memory of the buffer may be shorter than its stated length.
        if buffer.samples() > self.max_frames {
            return ProcessStatus::Error("more samples than the host announced");
        }
        let channels = buffer.as_slice();
        let mut inputs = channels.iter().chain(sidechain);
        let silent = inputs.all(|channel| channel.iter().all(|sample| *sample == 0.0));
        meters.measure(channels, |channels| {
            let Self { filter, notes, .. } = self;
            notes::process(notes, filter, channels, sidechain, host, seen);
        });

        if self.filter.settings().freeze {
            return ProcessStatus::KeepAlive;
        }
        // After `Normal`, a host may stop processing silence, so the tail must end first.
        let tail = self.tail;
        let frames = buffer.samples() as u32;
        self.silent_frames = if silent { self.silent_frames.saturating_add(frames) } else { 0 };
        if self.silent_frames < tail { ProcessStatus::Tail(tail) } else { ProcessStatus::Normal }
    }
}

/// Returns the tail of `filter` in frames: time from the end of the input to the end of the output.
fn tail(filter: &ToneFilter) -> u32 {
    let tail = ToneFilter::tail(filter.settings()) * filter.sample_rate();
    tail.ceil() as u32 + filter.latency() as u32
}

/// Passes the score to `filter`, and the host's position in the song in `seconds` (`None` while the host has stopped). Without a
/// score or a position, removes the score, so that the listener decides. Never frees a score, as the main thread holds each one,
/// too.
fn follow_score(score: &mut ScoreOutput, filter: &mut ToneFilter, seconds: Option<f64>) {
    let changed = score.update();
    match (score.output_buffer_mut(), seconds) {
        (Some(score), Some(seconds)) => {
            if changed || filter.score().is_none() {
                filter.set_score(Some(score.clone()));
            }
            filter.seek(seconds);
        }
        _ if filter.score().is_some() => drop(filter.set_score(None)),
        _ => {}
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
mod tests;
