//! Property test: CLAP and VST3 hosts that call the plugin in random orders. The orders are allowed by the formats, or used by
//! hosts nevertheless. A failing order is shrunk. The environment variable `TONE_FILTER_ORDERS` is the number of orders, or a
//! range of seeds such as 17..18.
//!
//! A model of the plugin checks three things. Since the last reset, the output equals the library's for the same blocks and
//! settings, bit for bit. Values and states equal those of an inactive instance with the same changes. A block does not allocate
//! and, in CLAP, makes no system call.

mod clap;
mod vst3;

use self::{clap::ClapHost, vst3::Vst3Host};
use crate::{
    display,
    memory::{Memory, share_one_heap},
    syscalls,
};
use proptest::{
    collection::vec,
    prelude::*,
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::{
    cell::RefCell,
    collections::HashSet,
    env,
    ops::Range,
    panic,
    sync::{
        LazyLock,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};
use tone_filter_dsp::{CHOICES, Controls, SPECS, ToneFilter};
use tone_filter_testkit::{
    Signal, assert_same_bits,
    clap::{Change, Instance, Parameter, parameter_id},
    display::Display,
    plugin::{controls_in, factory, instance, music, wait, without_window},
    sweep,
};

/// Environment variable that selects the orders: their number, or a range of seeds such as `17..18`.
const VARIABLE: &str = "TONE_FILTER_ORDERS";

/// Default number of orders per format: usually, and if sweeps run all cases.
const ORDERS: [u64; 2] = [100, 1000];

/// Sample rates in Hz. The first one is the default of a VST3 plugin without set-up.
const RATES: [f64; 6] = [44_100.0, 48_000.0, 96_000.0, 8_000.0, 1234.5678_f32 as f64, 768_000.0];

/// Maximum buffer length in frames.
const LONGEST: usize = 600;

/// Width and height of a new window in pixels.
const SIZE: [u32; 2] = [1000, 640];

/// Heap growth per order, in bytes, that counts as a leak.
const LEAK: usize = 8192;

/// Pixel of the slider Mix in a window of [`SIZE`].
const MIX: [i16; 2] = [100, 100];

/// Index of a parameter, and its normalised value.
type Value = (usize, f64);

/// Call of a host. A call that the plugin's state forbids is skipped.
#[derive(Debug, Clone, Copy)]
enum Step {
    /// Activates the plugin: in CLAP at the rate with this index in [`RATES`], in VST3 at the rate set before.
    Activate(usize),
    /// Sets the rate with this index in [`RATES`], in VST3 only. Some hosts do so while the plugin is active.
    SetUp(usize),
    Deactivate,
    Start,
    Stop,
    Reset,
    /// Plays this number of frames. A parameter may change at a frame, taken modulo the number of frames.
    Play(usize, Option<(usize, Value)>),
    /// Sets a parameter between buffers.
    Set(Value),
    Save,
    /// Loads the last saved state, or the default one.
    Load,
    Latency,
    /// Calls the plugin on the main thread, if the plugin has requested it.
    Idle,
    Window(Window),
}

#[derive(Debug, Clone, Copy)]
enum Window {
    /// Creates the window, sets this scale and then the parent, and shows it.
    Open(f64),
    Resize([u32; 2]),
    /// Hides the window and shows it again.
    Hide,
    Close,
    /// Opens the window if needed, and turns the mouse wheel over the slider Mix.
    Edit,
}

fn step() -> impl Strategy<Value = Step> {
    let value = || (0..SPECS.len() + CHOICES.len(), 0.0..=1.0);
    let change = prop_oneof![2 => Just(None), 1 => (0..LONGEST, value()).prop_map(Some)];
    let call = prop_oneof![
        4 => (0..RATES.len()).prop_map(Step::Activate),
        1 => (0..RATES.len()).prop_map(Step::SetUp),
        1 => Just(Step::Deactivate),
        4 => Just(Step::Start),
        2 => Just(Step::Stop),
        1 => Just(Step::Reset),
        8 => (0..=LONGEST, change).prop_map(|(frames, change)| Step::Play(frames, change)),
        3 => value().prop_map(Step::Set),
        1 => Just(Step::Save),
        1 => Just(Step::Load),
        1 => Just(Step::Latency),
        1 => Just(Step::Idle),
    ];
    let open = prop_oneof![Just(1.0), 1.0..2.0].prop_map(Window::Open);
    let resize = (480..1600u32, 300..1200u32).prop_map(|(width, height)| [width, height]);
    let window = prop_oneof![
        1 => open,
        1 => resize.prop_map(Window::Resize),
        1 => Just(Window::Hide),
        1 => Just(Window::Close),
        4 => Just(Window::Edit),
    ];
    prop_oneof![120 => call, 1 => window.prop_map(Step::Window)]
}

/// Plugin in a host of one format. In VST3, too, values have CLAP's units, and states have CLAP's format.
///
/// Calls alternate between audio threads, as in hosts with a thread pool.
trait Host {
    /// Whether this is VST3: a call of its own sets the rate, `process` may be called at any time, and each start resets.
    const VST3: bool;

    fn set_up(&mut self, rate: f64);
    fn activate(&mut self);
    fn deactivate(&mut self);
    fn start(&mut self);
    fn stop(&mut self);
    fn reset(&mut self);
    /// Plays a buffer in place. Returns whether the plugin processed it.
    fn play(&mut self, signal: &mut Signal, changes: &[Change]) -> bool;
    /// Sets a parameter. Returns whether the change takes effect immediately; otherwise it comes with the next buffer.
    fn set(&mut self, change: Change) -> bool;
    fn value(&mut self, parameter: u32) -> f64;
    fn save(&mut self) -> Vec<u8>;
    fn load(&mut self, state: &[u8]);
    fn latency(&mut self) -> usize;
    fn idle(&mut self);
    /// Makes a call to the window, unless the window's state forbids it.
    fn window(&mut self, call: Window, display: &Display);
    /// Returns width and height of the window in pixels. `None` if it is closed, or if the host could not see an edit.
    fn window_size(&mut self) -> Option<[u32; 2]>;
    /// Checks the plugin's requests. `_outdated`: whether the settings require a latency other than the current one.
    fn check(&mut self, _outdated: bool) {}
}

pub fn any_order_keeps_the_promises() {
    let display = display([1600, 1200]);
    test_orders("CLAP", &display, ClapHost::new);
    let factory = factory();
    test_orders("VST3", &display, |bare| Vst3Host::new(&factory, bare));
}

/// Audio threads, used alternately.
static THREADS: LazyLock<[ThreadPool; 2]> = LazyLock::new(|| {
    [0; 2].map(|_| {
        let pool = ThreadPoolBuilder::new().num_threads(1).start_handler(|_| syscalls::watch());
        pool.build().expect("a thread")
    })
});

static TURNS: AtomicUsize = AtomicUsize::new(0);

/// Whether blocks may allocate. The first ones may: at the first access on each thread, the loader allocates thread-local data.
static MAY_ALLOCATE: AtomicBool = AtomicBool::new(false);

fn on_audio_thread<T: Send>(call: impl FnOnce() -> T + Send) -> T {
    THREADS[TURNS.fetch_add(1, Ordering::Relaxed) % THREADS.len()].install(call)
}

/// Runs a call of `process`, which must neither allocate nor make system calls.
fn block(call: &mut dyn FnMut()) {
    without_allocations(syscalls::counted, call);
}

/// Runs a call of `process`, which must not allocate but may make system calls.
fn block_with_system_calls(call: &mut dyn FnMut()) {
    without_allocations(syscalls::allocations, call);
}

fn without_allocations(count: fn(&mut dyn FnMut()) -> usize, call: &mut dyn FnMut()) {
    match MAY_ALLOCATE.load(Ordering::Relaxed) {
        true => call(),
        false => assert_eq!(count(call), 0, "allocations in a block"),
    }
}

/// Tests the orders that [`VARIABLE`] selects. `create` makes a host; with `true`, a bare one without extensions.
fn test_orders<H: Host>(name: &str, display: &Display, create: impl Fn(bool) -> H) {
    share_one_heap();
    let wanted = env::var(VARIABLE);
    let wanted = wanted.unwrap_or_else(|_| ORDERS[usize::from(sweep::all())].to_string());
    let number = |text: &str| text.parse::<u64>().unwrap_or_else(|_| panic!("{VARIABLE}={wanted}"));
    let seeds: Range<u64> = match wanted.split_once("..") {
        Some((first, end)) => number(first)..number(end),
        None => 0..number(&wanted),
    };
    let (reference, music) = (RefCell::new(instance()), music(0.5, RATES[1]));
    let default = reference.borrow_mut().save().unwrap();
    MAY_ALLOCATE.store(true, Ordering::Relaxed);
    {
        let mut reference = reference.borrow_mut();
        let mut order = Order::new(create(false), &mut reference, display, &music);
        order.call(Step::Activate(1));
        order.call(Step::Start);
        let value = |index| Some((0, (0, f64::from(index) / 8.0)));
        (0..8).for_each(|index| order.call(Step::Play(LONGEST, value(index))));
    }
    MAY_ALLOCATE.store(false, Ordering::Relaxed);
    let (count, middle) = (seeds.end - seeds.start, seeds.start.midpoint(seeds.end));
    let mut heap = 0;
    for seed in seeds {
        if seed == middle {
            heap = Memory::now().heap;
        }
        let bytes: Vec<u8> = seed.to_le_bytes().repeat(4);
        let config = Config {
            cases: 1,
            failure_persistence: None,
            max_shrink_iters: 1000,
            // Milliseconds.
            max_shrink_time: 120_000,
            ..Config::default()
        };
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
        let repeat = format!("{name}: {VARIABLE}={seed}..{} repeats the order", seed + 1);
        // A panic or a system call in the plugin ends the process, so the order is printed first.
        println!("{repeat}");
        // Prints the first panic only; shrinking causes more.
        let (hook, told, remark) = (panic::take_hook(), AtomicBool::new(false), repeat.clone());
        panic::set_hook(Box::new(move |info| {
            if !told.swap(true, Ordering::Relaxed) {
                eprintln!("{info}\n{remark}");
            }
        }));
        let orders = (any::<bool>(), vec(step(), 1..40));
        let result = TestRunner::new_with_rng(config, rng).run(&orders, |(bare, steps)| {
            let reference = &mut reference.borrow_mut();
            reference.load(&default).unwrap();
            let mut order = Order::new(create(bare), reference, display, &music);
            steps.into_iter().for_each(|step| order.call(step));
            Ok(())
        });
        panic::set_hook(hook);
        result.unwrap_or_else(|error| panic!("{repeat}\n{error}"));
    }
    // The first orders fill caches, so a short run cannot tell a leak.
    if count >= 200 {
        let leak = Memory::now().heap.saturating_sub(heap) / (count / 2) as usize;
        assert!(leak < LEAK, "{name}: {leak} bytes an order stay on the heap");
    }
}

struct Order<'a, H> {
    host: H,
    display: &'a Display,
    /// Instance with the same settings that is never active: the host must see the same values and states.
    reference: &'a mut Instance,
    parameters: Vec<Parameter>,
    /// Settings at the start of the next buffer.
    heard: Controls,
    /// Settings that the host sees. They include changes that wait for the next buffer.
    shown: Controls,
    /// Filter of the library; `None` while the plugin is inactive.
    filter: Option<ToneFilter>,
    processes: bool,
    /// Whether processing has been started since the activation.
    started: bool,
    rate: f64,
    /// Whether the current latency includes the lookahead.
    late: bool,
    saved: Vec<u8>,
    music: &'a Signal,
    position: usize,
}

impl<'a, H: Host> Order<'a, H> {
    fn new(host: H, reference: &'a mut Instance, display: &'a Display, music: &'a Signal) -> Self {
        let saved = reference.save().unwrap();
        let heard = controls_in(&saved);
        let parameters = reference.parameters().unwrap();
        Self {
            host,
            display,
            reference,
            parameters,
            heard,
            shown: heard,
            filter: None,
            processes: false,
            started: false,
            rate: RATES[0],
            late: false,
            saved,
            music,
            position: 0,
        }
    }

    fn call(&mut self, step: Step) {
        let active = self.filter.is_some();
        match step {
            Step::Activate(rate) if !active => {
                if !H::VST3 {
                    self.set_up(rate);
                }
                self.host.activate();
                self.begin();
            }
            Step::SetUp(rate) if H::VST3 => {
                self.set_up(rate);
                if active {
                    self.begin();
                }
            }
            Step::Deactivate if active => {
                if self.processes {
                    self.call(Step::Stop);
                }
                self.host.deactivate();
                self.heard = self.shown;
                self.filter = None;
            }
            Step::Start if active && !self.processes => {
                self.host.start();
                self.processes = true;
                if H::VST3 || !self.started {
                    self.reset();
                }
                self.started = true;
            }
            Step::Stop if self.processes => {
                self.host.stop();
                self.processes = false;
            }
            Step::Reset if active => {
                self.host.reset();
                self.reset();
            }
            Step::Play(frames, change) if self.processes || H::VST3 => self.play(frames, change),
            Step::Set(value) => {
                let change = self.change(0, value);
                self.set_reference(change);
                if self.host.set(change) {
                    self.heard = self.shown;
                }
            }
            Step::Save => {
                let saved = self.host.save();
                assert_eq!(controls_in(&saved), self.shown, "the state");
                self.heard = self.shown;
                self.saved = saved;
            }
            Step::Load => {
                let saved = &self.saved;
                self.host.load(saved);
                self.reference.load(saved).unwrap();
                self.shown = controls_in(saved);
                let loaded = without_window(&self.host.save());
                assert_eq!(loaded, without_window(saved), "the state");
                self.heard = self.shown;
            }
            Step::Latency => self.latency(),
            Step::Idle => self.host.idle(),
            Step::Window(Window::Edit) => self.edit(),
            Step::Window(call) => self.host.window(call, self.display),
            _ => return,
        }
        for parameter in &self.parameters {
            let expected = self.reference.value(parameter.id).unwrap();
            let value = self.host.value(parameter.id);
            let near = 1e-6 * (parameter.max - parameter.min);
            assert!(
                (value - expected).abs() <= near,
                "{}: {value}, not {expected}",
                parameter.name
            );
        }
        self.host.check(self.filter.is_some() && self.shown.settings.lookahead != self.late);
    }

    /// Sets a parameter of the reference instance and in `shown`.
    fn set_reference(&mut self, change: Change) {
        self.reference.set(&[Change { frame: 0, ..change }]).unwrap();
        self.shown = controls_in(&self.reference.save().unwrap());
    }

    fn change(&self, frame: usize, (index, share): Value) -> Change {
        let parameter = &self.parameters[index];
        let value = parameter.value(share);
        let value = if parameter.stepped { value.round() } else { value };
        Change { frame, parameter: parameter.id, value }
    }

    fn set_up(&mut self, rate: usize) {
        self.rate = RATES[rate];
        self.host.set_up(self.rate);
    }

    /// Restarts the model after an activation or a change of the rate.
    fn begin(&mut self) {
        self.heard = self.shown;
        self.late = self.heard.settings.lookahead;
        self.started = false;
        self.filter = Some(ToneFilter::new(self.rate, &self.heard.settings).unwrap());
        self.reset();
    }

    /// Turns the wheel two notches over Mix. The second notch must start from the value after the first one.
    fn edit(&mut self) {
        self.host.window(Window::Open(1.0), self.display);
        if self.host.window_size() != Some(SIZE) {
            return;
        }
        let parameter = parameter_id("mix");
        let colours =
            || self.display.picture(SIZE).unwrap().pixels.into_iter().collect::<HashSet<_>>();
        wait("the window is not painted", || (colours().len() >= 9).then_some(()));
        let up = self.host.value(parameter) <= 0.5;
        let (button, notch) = if up { (4, 0.01) } else { (5, -0.01) };
        for _ in 0..2 {
            let before = self.host.value(parameter);
            self.display.click(MIX, button).unwrap();
            let value = || Some(self.host.value(parameter)).filter(|value| *value != before);
            let after = wait("an edit has no effect", value);
            assert!((after - before - notch).abs() < 1e-3, "{before} becomes {after}");
            self.set_reference(Change { frame: 0, parameter, value: after });
        }
        self.heard = self.shown;
    }

    /// Sets the library's filter to the settings of the next buffer, and returns it; `None` while the plugin is inactive.
    fn follow(&mut self) -> Option<&mut ToneFilter> {
        let (Controls { mut settings, routing }, filter) = (self.heard, self.filter.as_mut()?);
        settings.lookahead = self.late;
        filter.set_settings(&settings).unwrap();
        filter.set_routing(routing);
        filter.detect_notes(routing.midi_out);
        Some(filter)
    }

    fn reset(&mut self) {
        if let Some(filter) = self.follow() {
            filter.reset();
        }
        self.position = 0;
    }

    fn latency(&mut self) {
        let latency = self.host.latency();
        let lookahead = |on: bool| if on { ToneFilter::lookahead(self.rate) } else { 0 };
        if H::VST3 {
            // While the plugin is active, its latency changes only once the host has read the new one.
            assert!(
                [self.late, self.heard.settings.lookahead].map(lookahead).contains(&latency),
                "a latency of {latency}"
            );
            self.late = latency > 0;
        } else {
            assert_eq!(latency, lookahead(self.late), "latency");
        }
    }

    fn play(&mut self, frames: usize, change: Option<(usize, Value)>) {
        let from = self.position;
        let part = |channel: &Vec<f32>| {
            (from..from + frames).map(|frame| channel[frame % channel.len()]).collect()
        };
        let mut output: Signal = self.music.iter().map(part).collect();
        let mut expected = output.clone();
        let change = change.filter(|_| frames > 0);
        let change = change.map(|(frame, value)| self.change(frame % frames, value));
        let processed = self.host.play(&mut output, change.as_slice());
        assert_eq!(processed, self.filter.is_some() || frames == 0, "whether it is processed");
        if self.filter.is_none() && frames > 0 {
            return;
        }
        self.heard = self.shown;
        let middle = change.map_or(frames, |change| change.frame);
        let mut from = 0;
        for to in [middle, frames] {
            let mut parts: Vec<_> = expected.iter_mut().map(|c| &mut c[from..to]).collect();
            // The host passes no sidechain, so the plugin uses the main input as one.
            let sidechain: Vec<_> = parts.iter().map(|part| part.to_vec()).collect();
            let sidechain: Vec<_> = sidechain.iter().map(Vec::as_slice).collect();
            if let Some(filter) = self.follow()
                && to > from
            {
                filter.process_events(&mut parts, &sidechain, [], |_, _| ());
            }
            if let Some(change) = change.filter(|_| to == middle) {
                self.set_reference(change);
                self.heard = self.shown;
            }
            from = to;
        }
        self.position += frames;
        assert_same_bits(&output, &expected);
    }
}
