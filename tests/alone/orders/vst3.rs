//! VST3 host for random orders of calls.

use super::{Host, LONGEST, Window, block_with_system_calls, on_audio_thread};
use std::mem;
use tone_filter_testkit::{
    Signal,
    clap::Change,
    display::Display,
    vst3::{Factory, Host as Handler, Instance, Queue},
};
use vst3::{
    Class, ComPtr, ComWrapper,
    Steinberg::{
        Vst::{Event_::EventTypes_, *},
        *,
    },
};

/// Event list with two faulty events: an empty SysEx message, and an event that cannot be read.
struct Faulty;

impl Class for Faulty {
    type Interfaces = (IEventList,);
}

impl IEventListTrait for Faulty {
    unsafe fn getEventCount(&self) -> int32 {
        2
    }
    unsafe fn getEvent(&self, index: int32, event: *mut Event) -> tresult {
        if index == 1 {
            return kResultFalse;
        }
        // SAFETY: there is room, and zeros are valid for all fields. They mean a SysEx message without bytes.
        unsafe { event.write(Event { r#type: EventTypes_::kDataEvent as u16, ..mem::zeroed() }) };
        kResultOk
    }
    unsafe fn addEvent(&self, _: *mut Event) -> tresult {
        kResultFalse
    }
}

/// VST3 host that passes faulty events with every buffer. It sets the plugin up only if the order says so.
pub struct Vst3Host {
    view: Option<ComPtr<IPlugView>>,
    instance: Instance,
    handler: Option<ComWrapper<Handler<true>>>,
    processes: bool,
    /// Changes for the next buffer.
    queued: Vec<Change>,
    /// Id of each parameter, and its maximum in CLAP's units.
    parameters: Vec<(u32, f64)>,
}

impl Vst3Host {
    /// Creates an instance of the factory's plugin. A `bare` host has no component handler.
    pub fn new(factory: &Factory, bare: bool) -> Self {
        let handler = (!bare).then(|| ComWrapper::new(Handler::default()));
        let pointer = handler.as_ref().and_then(ComWrapper::to_com_ptr);
        let mut instance = Instance::new(factory, pointer.as_ref());
        // System calls are allowed: nice-plug wakes its worker thread by one, for instance for each new value.
        instance.call = block_with_system_calls;
        instance.events = ComWrapper::new(Faulty).to_com_ptr();
        let range = |info: &vst3::Steinberg::Vst::ParameterInfo| {
            (info.id, f64::from(info.stepCount.max(1)))
        };
        let parameters = instance.parameters().iter().map(range).collect();
        Self { view: None, instance, handler, processes: false, queued: Vec::new(), parameters }
    }

    /// Returns the maximum of a parameter in CLAP's units. The minimum is 0.
    fn largest(&self, id: u32) -> f64 {
        self.parameters.iter().find(|(parameter, _)| *parameter == id).expect("a parameter").1
    }

    fn set_processing(&mut self, on: bool) {
        self.processes = on;
        let processor = &self.instance.processor;
        // SAFETY: the argument is a plain value.
        let result = on_audio_thread(|| unsafe { processor.setProcessing(on.into()) });
        assert_eq!(result, kResultOk);
    }

    fn set_active(&mut self, on: bool) {
        self.queued.clear();
        // SAFETY: the argument is a plain value.
        assert_eq!(unsafe { self.instance.component.setActive(on.into()) }, kResultOk);
    }
}

impl Drop for Vst3Host {
    fn drop(&mut self) {
        self.view.iter().for_each(Instance::close_editor);
        self.view = None;
    }
}

impl Host for Vst3Host {
    const VST3: bool = true;

    fn set_up(&mut self, rate: f64) {
        self.instance.set_up(rate, LONGEST);
    }

    fn activate(&mut self) {
        self.set_active(true);
    }

    fn deactivate(&mut self) {
        self.set_active(false);
    }

    fn start(&mut self) {
        self.set_processing(true);
    }

    fn stop(&mut self) {
        self.set_processing(false);
    }

    /// Stops and restarts processing: the only reset of VST3.
    fn reset(&mut self) {
        let processes = self.processes;
        self.set_processing(false);
        self.set_processing(true);
        if !processes {
            self.set_processing(false);
        }
    }

    fn play(&mut self, signal: &mut Signal, changes: &[Change]) -> bool {
        let queued = mem::take(&mut self.queued);
        let queues = queued.iter().chain(changes).map(|change| {
            let share = change.value / self.largest(change.parameter);
            Queue { parameter: change.parameter, points: vec![(change.frame as i32, share)] }
        });
        let queues: Vec<_> = queues.collect();
        let instance = &self.instance;
        on_audio_thread(|| instance.process(None, signal, queues)) == kResultOk
    }

    /// Sets a parameter in the controller, and in the next buffer while the plugin processes.
    fn set(&mut self, change: Change) -> bool {
        let share = change.value / self.largest(change.parameter);
        self.instance.set(change.parameter, share);
        self.queued.retain(|queued| queued.parameter != change.parameter);
        if self.processes {
            self.queued.push(change);
        }
        !self.processes
    }

    fn value(&mut self, parameter: u32) -> f64 {
        self.instance.get(parameter) * self.largest(parameter)
    }

    fn save(&mut self) -> Vec<u8> {
        let json = self.instance.save();
        [&(json.len() as u64).to_le_bytes()[..], &json].concat()
    }

    fn load(&mut self, state: &[u8]) {
        self.queued.clear();
        self.instance.load(&state[8..]);
    }

    fn latency(&mut self) -> usize {
        self.instance.latency()
    }

    fn idle(&mut self) {
        self.handler.iter().for_each(|handler| handler.idle());
    }

    /// Opens or closes the view. Ignores other calls.
    fn window(&mut self, call: Window, display: &Display) {
        match (call, self.view.take()) {
            (Window::Open(_), None) => {
                let Some(handler) = &self.handler else { return };
                let frame = handler.to_com_ptr::<IPlugFrame>().expect("a frame");
                self.view = Some(self.instance.open_editor(&frame, display.window()));
            }
            (Window::Close, Some(view)) => Instance::close_editor(&view),
            (_, view) => self.view = view,
        }
    }

    /// Returns `None` while a change waits for the next buffer, as it would override an edit.
    fn window_size(&mut self) -> Option<[u32; 2]> {
        let view = self.view.as_ref().filter(|_| self.queued.is_empty())?;
        let mut size = ViewRect { left: 0, top: 0, right: 0, bottom: 0 };
        // SAFETY: there is room for the answer.
        assert_eq!(unsafe { view.getSize(&mut size) }, kResultOk);
        Some([size.right - size.left, size.bottom - size.top].map(|length| length as u32))
    }
}
