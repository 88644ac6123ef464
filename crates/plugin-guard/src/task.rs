//! What nice-plug's threads do for the guard.

use crate::vst3::{HostCalls, Reached};
use std::sync::Arc;

/// A task for nice-plug: a guarded plugin's `BackgroundTask`, whose executor is [`Task::run`].
pub struct Task(pub(crate) Kind);

pub(crate) enum Kind {
    /// Calls [`HostCalls::run`] on the host's thread.
    HostCalls(Arc<HostCalls>),
    /// Reports that the worker has done all tasks before.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "the worker has no tasks"))]
    Reached(Reached),
}

impl Task {
    /// Does it.
    pub fn run(self) {
        match self.0 {
            Kind::HostCalls(calls) => calls.run(),
            Kind::Reached(reached) => reached.report(),
        }
    }
}
