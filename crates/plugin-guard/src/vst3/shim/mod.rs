//! The plugin behind a VST3 host's pointer: nice-plug's plugin, with functions replaced because of faults of nice-plug 0.4.2:
//!
//! * While a host processes, nice-plug ignores `setParamNormalized`: it waits for the value in `process`. If `process` is not
//!   called, the host reads and saves the old value. So the shim keeps such a value. The host reads it back. It is applied before
//!   a state is saved, in `setActive`, and before a value that the host sets after processing. The next `process` discards it: a
//!   host also sets, for display, values that it has already passed to `process`.
//! * It has 130 hidden parameters for MIDI controllers on each of 16 channels, which take some hosts minutes to read. The shim
//!   shows one channel's parameters, for the controllers in `CONTROLLERS`, and maps all channels to them.
//! * Before `setupProcessing`, it panics in `process` and refuses `setActive`. The shim first sets it up for 44.1 kHz.
//! * It changes set-up and layout only while inactive. The shim deactivates an active plugin meanwhile. While the plugin is
//!   inactive, the shim refuses buffers with sound; a call with parameters alone passes.
//! * It reports no tail before the first buffer, and after silence. The shim reports that of the current parameters.
//! * Some channel counts crash it. Here, `process` returns an error for them, as in `clap/plugin.rs`.
//!
//! When the latency must change, the shim asks the host to activate the plugin again; see [`Latency`](crate::Latency).

use super::{
    events::Events,
    host_calls::{HostCall, HostCalls},
    sidechain::{Sidechain, is_sidechain},
    worker,
};
use crate::{
    Connection, GuardedPlugin, Instance, Job, Task,
    construction::{Constructed, Execute},
    host_link::lock,
};
use nice_plug::wrapper::vst3::{
    Wrapper,
    vst3::{
        Class, ComPtr, ComRef, ComWrapper,
        Steinberg::{
            Vst::{ChannelContext::IInfoListener, *},
            *,
        },
    },
};
use std::{
    mem,
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread::{self, ThreadId},
};

/// Sentinel: the latency has not been checked since the last call of `setActive`.
const NOT_CHECKED: u64 = u64::MAX;

/// Parameter value that nice-plug has ignored.
struct Pending {
    parameter: ParamID,
    value: ParamValue,
    /// `value` as the plugin rounds it, for the host to read back.
    read_back: ParamValue,
    /// [`Vst3Shim::blocks`] when the value was set.
    blocks: u64,
}

/// The plugin that the host gets: nice-plug's interfaces, with some functions replaced.
pub struct Vst3Shim {
    component: ComPtr<IComponent>,
    controller: ComPtr<IEditController>,
    processor: ComPtr<IAudioProcessor>,
    midi: ComPtr<IMidiMapping>,
    expressions: ComPtr<INoteExpressionController>,
    requirements: ComPtr<IProcessContextRequirements>,
    units: ComPtr<IUnitInfo>,
    listener: ComPtr<IInfoListener>,
    sidechain: Sidechain,
    instance: Arc<dyn Instance>,
    programs: Arc<Programs>,
    views: Arc<Views>,
    /// Ids of the plugin's own parameters, each with its VST3 number, in the order of the parameter map.
    ids: Arc<[(String, ParamID)]>,
    /// [`GuardedPlugin::CONTROLLERS`]: MIDI controllers for which hosts see a parameter.
    controllers: &'static [CtrlNumber],
    events: Events,
    /// Sample rate in Hz, as the bits of an `f64`.
    rate: AtomicU64,
    /// Song tempo in beats per minute, as the bits of an `f64`; NaN if the host reports none.
    tempo: AtomicU64,
    active: AtomicBool,
    processing: AtomicBool,
    calls: Arc<HostCalls>,
    /// Queues a task for nice-plug, for hosts without a run loop.
    execute: Execute,
    /// Thread that created the plugin: the host's main thread.
    thread: ThreadId,
    /// Host context from the factory; taken when the plugin is initialised.
    context: Mutex<Option<ComPtr<FUnknown>>>,
    /// Value of [`Instance::changes`] when the latency was last checked, or [`NOT_CHECKED`].
    checked_changes: AtomicU64,
    /// Number of calls of `process`.
    blocks: AtomicU64,
    /// Values that nice-plug has ignored. The audio thread must not lock them.
    pending: Mutex<Vec<Pending>>,
}

