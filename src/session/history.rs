//! Undo and redo: a list of edits, each with the sound before and after.

use super::Sound;

const STEPS: usize = 200;

/// Time in seconds between two edits of one setting, below which they are merged into one step.
const MERGE_TIME: f64 = 0.7;

#[derive(Default)]
pub struct History {
    steps: Vec<Step>,
    /// Number of `steps` in effect. The steps from this index on have been undone.
    done: usize,
}

struct Step {
    what: &'static str,
    before: Sound,
    after: Sound,
    time: f64,
}

impl History {
    /// Records a change at `time` in seconds, and discards the steps that could be redone. `what` is a setting's id or a kind
    /// of edit; changes with the same `what` in quick succession are one step. Ignores an unchanged sound.
    pub fn record(&mut self, what: &'static str, before: Sound, after: Sound, time: f64) {
        if before == after {
            return;
        }
        self.steps.truncate(self.done);
        match self.steps.last_mut() {
            Some(last) if last.what == what && time - last.time < MERGE_TIME => {
                last.after = after;
                last.time = time;
            }
            _ => self.steps.push(Step { what, before, after, time }),
        }
        if self.steps.len() > STEPS {
            self.steps.remove(0);
        }
        self.done = self.steps.len();
    }

    /// Prevents the next edit from being merged with the last step.
    pub fn seal(&mut self) {
        if let Some(last) = self.steps.last_mut() {
            last.time = f64::NEG_INFINITY;
        }
    }

    /// Undoes a step. Returns the sound to leave and the sound to restore.
    pub fn undo(&mut self) -> Option<(Sound, Sound)> {
        self.done = self.done.checked_sub(1)?;
        let step = &self.steps[self.done];
        Some((step.after.clone(), step.before.clone()))
    }

    /// Redoes a step. Returns the sound to leave and the sound to restore.
    pub fn redo(&mut self) -> Option<(Sound, Sound)> {
        let step = self.steps.get(self.done)?;
        self.done += 1;
        Some((step.before.clone(), step.after.clone()))
    }

    pub fn can_undo(&self) -> bool {
        self.done > 0
    }

    pub fn can_redo(&self) -> bool {
        self.done < self.steps.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sound(slot: usize) -> Sound {
        Sound { slot, ..Sound::default() }
    }

    #[test]
    fn the_last_200_steps_are_kept() {
        let mut history = History::default();
        for step in 0..1000 {
            history.record("mix", sound(step), sound(step + 1), step as f64);
        }
        for step in (800..1000).rev() {
            assert_eq!(history.undo(), Some((sound(step + 1), sound(step))));
        }
        assert!(!history.can_undo() && history.undo().is_none());
    }

    #[test]
    fn only_a_changed_sound_discards_the_redo_steps() {
        let mut history = History::default();
        history.record("mix", sound(0), sound(1), 0.0);
        history.record("mix", sound(1), sound(2), 10.0);
        history.undo();
        history.record("mix", sound(1), sound(1), 20.0);
        assert!(history.can_redo(), "nothing happened");
        history.record("mix", sound(1), sound(3), 30.0);
        assert!(!history.can_redo());
        assert_eq!(history.undo(), Some((sound(3), sound(1))));
    }

    #[test]
    fn wheel_turns_in_quick_succession_are_one_step() {
        let mut history = History::default();
        for turn in 0..10 {
            history.record("mix", sound(turn), sound(turn + 1), 0.1 * turn as f64);
        }
        history.record("tone", sound(10), sound(11), 1.0);
        assert_eq!(history.undo(), Some((sound(11), sound(10))));
        assert_eq!(history.undo(), Some((sound(10), sound(0))));
        assert!(!history.can_undo());
    }
}
