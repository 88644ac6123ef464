//! MIDI controllers that the user has mapped to parameters, and MIDI changes that wait for the main thread.

use super::ids;
use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicU8, AtomicU32, Ordering::Relaxed},
};
use tone_filter_dsp::{CHOICES, SPECS};

/// Sentinel: no parameter, or no program change.
pub const NONE: u8 = u8::MAX;
/// Sentinel: no new value. These bits are a NaN, which is never a value.
pub const UNCHANGED: u32 = u32::MAX;

/// Map between controllers and parameters: at most one parameter per controller, and one controller per parameter. Lock-free, as
/// the audio thread and the editor share it. A parameter's number is its index in [`ids`].
pub struct Controllers {
    /// Parameter number of each controller, or [`NONE`].
    mapped: [AtomicU8; 128],
    /// Number of the parameter that MIDI learn maps to the next moved controller; [`NONE`] while MIDI learn is off.
    learning: AtomicU8,
    /// Latest program change that waits, or [`NONE`].
    pub program: AtomicU8,
    /// Bits of the value (0..1) that waits for each parameter, or [`UNCHANGED`].
    pub values: [AtomicU32; SPECS.len() + CHOICES.len()],
}

impl Default for Controllers {
    fn default() -> Self {
        Self {
            mapped: [const { AtomicU8::new(NONE) }; 128],
            learning: AtomicU8::new(NONE),
            program: AtomicU8::new(NONE),
            values: [const { AtomicU32::new(UNCHANGED) }; _],
        }
    }
}

/// Whether `controller` may be mapped: bank select, sustain pedal and mode messages may not.
fn is_free(controller: u8) -> bool {
    !matches!(controller, 0 | 32 | 64 | 120..)
}

fn number(id: &str) -> Option<u8> {
    ids().position(|known| known == id).and_then(|number| u8::try_from(number).ok())
}

impl Controllers {
    /// Starts MIDI learn: the next moved controller is mapped to the parameter called `id`. `None` cancels learning.
    pub fn learn(&self, id: Option<&str>) {
        self.learning.store(id.and_then(number).unwrap_or(NONE), Relaxed);
    }

    /// Whether the next moved controller will be mapped to the parameter called `id`.
    pub fn is_learning(&self, id: &str) -> bool {
        number(id) == Some(self.learning.load(Relaxed))
    }

    pub fn of(&self, id: &str) -> Option<u8> {
        let number = number(id)?;
        (0..128).find(|controller| self.mapped[usize::from(*controller)].load(Relaxed) == number)
    }

    pub fn forget(&self, id: &str) {
        if let Some(controller) = self.of(id) {
            self.mapped[usize::from(controller)].store(NONE, Relaxed);
        }
    }

    /// Handles a move of `controller` (0..=127), and completes MIDI learn. Returns the number of the controller's parameter, and
    /// whether this move has just mapped the parameter; `None` for an unmapped or reserved one.
    pub fn moved(&self, controller: u8) -> Option<(usize, bool)> {
        let slot = self.mapped.get(usize::from(controller)).filter(|_| is_free(controller))?;
        let learning = self.learning.swap(NONE, Relaxed);
        if learning != NONE {
            let others = self.mapped.iter().filter(|other| other.load(Relaxed) == learning);
            others.for_each(|other| other.store(NONE, Relaxed));
            slot.store(learning, Relaxed);
        }
        let number = slot.load(Relaxed);
        (number != NONE).then_some((usize::from(number), learning != NONE))
    }

    /// Returns the mapped controllers, each with the id of its parameter, for a saved state.
    pub fn save(&self) -> BTreeMap<u8, String> {
        let pair = |id: &str| Some((self.of(id)?, id.to_owned()));
        ids().filter_map(pair).collect()
    }

    /// Replaces the map by `saved`, a result of [`Controllers::save`]. Ignores unknown parameters and reserved controllers.
    /// Withdraws what waits: the state that is loaded takes its place.
    pub fn load(&self, saved: &BTreeMap<u8, String>) {
        self.program.store(NONE, Relaxed);
        self.values.iter().for_each(|value| value.store(UNCHANGED, Relaxed));
        for controller in 0..128 {
            let id = saved.get(&controller).filter(|_| is_free(controller));
            let number = id.and_then(|id| number(id)).unwrap_or(NONE);
            self.mapped[usize::from(controller)].store(number, Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_has_one_controller_and_a_controller_one_parameter() {
        let controllers = Controllers::default();
        let moved = |controller| {
            let moved = controllers.moved(controller);
            moved.map(|(number, new)| (ids().nth(number).unwrap(), new))
        };
        assert_eq!(moved(74), None);
        controllers.learn(Some("tone"));
        assert!(controllers.is_learning("tone") && !controllers.is_learning("mix"));
        for taken in [0, 32, 64, 120, 123, 127, 200] {
            assert_eq!(moved(taken), None, "{taken} has a meaning of its own");
        }
        assert_eq!(moved(74), Some(("tone", true)));
        assert_eq!((moved(74), moved(75)), (Some(("tone", false)), None));
        assert!(!controllers.is_learning("tone"));
        controllers.learn(Some("tone"));
        assert_eq!(moved(75), Some(("tone", true)));
        assert_eq!((moved(74), controllers.of("tone")), (None, Some(75)));
        controllers.learn(Some("mix"));
        assert_eq!(moved(75), Some(("mix", true)));
        assert_eq!((controllers.of("tone"), controllers.of("mix")), (None, Some(75)));
        controllers.forget("mix");
        assert_eq!(moved(75), None);
        controllers.learn(Some("mix"));
        controllers.learn(None);
        assert_eq!(moved(75), None);
    }
}
