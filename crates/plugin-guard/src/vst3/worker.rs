//! nice-plug's worker thread, `bg-worker`, which must not end before the process does.
//!
//! In VST3 on Linux, the worker passes new values to the editor and a new latency to the host, for all instances of a process. In
//! nice-plug 0.4.2 (`event_loop/background_thread.rs`), it ends as soon as it finds a task of a released instance. The release of
//! the last instance then panics, which ends the host.
//!
//! Therefore a first, hidden instance is never released. Each other instance is released only after the worker has done all tasks
//! in its queue, or after 2 s. The hidden instance and the thread stay until the process ends, as the plugin's library does
//! (`build.rs`).

#[cfg(target_os = "linux")]
pub use linux::{finish, keep};

#[cfg(target_os = "linux")]
mod linux {
    use crate::{
        GuardedPlugin, Job, Task,
        construction::{self, Execute},
    };
    use nice_plug::wrapper::vst3::Wrapper;
    use std::{
        mem,
        sync::{
            Arc, OnceLock,
            mpsc::{RecvTimeoutError, Sender, channel},
        },
        thread,
        time::{Duration, Instant},
    };

    /// Maximum wait before a release. The worker may be waiting for the host, and the host for the release.
    const PATIENCE: Duration = Duration::from_secs(2);

    /// Queues a task for the worker, through the hidden instance.
    static EXECUTE: OnceLock<Option<Execute>> = OnceLock::new();

    /// Task that reports that the worker has done all earlier tasks.
    struct Marker(Sender<()>);

    impl Job for Marker {
        fn run(&self) {
            // The receiver may have given up.
            let _ = self.0.send(());
        }
    }

    /// Keeps the worker alive: the first call creates the hidden instance. Must be called before an instance is constructed.
    pub fn keep<P: GuardedPlugin>() {
        EXECUTE.get_or_init(|| {
            mem::forget(Wrapper::<P>::new());
            construction::take().map(|created| created.execute_background)
        });
    }

    /// Waits up to 2 s until the worker has done all tasks in its queue: they may refer to the instance that is being released.
    pub fn finish() {
        let Some(Some(execute)) = EXECUTE.get() else { return };
        let begun = Instant::now();
        while let Some(rest) = PATIENCE.checked_sub(begun.elapsed()) {
            let (sender, receiver) = channel();
            // Goes through the hidden instance, as the worker releases the instance of a task.
            execute(Task::new(Arc::new(Marker(sender))));
            match receiver.recv_timeout(rest) {
                Ok(()) | Err(RecvTimeoutError::Timeout) => return,
                // The queue is full, and nice-plug has dropped the task.
                Err(RecvTimeoutError::Disconnected) => thread::sleep(Duration::from_millis(1)),
            }
        }
    }
}

/// Does nothing: on other systems the main thread does the worker's tasks.
#[cfg(not(target_os = "linux"))]
pub fn keep<P>() {}

/// Does nothing: on other systems the worker has no tasks.
#[cfg(not(target_os = "linux"))]
pub fn finish() {}
