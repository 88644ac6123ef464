//! nice-plug's worker thread, `bg-worker`, which must not end before the process does.
//!
//! In VST3 on Linux, the worker passes new values to the editor and a new latency to the host. All instances of a process share it.
//! In nice-plug 0.4.2 (`event_loop/background_thread.rs`), the worker ends as soon as it finds a task of an instance that has been
//! released, though others may live. If it has ended before the release of the last instance, that release panics, which
//! ends the host.
//!
//! Therefore a first instance, which no host sees, is never released. Other instances are released after the worker has done all its
//! tasks. The memory of that instance and the thread stay until the process ends, as the plugin's library does (`build.rs`).

#[cfg(target_os = "linux")]
pub use linux::{finish, keep};

#[cfg(target_os = "linux")]
mod linux {
    use crate::{
        GuardedPlugin, Task,
        construction::{self, Executor},
        task::{Kind, Reached},
    };
    use nice_plug::wrapper::vst3::Wrapper;
    use std::{
        mem,
        sync::{
            OnceLock,
            mpsc::{RecvTimeoutError, channel},
        },
        thread,
        time::{Duration, Instant},
    };

    /// Longest wait of a release. A worker may wait for the host, which may wait for the release.
    const PATIENCE: Duration = Duration::from_secs(2);

    /// Executor of the instance that is never released.
    static KEEPER: OnceLock<Option<Box<dyn Executor>>> = OnceLock::new();

    /// Keeps the worker alive. To be called before an instance is constructed.
    pub fn keep<P: GuardedPlugin>() {
        KEEPER.get_or_init(|| {
            mem::forget(Wrapper::<P>::new());
            construction::take().map(|created| created.executor)
        });
    }

    /// Waits until the worker has done all tasks that were posted before, so that it needs their instance no more.
    pub fn finish() {
        let Some(Some(keeper)) = KEEPER.get() else { return };
        let begun = Instant::now();
        while let Some(rest) = PATIENCE.checked_sub(begun.elapsed()) {
            let (sender, receiver) = channel();
            // A task of the keeper's: with one of this instance's, the worker would release the instance.
            keeper.background(Task(Kind::Reached(Reached(sender))));
            match receiver.recv_timeout(rest) {
                Ok(()) | Err(RecvTimeoutError::Timeout) => return,
                // The queue is full, and nice-plug has dropped the task.
                Err(RecvTimeoutError::Disconnected) => thread::sleep(Duration::from_millis(1)),
            }
        }
    }
}

/// Elsewhere, the worker has no tasks: those for the editor and the host are the main thread's.
#[cfg(not(target_os = "linux"))]
pub fn keep<P>() {}

/// Elsewhere, there is nothing to wait for.
#[cfg(not(target_os = "linux"))]
pub fn finish() {}
