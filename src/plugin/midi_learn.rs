//! Program changes and mapped controllers. The audio thread stores the latest ones; a task loads the preset and sets the
//! parameters.

use crate::{
    params::{NONE, UNCHANGED},
    session::Session,
};
use nice_plug::prelude::NoteEvent;
use plugin_guard::Job;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Stores the latest program change and controller values, which wait for [`Job::run`], in the session's parameters.
pub struct MidiLearn {
    session: Session,
    learned: AtomicBool,
}

impl MidiLearn {
    pub fn new(session: Session) -> Self {
        Self { session, learned: AtomicBool::new(false) }
    }

    /// Stores a program change or the value of a mapped controller. Returns whether [`Job::run`] must be called. For the audio
    /// thread.
    pub fn receive(&self, event: &NoteEvent<()>) -> bool {
        let controllers = &self.session.params.controllers;
        match *event {
            NoteEvent::MidiProgramChange { program, .. } => {
                controllers.program.store(program, Relaxed);
            }
            NoteEvent::MidiCC { cc, value, .. } => {
                let Some((parameter, new)) = controllers.moved(cc) else { return false };
                controllers.values[parameter].store(value.to_bits(), Relaxed);
                self.learned.fetch_or(new, Relaxed);
            }
            _ => return false,
        }
        true
    }
}

impl Job for MidiLearn {
    fn run(&self) {
        let controllers = &self.session.params.controllers;
        let program = controllers.program.swap(NONE, Relaxed);
        if program != NONE {
            self.session.load_program(usize::from(program));
        }
        let values = controllers.values.each_ref().map(|bits| bits.swap(UNCHANGED, Relaxed));
        let values = values.map(|bits| (bits != UNCHANGED).then(|| f32::from_bits(bits)));
        self.session.set_from_outside(&values, self.learned.swap(false, Relaxed));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::{DEFAULT_PRESET, ToneFilterParams};
    use nice_plug::prelude::Params;
    use plugin_guard::{Connection, HostLink, Request};
    use std::sync::Arc;
    use tone_filter_dsp::Voice;
    use tone_filter_presets::{Preset, ids};

    fn midi_learn() -> (MidiLearn, Arc<ToneFilterParams>, HostLink) {
        let (params, host) = (Arc::new(ToneFilterParams::default()), HostLink::default());
        let wake = Box::new(|_: &HostLink| ());
        host.connect(Some(Connection { wake, marks_dirty: true, has_menus: false }));
        let session = Session::new(params.clone(), host.clone(), None);
        (MidiLearn::new(session), params, host)
    }

    fn program(program: u8) -> NoteEvent<()> {
        NoteEvent::MidiProgramChange { timing: 0, channel: 0, program }
    }

    fn controller(cc: u8, value: f32) -> NoteEvent<()> {
        NoteEvent::MidiCC { timing: 0, channel: 3, cc, value }
    }

    #[test]
    fn the_last_program_change_loads_a_preset_that_exists() {
        let (midi, params, host) = midi_learn();
        assert!(midi.receive(&program(0)) && midi.receive(&program(14)));
        midi.run();
        let preset = Preset::factory(ids().nth(14).unwrap()).unwrap();
        assert_eq!(*params.preset.lock().unwrap(), preset.name);
        assert_eq!(host.take_requests(), [Request::ReadValues]);
        midi.receive(&program(127));
        midi.run();
        assert_eq!(*params.preset.lock().unwrap(), preset.name);
    }

    #[test]
    fn a_controller_sets_the_parameter_that_it_was_mapped_to() {
        let (midi, params, host) = midi_learn();
        assert!(!midi.receive(&controller(74, 0.5)));
        params.controllers.learn(Some("mix"));
        assert!(midi.receive(&controller(74, 0.25)));
        midi.run();
        assert_eq!(params.settings().mix, 25.0);
        assert_eq!(host.take_requests(), [Request::ReadValues, Request::MarkDirty]);
        assert!(midi.receive(&controller(74, 0.5)) && midi.receive(&controller(74, 1.0)));
        midi.run();
        assert_eq!(params.settings().mix, 100.0);
        assert_eq!(host.take_requests(), [Request::ReadValues]);
        midi.run();
        assert_eq!(host.take_requests(), [], "there is nothing to do");
        params.controllers.learn(Some("voice"));
        midi.receive(&controller(75, 1.0));
        midi.run();
        assert_eq!(params.settings().voice, Voice::SoftClean);
        // A state that is loaded before the task runs stays.
        midi.receive(&controller(75, 0.0));
        midi.receive(&program(1));
        params.deserialize_fields(&params.serialize_fields());
        midi.run();
        assert_eq!(
            (params.settings().voice, &**params.preset.lock().unwrap()),
            (Voice::SoftClean, DEFAULT_PRESET)
        );
    }
}
