//! Batch rendering of many files on all cores.

mod find;
mod plan;

pub use find::{LeftOut, Reason};
pub use plan::{EXT, Fate, Inputs, Job, Outcome, Plan, Refused, Request};

use crate::{error::Fault, options::Options, render::render};
use rayon::iter::{ParallelBridge, ParallelIterator};

/// Progress observer. The worker threads call it; they are numbered from 0.
pub trait Watch: Sync {
    /// Called before `worker` renders `job`.
    fn begin(&self, worker: usize, job: &Job);
    /// Called while `worker` renders `job`. `part` is the fraction of the work that is done, 0 to 1. Not called if the header
    /// of the file states no length.
    fn advance(&self, worker: usize, job: &Job, part: f64);
    /// Called when `worker` has ended `job`, whether successfully or not. `outcome` is the result.
    fn end(&self, worker: usize, job: &Job, outcome: &Outcome);
}

/// Renders all files of `plan` on `workers` threads. An error in one file does not stop the others. Returns all outcomes in the
/// order of the inputs.
///
/// # Panics
/// If the system cannot start threads.
pub fn run(plan: Plan, options: &Options, workers: usize, watch: &impl Watch) -> Vec<Outcome> {
    let Plan { jobs, mut outcomes, skip_existing, .. } = plan;
    outcomes.extend(on_all_cores(jobs, workers, |worker, job| {
        watch.begin(worker, &job);
        let progress = |part| watch.advance(worker, &job, part);
        let fate = match render(&job.input, &job.output, options, progress) {
            Ok(report) => Fate::Done(Box::new(report)),
            // Another run has created the output since the plan was made.
            Err(error) if skip_existing && matches!(error.fault, Fault::Exists) => Fate::Skipped,
            Err(error) => Fate::Failed(error),
        };
        let (input, output) = (job.input.clone(), Some(job.output.clone()));
        let outcome = Outcome { input, output, fate };
        watch.end(worker, &job, &outcome);
        (job.index, outcome)
    }));
    outcomes.sort_by_key(|(index, _)| *index);
    outcomes.into_iter().map(|(_, outcome)| outcome).collect()
}

/// Calls `work` for each of `jobs` on `workers` threads, which are numbered from 0. Returns the results in any order.
///
/// # Panics
/// If the system cannot start threads.
pub fn on_all_cores<J: Send, R: Send>(
    jobs: Vec<J>,
    workers: usize,
    work: impl Fn(usize, J) -> R + Sync,
) -> Vec<R> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(workers).build();
    let pool = pool.expect("the system gives threads");
    let one = |job| work(rayon::current_thread_index().unwrap_or(0), job);
    // The bridge hands out jobs in order, one by one. The caller puts the longest first, so that no core is left with a long
    // file at the end.
    pool.install(|| jobs.into_iter().par_bridge().map(one).collect())
}
