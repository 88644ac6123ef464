//! Tasks of nice-plug's threads for the guard and the plugin.

use std::sync::{Arc, mpsc::Sender};

/// A task for nice-plug: a guarded plugin's `BackgroundTask`, whose executor is [`Task::run`].
pub struct Task(pub(crate) Kind);

pub(crate) enum Kind {
    /// Calls [`Job::run`] on the host's thread.
    Job(Arc<dyn Job>),
    /// Calls [`Reached::report`] on the worker's thread.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "the worker has no tasks"))]
    Reached(Reached),
}

/// A task's marker in the worker's queue: reports that all tasks before it are done.
pub(crate) struct Reached(pub(crate) Sender<()>);

impl Reached {
    /// Tells the receiver.
    fn report(self) {
        // The receiver may have given up.
        let _ = self.0.send(());
    }
}

/// Work for another thread than the audio thread, which requests it by a task.
pub trait Job: Send + Sync {
    /// Does the work.
    fn run(&self);
}

impl Task {
    /// Creates a task that calls [`Job::run`], to be executed as a task of the GUI. For the audio thread: neither the task's creation nor
    /// its end allocates or frees, as long as another owner of `job` lives.
    pub fn new(job: Arc<dyn Job>) -> Self {
        Self(Kind::Job(job))
    }

    /// Does the work.
    pub fn run(self) {
        match self.0 {
            Kind::Job(job) => job.run(),
            Kind::Reached(reached) => reached.report(),
        }
    }
}
