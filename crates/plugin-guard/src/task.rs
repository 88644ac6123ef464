//! Tasks that this crate and the plugin run on nice-plug's threads.

use std::sync::{Arc, mpsc::Sender};

/// Task for nice-plug: the `BackgroundTask` of a guarded plugin. Its executor is [`Task::run`].
pub struct Task(pub(crate) Kind);

pub(crate) enum Kind {
    /// Calls [`Job::run`] on the host's main thread, or on a thread of nice-plug if that cannot reach the main thread.
    Job(Arc<dyn Job>),
    /// Calls [`Reached::report`] on the worker's thread.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "the worker has no tasks"))]
    Reached(Reached),
}

/// Marker in the worker's queue that reports when all earlier tasks are done.
pub(crate) struct Reached(pub(crate) Sender<()>);

impl Reached {
    fn report(self) {
        // The receiver may have given up.
        let _ = self.0.send(());
    }
}

/// Work that the audio thread requests and another thread does.
pub trait Job: Send + Sync {
    /// Does the work. Not called on the audio thread.
    fn run(&self);
}

impl Task {
    /// Creates a task that calls [`Job::run`], for nice-plug's GUI queue. For the audio thread: creating and dropping the task
    /// neither allocates nor frees, provided that `job` has another owner.
    pub fn new(job: Arc<dyn Job>) -> Self {
        Self(Kind::Job(job))
    }

    /// Executes the task on the current thread.
    pub fn run(self) {
        match self.0 {
            Kind::Job(job) => job.run(),
            Kind::Reached(reached) => reached.report(),
        }
    }
}
