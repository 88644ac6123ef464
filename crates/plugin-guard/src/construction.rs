//! Hands an instance's shared part from its construction, which nice-plug keeps to itself, to the shim.

use crate::{GuardedPlugin, Instance, Task};
use nice_plug::prelude::AsyncExecutor;
use std::cell::Cell;

/// An instance that nice-plug has constructed.
pub(crate) struct Constructed {
    pub instance: Box<dyn Instance>,
    pub executor: Box<dyn Executor>,
}

/// nice-plug's executor of tasks for an instance, with the plugin's type left out.
pub(crate) trait Executor: Send + Sync {
    /// Runs a task on the host's thread, if nice-plug can. Neither allocates nor waits.
    fn gui(&self, task: Task);
    /// Runs a task on nice-plug's worker thread. Neither allocates nor waits.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "the worker has no tasks"))]
    fn background(&self, task: Task);
}

impl<P: GuardedPlugin> Executor for AsyncExecutor<P> {
    fn gui(&self, task: Task) {
        self.execute_gui(task);
    }

    fn background(&self, task: Task) {
        self.execute_background(task);
    }
}

thread_local! {
    static CREATED: Cell<Option<Constructed>> = const { Cell::new(None) };
}

/// Announces a constructed instance, for which nice-plug has made `executor`. To be called in `Plugin::editor`, which
/// nice-plug calls once an instance.
pub fn put<P: GuardedPlugin>(instance: impl Instance + 'static, executor: AsyncExecutor<P>) {
    let (instance, executor) = (Box::new(instance), Box::new(executor));
    CREATED.set(Some(Constructed { instance, executor }));
}

/// Returns the instance that was constructed last on this thread; it is taken once.
pub(crate) fn take() -> Option<Constructed> {
    CREATED.take()
}
