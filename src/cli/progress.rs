//! What moves on the terminal while files are rendered: a bar for all, and one for every worker.

use super::report;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use std::time::Duration;
use tone_filter::offline::batch::{Job, Outcome, Plan, Watch};

/// Bars on standard error, if that is a terminal.
pub struct Progress {
    bars: MultiProgress,
    all: ProgressBar,
    /// One a worker.
    files: Vec<ProgressBar>,
    tell_files: bool,
}

impl Progress {
    /// Bars for what `plan` has to do.
    pub fn new(plan: &Plan, workers: usize, quiet: bool, tell_files: bool) -> Self {
        let bars = MultiProgress::new();
        if quiet {
            bars.set_draw_target(indicatif::ProgressDrawTarget::hidden());
        }
        let style = |template| {
            ProgressStyle::with_template(template).expect("the templates are well formed")
        };
        let all = bars.add(ProgressBar::new(plan.jobs.len() as u64));
        all.set_style(style("{wide_bar} {pos}/{len} files, {elapsed} gone, {eta} to go"));
        all.enable_steady_tick(Duration::from_millis(500));
        let file = || {
            let bar = bars.add(ProgressBar::new(0));
            bar.set_style(style("  {msg:!50} {prefix}"));
            bar
        };
        let files = (0..workers).map(|_| file()).collect();
        Self { bars, all, files, tell_files }
    }

    /// Takes all bars off the terminal.
    pub fn clear(&self) {
        self.files.iter().chain([&self.all]).for_each(ProgressBar::finish_and_clear);
    }
}

impl Watch for Progress {
    fn begin(&self, worker: usize, job: &Job) {
        let name = job.input.file_name().unwrap_or(job.input.as_os_str());
        self.files[worker].set_message(name.to_string_lossy().into_owned());
    }

    fn advance(&self, worker: usize, seconds: f64) {
        // Formatting costs more than drawing, which the bar does but seldom.
        let bar = &self.files[worker];
        if !bar.is_hidden() {
            bar.set_prefix(format!("{seconds:.0} s"));
        }
    }

    fn end(&self, _: usize, _: &Job, outcome: &Outcome) {
        self.bars.suspend(|| report::tell(outcome, self.tell_files));
        self.all.inc(1);
    }
}
