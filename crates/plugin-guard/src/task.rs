//! What nice-plug's threads do for the guard and the plugin.

use crate::vst3::Reached;
use std::sync::Arc;

/// A task for nice-plug: a guarded plugin's `BackgroundTask`, whose executor is [`Task::run`].
pub struct Task(pub(crate) Kind);

pub(crate) enum Kind {
    /// Calls [`Job::run`] on the host's thread.
    Job(Arc<dyn Job>),
    /// Reports that the worker has done all tasks before.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "the worker has no tasks"))]
    Reached(Reached),
}

/// What may have to be done outside of the audio thread, which requests it by a task.
pub trait Job: Send + Sync {
    /// Does it.
    fn run(&self);
}

impl Task {
    /// A task that calls [`Job::run`]. It must be executed as one of the GUI. For the audio thread, where neither its making nor
    /// its end allocates or frees, as long as another owner of `job` lives.
    pub fn new(job: Arc<dyn Job>) -> Self {
        Self(Kind::Job(job))
    }

    /// Does it.
    pub fn run(self) {
        match self.0 {
            Kind::Job(job) => job.run(),
            Kind::Reached(reached) => reached.report(),
        }
    }
}
