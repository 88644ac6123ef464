//! Reports about the files of a run: lines on standard error, and JSON.

use crate::messages::without_codes;
use serde_json::{Value, json};
use std::{fmt, mem::discriminant, path::Path};
use tone_filter_dsp::notes::{TONES, name_at};
use tone_filter_offline::{
    Error, Fault,
    batch::{Fate, Job, LeftOut, Outcome, Plan, Reason},
    render::Report,
    silence_reasons::Cause,
};

/// Version of the JSON report. Keys may be added without a new version; existing keys keep their meaning.
const VERSION: u32 = 1;

/// Peak in dB full scale below which a sound is called silent. It is far below one LSB of every integer format.
const SILENT: f32 = -200.0;

/// Totals over all files of a run.
pub struct Summary {
    pub done: usize,
    /// Number of files skipped because their outputs exist.
    pub skipped: usize,
    pub failed: usize,
    left_out: usize,
    /// Duration of the rendered inputs in seconds.
    audio_seconds: f64,
    /// Number of samples of the rendered inputs, over all channels.
    samples: u64,
    /// Duration of the run in seconds.
    wall_seconds: f64,
}

impl Summary {
    /// Creates the summary of `outcomes`, which took `wall_seconds` in all.
    pub fn new<'a>(
        outcomes: impl IntoIterator<Item = &'a Outcome>,
        left_out: &[LeftOut],
        wall_seconds: f64,
    ) -> Self {
        let mut summary = Self {
            done: 0,
            skipped: 0,
            failed: 0,
            left_out: left_out.len(),
            audio_seconds: 0.0,
            samples: 0,
            wall_seconds,
        };
        outcomes.into_iter().for_each(|outcome| summary.add(outcome));
        summary
    }

    pub fn add(&mut self, outcome: &Outcome) {
        match &outcome.fate {
            Fate::Done(report) => {
                self.done += 1;
                self.audio_seconds += report.source_seconds;
                self.samples += report.samples;
            }
            Fate::Skipped => self.skipped += 1,
            Fate::Failed(_) => self.failed += 1,
        }
    }

    pub fn total(&self) -> usize {
        self.done + self.skipped + self.failed
    }

    fn times_real_time(&self) -> f64 {
        self.audio_seconds / self.wall_seconds
    }

    fn mega_samples_per_second(&self) -> f64 {
        self.samples as f64 / self.wall_seconds / 1e6
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&counted([self.done, self.skipped, self.failed, self.left_out]))?;
        if self.done == 0 {
            return Ok(());
        }
        let audio = match self.audio_seconds {
            seconds if seconds < 600.0 => format!("{seconds:.2} s"),
            seconds => format!("{:.2} h", seconds / 3600.0),
        };
        write!(
            f,
            ": {audio} of audio in {:.3} s, {:.1} times real time, {:.2} M samples/s",
            self.wall_seconds,
            self.times_real_time(),
            self.mega_samples_per_second(),
        )
    }
}

/// Formats the `counts` that are not 0, as in `3 files done, 1 failed`: numbers of files that are done, skipped, failed and left
/// out.
pub fn counted(counts: [usize; 4]) -> String {
    let named = counts.into_iter().zip(["done", "skipped", "failed", "left out"]);
    let mut counts = named.filter(|(count, _)| *count > 0);
    let first = counts
        .next()
        .map(|(count, what)| format!("{count} file{} {what}", if count == 1 { "" } else { "s" }));
    first.into_iter().chain(counts.map(|(count, what)| format!(", {count} {what}"))).collect()
}

/// Prints a hint about `--skip-existing` and `--force` if several of the errors in `failed` say that an output exists.
pub fn print_existing<'a>(failed: impl Iterator<Item = &'a Error>) {
    let count = failed.filter(|error| matches!(error.fault, Fault::Exists)).count();
    if count > 1 {
        message!(
            "{count} outputs exist; --skip-existing leaves them as they are, --force overwrites them"
        );
    }
}

/// Prints the result of a file to standard error: errors always; clipping, and invalid or ignored samples, unless `quiet`; all
/// else only if `in_full`.
pub fn print(outcome: &Outcome, in_full: bool, quiet: bool) {
    let input = outcome.input.display();
    let output = outcome.output.as_deref().unwrap_or(&outcome.input).display();
    match &outcome.fate {
        Fate::Failed(error) => message!("error: {error}"),
        Fate::Skipped if in_full => message!("{input} -> {output}: exists, skipped"),
        Fate::Skipped => {}
        Fate::Done(report) => {
            let format = report.format;
            if in_full {
                let peak = report.after.peak_db();
                let peak =
                    if peak < SILENT { "silent".into() } else { format!("peak {peak:.1} dB") };
                message!(
                    "{input} -> {output}: {:.2} s, {} x {} Hz, {}, {peak}",
                    report.audio_seconds(),
                    format.channels,
                    format.rate,
                    format.depth.name(),
                );
            }
            if !quiet {
                warn_not_finite(&outcome.input, report.not_finite);
                if let Some(ignored) = report.ignored {
                    message!("note: {input}: {ignored}");
                }
                if !report.left_out.is_empty() && in_full {
                    message!("note: {input}: left out {}", report.left_out.join(", "));
                }
            }
            if report.clipped > 0 && !quiet {
                message!(
                    "warning: {output}: {} samples clipped; lower --output by {:.1} dB or use --bit-depth 32f",
                    report.clipped,
                    report.after.peak_db() + 0.1,
                );
            }
            if let Some(cause) = report.unheard.filter(|_| in_full) {
                message!("warning: {output}: {cause}");
            }
        }
    }
}

