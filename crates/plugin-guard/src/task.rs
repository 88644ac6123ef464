//! What nice-plug's threads do for the guard.

use crate::vst3::{Reached, Restart};
use std::sync::Arc;

/// A task for nice-plug: a guarded plugin's `BackgroundTask`, whose executor is [`Task::run`].
pub struct Task(pub(crate) Kind);

pub(crate) enum Kind {
    /// Calls [`Restart::run`] on the host's thread.
    Restart(Arc<Restart>),
    /// Reports that the worker has done all tasks before.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "the worker has no tasks"))]
    Reached(Reached),
}

impl Task {
    /// Does it.
    pub fn run(self) {
        match self.0 {
            Kind::Restart(restart) => restart.run(),
            Kind::Reached(reached) => reached.tell(),
        }
    }
}
