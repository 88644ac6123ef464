//! Input files of a run. Each has an output in every format that is requested.

use super::args::{Args, FORMATS};
use crate::inputs::Named;
use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    slice,
};
use tone_filter_offline::{
    Error,
    batch::{Fate, LeftOut, Outcome, Plan, Refused, Request},
};

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
    /// Input files, the longest first.
    pub all: Vec<File>,
    /// Files that were named more than once.
    pub repeated: Vec<PathBuf>,
    /// Inputs that are not read, each with the reason.
    pub left_out: Vec<LeftOut>,
}

impl Files {
    /// Collects the `named` files, with the outputs that the flags in `args` request.
    ///
    /// # Errors
    /// If an output would be written twice or over an input, or if the paths of inputs and outputs contradict each other.
    pub fn new(args: &Args, named: &Named) -> Result<Self, Refused> {
        let mut files = Self { all: Vec::new(), repeated: Vec::new(), left_out: Vec::new() };
        let mut indices = HashMap::new();
        for (index, (format, out)) in FORMATS.iter().zip(args.outputs()).enumerate() {
            if let Some(out) = out {
                let request = Request {
                    inputs: &named.all,
                    listed: named.listed,
                    listed_in: &named.listed_in,
                    out: Some(out),
                    out_is_folder: named.has_list,
                    suffix: "",
                    named_after_preset: false,
                    extensions: format.extensions,
                    force: args.force,
                    skip_existing: args.skip_existing,
                };
                let mut plan = Plan::new(&request, slice::from_ref(&request))?;
                for job in std::mem::take(&mut plan.jobs) {
                    let file = files.file(&mut indices, &job.input);
                    (file.outputs[index], file.work) = (Some(job.output), job.work);
                }
                for Outcome { input, fate, .. } in plan.take_decided() {
                    let file = files.file(&mut indices, &input);
                    if let Fate::Failed(error) = fate {
                        file.failed.get_or_insert(error);
                    }
                }
                // Repeated and left-out files are the same for each format.
                (files.repeated, files.left_out) = (plan.repeated, plan.left_out);
            }
        }
        files.all.sort_by_key(|file| std::cmp::Reverse(file.work));
        Ok(files)
    }

    /// Returns the entry of `input` in `all`, and adds it if it is missing. `indices` maps inputs to their positions in `all`.
    fn file(&mut self, indices: &mut HashMap<PathBuf, usize>, input: &Path) -> &mut File {
        let index = *indices.entry(input.into()).or_insert(self.all.len());
        if index == self.all.len() {
            let (input, outputs) = (input.into(), Default::default());
            self.all.push(File { input, outputs, failed: None, work: 0 });
        }
        &mut self.all[index]
    }
}