/// Warns that `count` samples of `input` are not finite, unless `count` is 0.
pub fn warn_not_finite(input: &Path, count: u64) {
    if count > 0 {
        let input = input.display();
        message!(
            "warning: {input}: {count} samples replaced by silence, as they are NaN or infinite"
        );
    }
}

/// Prints which inputs are left out, and why, to standard error. If `in_full`, each has its own line; otherwise, each reason
/// has one.
pub fn print_left_out(left_out: &[LeftOut], in_full: bool) {
    for reason in Reason::ALL {
        let mut inputs =
            left_out.iter().filter(|left| left.reason == reason).map(|left| &left.input);
        if in_full {
            inputs.for_each(|input| message!("note: {}: left out, {reason}", input.display()));
        } else if let Some(first) = inputs.next() {
            let more = match inputs.count() {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            message!("note: {}{more}: left out, {reason}", first.display());
        }
    }
}

/// Prints why no note sounded: one line for each kind of cause. `files` has an item for every file that was processed.
pub fn print_silence_reasons(files: &[Option<Cause>]) {
    let mut causes: Vec<Cause> = files.iter().flatten().copied().collect();
    while let Some(first) = causes.first().copied() {
        let (same, others): (Vec<_>, Vec<_>) =
            causes.iter().partition(|cause| discriminant(*cause) == discriminant(&first));
        let (count, all) = (same.len(), files.len());
        message!("warning: {count} of {all} files: {first}; --verbose tells which");
        causes = others;
    }
}

/// Returns the JSON report of a plan for a dry run.
pub fn json_of_plan(plan: &Plan) -> Value {
    let planned = |job: &Job| json!({ "input": text(&job.input), "output": text(&job.output), "status": "planned" });
    let files = plan.jobs.iter().map(planned).chain(plan.decided().map(file));
    let summary = Summary::new(plan.decided(), &plan.left_out, 0.0);
    let counts = json!({
        "planned": plan.jobs.len(),
        "skipped": summary.skipped,
        "failed": summary.failed,
        "left_out": summary.left_out,
    });
    json_of(files.collect(), &plan.left_out, counts)
}

/// Returns the JSON report of a run. The level of silence, which has no value in dB, is null.
pub fn json(outcomes: &[Outcome], left_out: &[LeftOut], summary: &Summary) -> Value {
    let counts = json!({
        "done": summary.done,
        "skipped": summary.skipped,
        "failed": summary.failed,
        "left_out": summary.left_out,
        "audio_seconds": summary.audio_seconds,
        "wall_seconds": summary.wall_seconds,
        "times_real_time": summary.times_real_time(),
        "mega_samples_per_second": summary.mega_samples_per_second(),
    });
    json_of(outcomes.iter().map(file).collect(), left_out, counts)
}

fn json_of(files: Vec<Value>, left_out: &[LeftOut], summary: Value) -> Value {
    let one = |LeftOut { input, reason }: &LeftOut| json!({ "input": text(input), "reason": reason.to_string() });
    let left_out: Vec<Value> = left_out.iter().map(one).collect();
    json!({ "version": VERSION, "files": files, "left_out": left_out, "summary": summary })
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn file(outcome: &Outcome) -> Value {
    let mut file = json!({ "input": text(&outcome.input) });
    file["output"] = outcome.output.as_deref().map(text).into();
    match &outcome.fate {
        Fate::Skipped => file["status"] = "skipped".into(),
        Fate::Failed(error) => {
            file["status"] = "failed".into();
            file["error"] = without_codes(&error.to_string()).into();
        }
        Fate::Done(report) => {
            file["status"] = "done".into();
            let Value::Object(details) = details(report) else { return file };
            file.as_object_mut().expect("it was made as one").extend(details);
        }
    }
    file
}

fn details(report: &Report) -> Value {
    let notes = (0..TONES).filter(|&tone| report.notes.contains(tone));
    let notes = notes.map(|tone| name_at(tone, report.settings.pitch_shift()));
    let finite = |db: f32| db.is_finite().then_some(db);
    json!({
        "duration_seconds": report.audio_seconds(),
        "channels": report.format.channels,
        "sample_rate": report.format.rate,
        "depth": report.format.depth.name(),
        "not_finite": report.not_finite,
        "peak_before_db": finite(report.before.peak_db()),
        "rms_before_db": finite(report.before.rms_db()),
        "peak_after_db": finite(report.after.peak_db()),
        "rms_after_db": finite(report.after.rms_db()),
        "loudness_before_lufs": report.loudness[0],
        "loudness_after_lufs": report.loudness[1],
        "clipped_samples": report.clipped,
        "active_notes": notes.collect::<Vec<_>>(),
        "times_real_time": report.times_real_time(),
    })
}
