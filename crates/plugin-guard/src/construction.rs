//! Passes the shared state of an instance to its shim: nice-plug constructs the instance and gives no access to it.

use crate::{GuardedPlugin, Instance, Task};
use nice_plug::prelude::AsyncExecutor;
use std::cell::Cell;

/// Shared state and task executor of an instance that nice-plug has constructed.
pub(crate) struct Constructed {
    pub instance: Box<dyn Instance>,
    pub executor: Box<dyn Executor>,
}

/// nice-plug's task executor of an instance, independent of the plugin's type.
pub(crate) trait Executor: Send + Sync {
    /// Queues a task for the host's main thread, or for a thread of nice-plug, if nice-plug cannot reach the main thread. On the
    /// main thread, the task runs at once. Neither allocates nor waits.
    fn gui(&self, task: Task);
    /// Queues a task for nice-plug's worker thread. Neither allocates nor waits.
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

/// Stores an instance and its `executor` for the shim. Must be called in `Plugin::editor`, which nice-plug calls once.
pub fn put<P: GuardedPlugin>(instance: impl Instance + 'static, executor: AsyncExecutor<P>) {
    let (instance, executor) = (Box::new(instance), Box::new(executor));
    CREATED.set(Some(Constructed { instance, executor }));
}

/// Removes and returns the instance that was constructed last on this thread; `None` if it has been taken already.
pub(crate) fn take() -> Option<Constructed> {
    CREATED.take()
}
