//! Input files of a run. Each has an output in every format that is requested.

use super::args::{Args, FORMATS};
use std::{collections::BTreeMap, path::PathBuf, slice};
use tone_filter_offline::{
    Error,
    batch::{Fate, Inputs, Job, LeftOut, Outcome, Plan, Refused, Request},
};

#[derive(Default)]
pub struct File {
    pub input: PathBuf,
    /// Output path for each of [`FORMATS`]; `None` for a format that is not requested or whose output exists.
    pub outputs: [Option<PathBuf>; FORMATS.len()],
    /// Error because of which the file is not analysed, if any.
    pub failed: Option<Error>,
    /// Estimated duration of the work, in arbitrary units.
    work: u64,
}

/// Inputs of a run: those to read, those named again, and those left out.
pub struct Files {
    /// Input files, those with the most estimated work first.
    pub all: Vec<File>,
    /// Inputs that repeat an earlier one.
    pub repeated: Vec<PathBuf>,
    /// Inputs that are not read, each with the reason.
    pub left_out: Vec<LeftOut>,
}

impl Files {
    /// Collects the `named` files, with the outputs that the flags in `args` request.
    ///
    /// # Errors
    /// If an output would be written twice or over an input, or if the paths of inputs and outputs contradict each other.
    pub fn new(args: &Args, named: &Inputs) -> Result<Self, Refused> {
        let (mut repeated, mut left_out) = (Vec::new(), Vec::new());
        let mut files: BTreeMap<PathBuf, File> = BTreeMap::new();
        for (format, out) in args.outputs().into_iter().enumerate() {
            let Some(out) = out else { continue };
            let request = Request {
                inputs: named,
                out: Some(out),
                suffix: "",
                named_after_preset: false,
                extensions: FORMATS[format].extensions,
                force: args.force,
                skip_existing: args.skip_existing,
            };
            let plan = Plan::new(&request, slice::from_ref(&request))?;
            for Job { input, output, work, .. } in plan.jobs {
                let file = files.entry(input).or_default();
                (file.outputs[format], file.work) = (Some(output), work);
            }
            for (_, Outcome { input, fate, .. }) in plan.outcomes {
                let file = files.entry(input).or_default();
                if let Fate::Failed(error) = fate {
                    file.failed.get_or_insert(error);
                }
            }
            // Repeated and left-out files are the same for each format.
            (repeated, left_out) = (plan.repeated, plan.left_out);
        }
        let files = files.into_iter().map(|(input, file)| File { input, ..file });
        let mut all: Vec<File> = files.collect();
        all.sort_by_key(|file| std::cmp::Reverse(file.work));
        Ok(Self { all, repeated, left_out })
    }
}
