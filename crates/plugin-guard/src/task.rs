//! Tasks of this crate and of the plugin for nice-plug's queues.

use std::sync::Arc;

/// Task for nice-plug: the `BackgroundTask` of a guarded plugin. Its executor is [`Task::run`].
pub struct Task(Arc<dyn Job>);

/// Work that one thread requests and another thread does.
pub trait Job: Send + Sync {
    /// Does the work. Not called on the audio thread.
    fn run(&self);
}

impl Task {
    /// Creates a task that calls [`Job::run`]. For the audio thread: creating and dropping the task neither allocates nor frees,
    /// provided that `job` has another owner.
    pub fn new(job: Arc<dyn Job>) -> Self {
        Self(job)
    }

    /// Executes the task on the current thread.
    pub fn run(self) {
        self.0.run();
    }
}
