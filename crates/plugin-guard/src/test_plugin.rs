//! Plugin for tests, with one parameter and without audio ports.

use crate::{
    GuardedPlugin, HostLink, Instance, Latency, Location, PresetError, PresetInfo, Task,
    construction,
};
use nice_plug::prelude::*;
use std::{
    cell::RefCell,
    ffi::CStr,
    path::{Path, PathBuf},
    rc::Rc,
    sync::Arc,
};

#[derive(Default)]
pub struct TestPlugin(TestInstance);

#[derive(Clone, Default)]
pub struct TestInstance {
    params: Arc<TestParams>,
    link: HostLink,
    latency: Arc<Latency>,
}

thread_local! {
    /// Callback for changes of the parameter on this thread.
    pub static CHANGED: RefCell<Option<Rc<dyn Fn()>>> = const { RefCell::new(None) };
    /// Link of the last instance that was constructed on this thread.
    pub static LINK: RefCell<HostLink> = RefCell::default();
}

#[derive(Params)]
struct TestParams {
    #[id = "value"]
    value: FloatParam,
}

impl Default for TestParams {
    fn default() -> Self {
        let changed = |_| {
            let changed = CHANGED.with_borrow(Clone::clone);
            changed.iter().for_each(|changed| changed());
        };
        let value = FloatParam::new("Value", 0.0, FloatRange::Linear { min: 0.0, max: 1.0 });
        Self { value: value.with_callback(Arc::new(changed)) }
    }
}

impl Plugin for TestPlugin {
    const NAME: &'static str = "Test";
    const VENDOR: &'static str = "Test";
    const URL: &'static str = "";
    const EMAIL: &'static str = "";
    const VERSION: &'static str = "1";
    const AUDIO_IO_LAYOUTS: &'static [AudioIOLayout] = &[];

    type Editor = ();
    type SysExMessage = ();
    type BackgroundTask = Task;

    fn task_executor(&mut self) -> TaskExecutor<Self> {
        Box::new(Task::run)
    }

    fn params(&self) -> Arc<dyn Params> {
        self.0.params.clone()
    }

    fn editor(&mut self, executor: AsyncExecutor<Self>) -> Option<()> {
        LINK.set(self.0.link.clone());
        construction::put(self.0.clone(), executor);
        None
    }

    fn process(
        &mut self,
        _buffer: &mut Buffer,
        _aux: &mut AuxiliaryBuffers,
        _context: &mut impl ProcessContext<Self>,
    ) -> ProcessStatus {
        ProcessStatus::Normal
    }
}

impl ClapPlugin for TestPlugin {
    const CLAP_ID: &'static str = "test";
    const CLAP_DESCRIPTION: Option<&'static str> = None;
    const CLAP_MANUAL_URL: Option<&'static str> = None;
    const CLAP_SUPPORT_URL: Option<&'static str> = None;
    const CLAP_FEATURES: &'static [ClapFeature] = &[];
}

impl Vst3Plugin for TestPlugin {
    const VST3_CLASS_ID: [u8; 16] = *b"TestTestTestTest";
    const VST3_SUBCATEGORIES: &'static [Vst3SubCategory] = &[];
}

impl GuardedPlugin for TestPlugin {
    const PRESETS_ID: &'static CStr = c"test.presets";
    const PRESET_FILE: [&'static CStr; 3] = [c"", c"", c"test"];

    fn factory_presets() -> Vec<(&'static str, PresetInfo)> {
        Vec::new()
    }

    fn user_presets() -> Option<PathBuf> {
        None
    }

    fn preset_file(_path: &Path) -> Result<PresetInfo, PresetError> {
        Err(PresetError::default())
    }
}

impl Instance for TestInstance {
    fn params(&self) -> Arc<dyn Params> {
        self.params.clone()
    }

    fn link(&self) -> &HostLink {
        &self.link
    }

    fn changes(&self) -> u32 {
        0
    }

    fn latency(&self) -> &Latency {
        &self.latency
    }

    fn wanted_latency(&self, _sample_rate: f64) -> u32 {
        0
    }

    fn tail(&self, _sample_rate: f64, _tempo: Option<f64>) -> u32 {
        0
    }

    fn load_preset(&self, at: Location) -> Result<(), PresetError> {
        assert_ne!(at, Location::Factory("panic"));
        Err(PresetError::default())
    }
}