impl Class for Vst3Shim {
    type Interfaces = (
        IComponent,
        IEditController,
        IAudioProcessor,
        IMidiMapping,
        INoteExpressionController,
        IProcessContextRequirements,
        IUnitInfo,
        IInfoListener,
    );
}

impl Vst3Shim {
    /// Creates the shim around nice-plug's `wrapper`, which has constructed the instance. `context` is the factory's host context.
    pub fn new<P: GuardedPlugin>(
        wrapper: &ComWrapper<Wrapper<P>>,
        Constructed { instance, execute_gui: execute, .. }: Constructed,
        context: Option<ComPtr<FUnknown>>,
    ) -> Option<Self> {
        let instance = Arc::<dyn Instance>::from(instance);
        let views = Arc::new(Views::new(instance.link().clone()));
        let programs = Programs::new::<P>(instance.clone());
        let load = programs.clone();
        views.calls.connect(HostCall::LoadProgram, Some(move || load.run()));
        let controller: ComPtr<IEditController> = wrapper.to_com_ptr()?;
        // nice-plug numbers the parameters in the order of the map.
        let number = |index: usize| {
            // SAFETY: zeros are a valid value of `info`, which has room for the answer.
            unsafe {
                let mut info: ParameterInfo = mem::zeroed();
                let result = controller.getParameterInfo(index as int32, &mut info);
                (result == kResultOk).then_some(info.id)
            }
        };
        let ids = instance.params().param_map().into_iter().enumerate();
        let ids: Option<_> = ids.map(|(index, (id, ..))| Some((id, number(index)?))).collect();
        let shim = Self {
            ids: ids?,
            component: wrapper.to_com_ptr()?,
            controller,
            processor: wrapper.to_com_ptr()?,
            midi: wrapper.to_com_ptr()?,
            expressions: wrapper.to_com_ptr()?,
            requirements: wrapper.to_com_ptr()?,
            units: wrapper.to_com_ptr()?,
            listener: wrapper.to_com_ptr()?,
            sidechain: Sidechain::default(),
            instance,
            programs,
            controllers: P::CONTROLLERS,
            events: Events::new()?,
            rate: AtomicU64::new(0),
            tempo: AtomicU64::new(f64::NAN.to_bits()),
            calls: views.calls.clone(),
            views,
            active: AtomicBool::new(false),
            processing: AtomicBool::new(false),
            execute,
            thread: thread::current().id(),
            context: Mutex::new(context),
            checked_changes: AtomicU64::new(NOT_CHECKED),
            blocks: AtomicU64::new(0),
            pending: Mutex::default(),
        };
        shim.set_default_rate();
        Some(shim)
    }

    /// Makes a `change` that nice-plug accepts only while inactive. Deactivates an active plugin before, and activates it after.
    fn while_inactive(&self, change: impl FnOnce() -> tresult) -> tresult {
        let active = self.active.load(Ordering::Relaxed);
        // SAFETY: the arguments are plain values.
        unsafe {
            if active {
                self.setActive(0);
            }
            let result = change();
            if active {
                self.setActive(1);
            }
            result
        }
    }

