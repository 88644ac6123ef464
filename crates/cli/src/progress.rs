//! Progress bars on the terminal. A batch has one bar for all files, and one for the current file of each worker.

use super::report::{self, Summary};
use indicatif::{
    MultiProgress, ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressState, ProgressStyle,
};
use std::{
    fmt::Write,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tone_filter_offline::batch::{Job, Outcome, Plan, Watch};

/// Position of a full bar, except for the bar of a whole batch.
const STEPS: u64 = 1000;

/// Returns a progress bar labelled `name`. It appears only if standard error is a terminal and `quiet` is not set. Dropping the
/// bar removes it from the terminal.
pub fn bar(name: &str, quiet: bool) -> ProgressBar {
    let bar = if quiet { ProgressBar::hidden() } else { ProgressBar::new(STEPS) };
    bar.set_style(style("{wide_bar} {msg}, {gone}").with_key("gone", elapsed));
    bar.set_message(crate::messages::escaped(name));
    bar.enable_steady_tick(Duration::from_millis(500));
    bar.with_finish(ProgressFinish::AndClear)
}

/// Sets `bar` to `part`, the fraction of the work that is done, 0 to 1.
pub fn move_to(bar: &ProgressBar, part: f64) {
    bar.set_position((part * STEPS as f64) as u64);
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("the templates are well formed")
}

/// Writes the time since a bar was created. Ignores errors of `to`.
fn elapsed(state: &ProgressState, to: &mut dyn Write) {
    let _ = write!(to, "{}", short(state.elapsed()));
}

/// Progress bars of a batch on standard error, if that is a terminal.
pub struct Progress {
    bars: MultiProgress,
    /// Bar of the whole batch, in units of the work of all jobs.
    all: ProgressBar,
    /// Bars of the workers, each labelled with its current file.
    files: Vec<ProgressBar>,
    /// Counts of outcomes so far, including those known before rendering.
    summary: Mutex<Summary>,
    /// Number of files whose outcome was known before rendering.
    decided: usize,
    /// Number of files to render.
    count: usize,
    /// Whether a line is printed for every file.
    list_files: bool,
    quiet: bool,
}

impl Progress {
    pub fn new(plan: &Plan, workers: usize, quiet: bool, list_files: bool) -> Self {
        let bars = MultiProgress::new();
        if quiet {
            bars.set_draw_target(ProgressDrawTarget::hidden());
        }
        // Writes nothing at the start, when the remaining time is unknown.
        let remaining = |state: &ProgressState, to: &mut dyn Write| {
            if state.pos() > 0 {
                let _ = write!(to, ", {} to go", short(state.eta()));
            }
        };
        let count = plan.jobs.len();
        let all = bars.add(ProgressBar::new(plan.jobs.iter().map(|job| job.work.max(1)).sum()));
        all.set_style(
            style("{wide_bar} {msg}, {gone}{left}")
                .with_key("left", remaining)
                .with_key("gone", elapsed),
        );
        all.set_message(format!("0 of {count}"));
        let file = || {
            let bar = bars.add(ProgressBar::new(STEPS));
            bar.set_style(style("  {bar:16} {wide_msg}"));
            bar
        };
        let files = (0..workers).map(|_| file()).collect();
        all.enable_steady_tick(Duration::from_millis(500));
        let summary = Mutex::new(Summary::new(plan.decided(), &[], 0.0));
        let decided = plan.decided().count();
        Self { bars, all, files, summary, decided, count, list_files, quiet }
    }

    /// Removes the bars and prints the counts of outcomes, after an interruption by the user. Does nothing for a single file,
    /// or if the batch is quiet.
    pub fn interrupted(&self) {
        let total = self.count + self.decided;
        if !self.quiet && total > 1 {
            self.clear();
            let Summary { done, skipped, failed, .. } = *self.summary();
            message!(
                "interrupted: of {total} files {done} done, {skipped} skipped, {failed} failed; \
                 --skip-existing goes on"
            );
        }
    }

    fn summary(&self) -> MutexGuard<'_, Summary> {
        self.summary.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn clear(&self) {
        self.files.iter().chain([&self.all]).for_each(ProgressBar::finish_and_clear);
    }

    /// Sets the bar of `worker` to `part`, the fraction of `job` that is done. Advances the bar for all files by the work done
    /// since the last call.
    fn move_to(&self, worker: usize, job: &Job, part: f64) {
        let bar = &self.files[worker];
        let (before, now) = (bar.position(), (part * STEPS as f64) as u64);
        let work = |steps: u64| {
            (u128::from(job.work.max(1)) * u128::from(steps) / u128::from(STEPS)) as u64
        };
        if now > before {
            bar.set_position(now);
            self.all.inc(work(now) - work(before));
        }
    }
}

impl Watch for Progress {
    fn begin(&self, worker: usize, job: &Job) {
        let name = job.input.file_name().unwrap_or(job.input.as_os_str());
        self.files[worker].set_position(0);
        self.files[worker].set_message(crate::messages::escaped(&name.to_string_lossy()));
    }

    fn advance(&self, worker: usize, job: &Job, part: f64) {
        self.move_to(worker, job, part);
    }

    fn end(&self, worker: usize, job: &Job, outcome: &Outcome) {
        self.move_to(worker, job, 1.0);
        self.bars.suspend(|| report::print(outcome, self.list_files, self.quiet));
        let mut summary = self.summary();
        summary.add(outcome);
        let done = summary.total() - self.decided;
        self.all.set_message(format!("{done} of {}", self.count));
    }
}

/// Returns a duration in a short form for narrow terminals: `7 s`, `3:07`, `2:03:07`.
fn short(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, seconds) => format!("{minutes}:{seconds:02}"),
        (hours, minutes, seconds) => format!("{hours}:{minutes:02}:{seconds:02}"),
    }
}
