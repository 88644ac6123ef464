//! CLAP host for random orders of calls.

use super::{Host, LONGEST, Window, block, on_audio_thread};
use tone_filter_testkit::{
    Signal,
    clap::{Call, Change, Extensions, GuiStep, Instance, Processor},
    display::Display,
    plugin::library,
};

pub struct ClapHost {
    processor: Option<Processor>,
    instance: Instance,
    rate: f64,
    bare: bool,
    open: bool,
    /// Whether the settings required another latency at the last [`Host::check`].
    outdated: bool,
}

impl ClapHost {
    /// Creates an instance of the plugin. A `bare` host offers no extensions.
    pub fn new(bare: bool) -> Self {
        let extensions = if bare { Extensions::None } else { Extensions::All };
        let instance = library().instance_in(extensions).unwrap();
        Self { instance, processor: None, rate: 0.0, bare, open: false, outdated: false }
    }

    /// Serves the plugin's requests: main-thread callback and parameter flush.
    fn serve(&mut self) {
        self.instance.idle();
        if self.instance.take(Call::Flush) > 0 {
            match self.processor {
                Some(_) => self.audio(|processor| processor.set(&[]).unwrap()),
                None => self.instance.set(&[]).unwrap(),
            }
        }
    }

    /// Runs `call` on an audio thread. The plugin must be active.
    fn audio<T: Send>(&mut self, call: impl FnOnce(&mut Processor) -> T + Send) -> T {
        let processor = self.processor.as_mut().expect("it is active");
        on_audio_thread(|| call(processor))
    }
}

impl Host for ClapHost {
    const VST3: bool = false;

    fn set_up(&mut self, rate: f64) {
        self.rate = rate;
    }

    fn activate(&mut self) {
        self.processor = Some(self.instance.activate_only(self.rate, LONGEST).unwrap());
    }

    fn deactivate(&mut self) {
        let processor = self.processor.take().expect("it is active");
        self.instance.deactivate(processor);
    }

    fn start(&mut self) {
        self.audio(Processor::start).unwrap();
    }

    fn stop(&mut self) {
        self.audio(Processor::stop).unwrap();
        // Processing has flushed the parameters, so earlier requests are obsolete.
        self.instance.take(Call::Flush);
    }

    fn reset(&mut self) {
        self.audio(Processor::reset);
    }

    fn play(&mut self, signal: &mut Signal, changes: &[Change]) -> bool {
        self.serve();
        self.audio(|processor| {
            processor.call = block;
            let mut channels: Vec<_> = signal.iter_mut().map(Vec::as_mut_slice).collect();
            processor.process(None, &mut channels, changes).is_ok()
        })
    }

    fn set(&mut self, change: Change) -> bool {
        self.serve();
        match self.processor {
            Some(_) => self.audio(|processor| processor.set(&[change]).unwrap()),
            None => self.instance.set(&[change]).unwrap(),
        }
        true
    }

    fn value(&mut self, parameter: u32) -> f64 {
        self.instance.value(parameter).unwrap()
    }

    fn save(&mut self) -> Vec<u8> {
        self.instance.save().unwrap()
    }

    fn load(&mut self, state: &[u8]) {
        self.instance.load(state).unwrap();
    }

    fn latency(&mut self) -> usize {
        self.instance.latency().unwrap() as usize
    }

    fn idle(&mut self) {
        self.instance.idle();
    }

    fn window(&mut self, call: Window, display: &Display) {
        let steps = match call {
            Window::Open(scale) if !self.open && !self.bare => {
                self.open = true;
                let parent = GuiStep::Parent(display.window());
                vec![GuiStep::Create, GuiStep::Scale(scale), parent, GuiStep::Show]
            }
            Window::Resize(size) if self.open => vec![GuiStep::Resize(size)],
            Window::Hide if self.open => vec![GuiStep::Hide, GuiStep::Show],
            Window::Close if self.open => {
                self.open = false;
                vec![GuiStep::Destroy]
            }
            _ => return,
        };
        steps.into_iter().for_each(|step| self.instance.gui(step).unwrap());
    }

    fn window_size(&mut self) -> Option<[u32; 2]> {
        self.open.then(|| self.instance.editor_size().unwrap())
    }

    fn check(&mut self, outdated: bool) {
        let asks = usize::from(outdated && !self.outdated);
        assert_eq!(self.instance.take(Call::Restart), asks, "restarts for another latency");
        self.outdated = outdated;
        assert!(self.instance.editor_size().is_ok(), "an editor in any host");
        if self.bare && !self.open {
            assert!(self.instance.gui(GuiStep::Create).is_err(), "an editor without its host");
        }
    }
}

impl Drop for ClapHost {
    fn drop(&mut self) {
        if self.open {
            let _ = self.instance.close_editor();
        }
    }
}