    /// Locks the ignored values, and removes those that were set before the last call of `process`.
    fn pending(&self) -> MutexGuard<'_, Vec<Pending>> {
        let blocks = self.blocks.load(Ordering::Relaxed);
        let mut pending = lock(&self.pending);
        pending.retain(|pending| pending.blocks == blocks);
        pending
    }

    /// Forgets a program chosen in `process` and the ignored values: a state or another program takes their place.
    fn discard_pending(&self) {
        self.calls.withdraw(HostCall::LoadProgram);
        self.pending().clear();
    }

    fn apply_pending(&self) {
        let params = self.instance.params();
        let map = params.param_map();
        let pending = mem::take(&mut *self.pending());
        for Pending { parameter, value, .. } in pending {
            if let Some(index) = self.index(parameter) {
                // SAFETY: `params` owns the parameter.
                unsafe { map[index].1._internal_set_normalized_value(value as f32) };
            }
        }
    }

    /// Returns the index of `parameter` in the plugin's parameter map.
    fn index(&self, parameter: ParamID) -> Option<usize> {
        self.ids.iter().position(|(_, number)| *number == parameter)
    }

    fn wanted_latency(&self) -> u32 {
        self.instance.wanted_latency(f64::from_bits(self.rate.load(Ordering::Relaxed)))
    }

    /// Requests a restart from the host if the latency must change. For the audio thread.
    fn check_latency(&self) {
        let changes = u64::from(self.instance.changes());
        if self.checked_changes.swap(changes, Ordering::Relaxed) == changes
            || !self.instance.latency().is_outdated(self.wanted_latency())
        {
            return;
        }
        self.ask(HostCall::Restart);
    }

    /// Requests a call to the host. For the audio thread.
    fn ask(&self, call: HostCall) {
        self.calls.request(call);
        // Not if this is the host's main thread: nice-plug would then call the host at once, within `process`. The request waits.
        if !self.calls.has_timer.load(Ordering::Relaxed) && thread::current().id() != self.thread {
            (self.execute)(Task::new(self.calls.clone()));
        }
    }
}

impl Drop for Vst3Shim {
    fn drop(&mut self) {
        // A host may release the plugin without terminating it.
        self.calls.unregister();
        worker::finish();
    }
}

