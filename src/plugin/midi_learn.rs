//! Program changes and mapped controllers. The audio thread stores the latest ones here; a task loads the preset and sets the
//! parameters.

use crate::session::Session;
use nice_plug::prelude::NoteEvent;
use plugin_guard::Job;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering::Relaxed};
use tone_filter_dsp::{CHOICES, SPECS};

/// Sentinel: no program change.
const NONE: u8 = u8::MAX;
/// Sentinel: no new value. These bits are a NaN, which is never a value.
const UNCHANGED: u32 = u32::MAX;

/// Latest program change and latest controller values, which wait for [`Job::run`].
pub struct MidiLearn {
    session: Session,
    program: AtomicU8,
    /// Bits of the value (0..1) that waits for each parameter, or [`UNCHANGED`]; in the order of [`ids`](crate::params::ids).
    values: [AtomicU32; SPECS.len() + CHOICES.len()],
    learned: AtomicBool,
}

impl MidiLearn {
    pub fn new(session: Session) -> Self {
        Self {
            session,
            program: AtomicU8::new(NONE),
            values: [const { AtomicU32::new(UNCHANGED) }; _],
            learned: AtomicBool::new(false),
        }
    }

    /// Stores a program change or the value of a mapped controller. Returns whether [`Job::run`] must be called. For the audio
    /// thread.
    pub fn receive(&self, event: &NoteEvent<()>) -> bool {
        match *event {
            NoteEvent::MidiProgramChange { program, .. } => self.program.store(program, Relaxed),
            NoteEvent::MidiCC { cc, value, .. } => {
                let Some((parameter, new)) = self.session.params.controllers.moved(cc) else {
                    return false;
                };
                self.values[parameter].store(value.to_bits(), Relaxed);
                self.learned.fetch_or(new, Relaxed);
            }
            _ => return false,
        }
        true
    }
}

impl Job for MidiLearn {
    fn run(&self) {
        let program = self.program.swap(NONE, Relaxed);
        if program != NONE {
            self.session.load_program(usize::from(program));
        }
        let values = self.values.each_ref().map(|bits| bits.swap(UNCHANGED, Relaxed));
        let values = values.map(|bits| (bits != UNCHANGED).then(|| f32::from_bits(bits)));
        self.session.set_from_outside(&values, self.learned.swap(false, Relaxed));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::ToneFilterParams;
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
    }
}
