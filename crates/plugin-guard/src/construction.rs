//! Passes the shared state of an instance to its shim: nice-plug constructs the instance and gives no access to it.

use crate::{GuardedPlugin, Instance, Task};
use nice_plug::prelude::AsyncExecutor;
use std::cell::Cell;

/// Function that passes a task to nice-plug. Queueing neither allocates nor waits.
pub(crate) type Execute = Box<dyn Fn(Task) + Send + Sync>;

/// Shared state and task queues of an instance that nice-plug has constructed.
pub(crate) struct Constructed {
    pub instance: Box<dyn Instance>,
    /// Queues a task for the host's main thread, or for a thread of nice-plug, if nice-plug cannot reach the main thread. On the
    /// main thread, the task runs at once.
    pub execute_gui: Execute,
    /// Queues a task for nice-plug's worker thread.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "the worker has no tasks"))]
    pub execute_background: Execute,
}

thread_local! {
    static CREATED: Cell<Option<Constructed>> = const { Cell::new(None) };
}

/// Stores an instance and its `executor` for the shim. Must be called in `Plugin::editor`, which nice-plug calls once.
pub fn put<P: GuardedPlugin>(instance: impl Instance + 'static, executor: AsyncExecutor<P>) {
    let background = executor.clone();
    CREATED.set(Some(Constructed {
        instance: Box::new(instance),
        execute_gui: Box::new(move |task| executor.execute_gui(task)),
        execute_background: Box::new(move |task| background.execute_background(task)),
    }));
}

/// Removes and returns the instance that was constructed last on this thread; `None` if it has been taken already.
pub(crate) fn take() -> Option<Constructed> {
    CREATED.take()
}