/// Implements methods that pass their arguments to nice-plug's methods of the same names.
macro_rules! pass_on {
    ($field:ident: $(fn $name:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {
        $(unsafe fn $name(&self, $($argument: $type),*) -> $result {
            // SAFETY: the host guarantees this call's contract, which is nice-plug's, too.
            unsafe { self.$field.$name($($argument),*) }
        })*
    };
}

/// Writes `text` to `to`, truncated and zero-terminated.
fn fill(to: &mut String128, text: &str) {
    // Clears what follows the text, as the host's buffer may hold anything.
    to.fill(0);
    let end = to.len() - 1;
    to[..end].iter_mut().zip(text.encode_utf16()).for_each(|(to, unit)| *to = unit as TChar);
}

mod programs;
mod requests;
mod view;

use programs::{PROGRAM, Programs};
use requests::Requests;
use view::{View, Views};

impl IPluginBaseTrait for Vst3Shim {
    unsafe fn initialize(&self, context: *mut FUnknown) -> tresult {
        let of_factory = lock(&self.context).take();
        let of_factory = of_factory.as_ref().map_or(std::ptr::null_mut(), ComPtr::as_ptr);
        // SAFETY: both are objects of the host or null, and the host calls this on its main thread.
        unsafe {
            self.calls.register(context);
            self.calls.register(of_factory);
            self.component.initialize(context)
        }
    }

    unsafe fn terminate(&self) -> tresult {
        self.calls.unregister();
        self.calls.connect(HostCall::Restart, None::<fn()>);
        // SAFETY: there are no arguments.
        unsafe { self.component.terminate() }
    }
}

impl IComponentTrait for Vst3Shim {
    pass_on! { component:
        fn getControllerClassId(class: *mut TUID) -> tresult;
        fn setIoMode(mode: IoMode) -> tresult;
        fn getBusCount(media: MediaType, direction: BusDirection) -> int32;
        fn getRoutingInfo(input: *mut RoutingInfo, output: *mut RoutingInfo) -> tresult;
    }

    unsafe fn setActive(&self, state: TBool) -> tresult {
        self.apply_pending();
        self.checked_changes.store(NOT_CHECKED, Ordering::Relaxed);
        // SAFETY: the host guarantees this call's contract, which is nice-plug's, too.
        let result = unsafe { self.component.setActive(state) };
        self.active.store(state != 0 && result == kResultOk, Ordering::Relaxed);
        result
    }

    unsafe fn getBusInfo(
        &self,
        media: MediaType,
        direction: BusDirection,
        index: int32,
        bus: *mut BusInfo,
    ) -> tresult {
        if index < 0 {
            return kInvalidArgument;
        }
        // SAFETY: the host guarantees this call's contract, which is nice-plug's, too.
        let result = unsafe { self.component.getBusInfo(media, direction, index, bus) };
        if result == kResultOk && is_sidechain(direction, index) {
            // SAFETY: nice-plug has filled in `bus`.
            self.sidechain.describe(unsafe { &mut *bus });
        }
        result
    }

    unsafe fn activateBus(
        &self,
        media: MediaType,
        direction: BusDirection,
        index: int32,
        state: TBool,
    ) -> tresult {
        // SAFETY: the host guarantees this call's contract, which is nice-plug's, too.
        let result = unsafe { self.component.activateBus(media, direction, index, state) };
        if result == kResultOk && is_sidechain(direction, index) {
            self.sidechain.active.store(state != 0, Ordering::Relaxed);
        }
        result
    }

    unsafe fn setState(&self, state: *mut IBStream) -> tresult {
        self.discard_pending();
        // SAFETY: the host guarantees this call's contract, which is nice-plug's, too.
        let result = unsafe { self.component.setState(state) };
        self.programs.current();
        result
    }

    unsafe fn getState(&self, state: *mut IBStream) -> tresult {
        if self.calls.make(HostCall::LoadProgram) {
            self.calls.make(HostCall::Serve);
        }
        self.apply_pending();
        // SAFETY: the host guarantees this call's contract, which is nice-plug's, too.
        unsafe { self.component.getState(state) }
    }
}

impl IEditControllerTrait for Vst3Shim {
    pass_on! { controller:
        fn normalizedParamToPlain(id: ParamID, value: ParamValue) -> ParamValue;
        fn plainParamToNormalized(id: ParamID, value: ParamValue) -> ParamValue;
        fn setComponentState(state: *mut IBStream) -> tresult;
        fn setState(state: *mut IBStream) -> tresult;
        fn getState(state: *mut IBStream) -> tresult;
    }

    unsafe fn getParamStringByValue(
        &self,
        id: ParamID,
        value: ParamValue,
        string: *mut String128,
    ) -> tresult {
        // SAFETY: the host guarantees this call's contract, which is nice-plug's, too.
        unsafe {
            match id {
                PROGRAM => self.programs.name(self.programs.index(value), string),
                _ => self.controller.getParamStringByValue(id, value, string),
            }
        }
    }

    unsafe fn createView(&self, name: FIDString) -> *mut IPlugView {
        // SAFETY: the host guarantees the argument, and nice-plug passes ownership of a view, or null.
        let inner = unsafe { ComPtr::from_raw(self.controller.createView(name)) };
        View::create(inner, &self.views)
    }

    unsafe fn getParamValueByString(
        &self,
        id: ParamID,
        string: *mut TChar,
        value: *mut ParamValue,
    ) -> tresult {
        // nice-plug accepts exact names only, so the typed text is first replaced by the exact name that the plugin finds for it.
        let mut typed = Vec::new();
        if !string.is_null() {
            // SAFETY: VST3 promises a text that ends with a zero.
            let units = (0..).map(|index| unsafe { *string.add(index) });
            typed.extend(units.take_while(|unit| *unit != 0));
        }
        let param =
            self.index(id).map(|index| self.instance.params().param_map().swap_remove(index));
        let typed = String::from_utf16_lossy(&typed);
        let spelled = param.and_then(|(param, ..)| self.instance.spelled(&param, &typed));
        let mut spelled = spelled.map(|text| text.encode_utf16().chain([0]).collect::<Vec<_>>());
        let string = spelled.as_mut().map_or(string, |text| text.as_mut_ptr());
        // SAFETY: `spelled` outlives the call, and the host guarantees the other arguments.
        unsafe { self.controller.getParamValueByString(id, string, value) }
    }

    /// Stores the host's handler: restarts and the editor's requests go to it.
    unsafe fn setComponentHandler(&self, handler: *mut IComponentHandler) -> tresult {
        // SAFETY: VST3 promises a handler or null, and the host calls this on its main thread.
        let host_handler = unsafe {
            self.calls.register(handler.cast());
            ComRef::from_raw(handler)
        };
        let flags = RestartFlags_::kLatencyChanged as int32;
        let restart = host_handler.map(|handler| {
            let host = handler.to_com_ptr();
            // SAFETY: the handler is reference-counted. A host that refuses reads the latency at the next activation.
            move || _ = unsafe { host.restartComponent(flags) }
        });
        self.calls.connect(HostCall::Restart, restart);
        let requests = host_handler.map(|handler| Requests {
            link: self.instance.link().clone(),
            views: self.views.clone(),
            ids: self.ids.clone(),
            handler: handler.to_com_ptr(),
            marking: handler.cast(),
            menus: handler.cast(),
        });
        let connection = requests.as_ref().map(|requests| {
            let calls = self.calls.clone();
            Connection {
                wake: Box::new(move |_| {
                    calls.request(HostCall::Serve);
                    calls.run_without_timer();
                }),
                marks_dirty: requests.marking.is_some(),
                has_menus: requests.menus.is_some(),
            }
        });
        self.calls.connect(HostCall::Serve, requests.map(|requests| move || requests.run()));
        self.instance.link().connect(connection);
        // SAFETY: the host guarantees this call's contract, which is nice-plug's, too.
        unsafe { self.controller.setComponentHandler(handler) }
    }

    unsafe fn getParameterCount(&self) -> int32 {
        (self.ids.len() + self.controllers.len()) as int32 + self.programs.parameters()
    }

    unsafe fn getParameterInfo(&self, index: int32, info: *mut ParameterInfo) -> tresult {
        let own_count = self.ids.len() as int32;
        // After the plugin's own parameters, nice-plug has one for each controller of the first MIDI channel.
        let index = match usize::try_from(index.wrapping_sub(own_count)).ok() {
            None => index,
            Some(after_own) if after_own < self.controllers.len() => {
                own_count + int32::from(self.controllers[after_own])
            }
            Some(after_own) => {
                let is_program =
                    after_own - self.controllers.len() < self.programs.parameters() as usize;
                // SAFETY: VST3 promises room or null.
                let info = unsafe { info.as_mut() }.filter(|_| is_program);
                return info.map_or(kInvalidArgument, |info| self.programs.describe(info));
            }
        };
        // SAFETY: the host guarantees this call's contract, which is nice-plug's, too.
        unsafe { self.controller.getParameterInfo(index, info) }
    }

    unsafe fn getParamNormalized(&self, id: ParamID) -> ParamValue {
        if id == PROGRAM {
            return self.programs.current();
        }
        let pending = self.pending().iter().find(|it| it.parameter == id).map(|it| it.read_back);
        // SAFETY: the host guarantees this call's contract, which is nice-plug's, too.
        pending.unwrap_or_else(|| unsafe { self.controller.getParamNormalized(id) })
    }

    unsafe fn setParamNormalized(&self, id: ParamID, value: ParamValue) -> tresult {
        if id == PROGRAM {
            self.discard_pending();
            self.programs.set(value);
            // The host learns of it before it next reads its own copies of the values, which are those of the old program.
            self.calls.make(HostCall::Serve);
            return kResultOk;
        }
        if !self.processing.load(Ordering::Relaxed) {
            self.apply_pending();
        }
        self.pending().retain(|pending| pending.parameter != id);
        // SAFETY: the host guarantees this call's contract, which is nice-plug's, too.
        let (before, result, read_back, now) = unsafe {
            let before = self.controller.getParamNormalized(id);
            let result = self.controller.setParamNormalized(id, value);
            let plain = self.controller.normalizedParamToPlain(id, value);
            let read_back = self.controller.plainParamToNormalized(id, plain);
            (before, result, read_back, self.controller.getParamNormalized(id))
        };
        // nice-plug has ignored the value if the parameter has not moved and is not there already.
        if result == kResultOk && now == before && (read_back - now).abs() > 1e-6 {
            let blocks = self.blocks.load(Ordering::Relaxed);
            self.pending().push(Pending { parameter: id, value, read_back, blocks });
        }
        result
    }
}

mod processor;

#[cfg(test)]
mod tests;
