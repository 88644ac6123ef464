//! Plan of a batch: all inputs with their outputs, checked before any work begins.

use super::find::{FoundFile, LeftOut, Reason, find, is_audio};
use crate::{
    STDIO,
    error::{Error, Fault},
    formats::extension,
    output::is_stream,
    render::Report,
};
use std::{
    collections::{HashMap, HashSet},
    ffi::{OsStr, OsString},
    fs,
    path::{Component, Path, PathBuf},
};

/// Placeholder of the input's extension in [`Request::suffix`].
pub const EXT: &str = "{ext}";

/// Inputs of a batch, as the user has named them.
#[derive(Debug, Clone, Default)]
pub struct Inputs {
    /// Files, folders and patterns; `-` is standard input.
    pub all: Vec<PathBuf>,
    /// Number of inputs that come from a list; they are the last ones of `all`. Below an output folder, their outputs keep the
    /// folders of their relative paths.
    pub listed: usize,
    /// Folder of the playlist, which is part of the paths of its files; empty without a playlist. Output paths omit it.
    pub listed_in: PathBuf,
    /// Whether there is a list. With a list, the output is a folder, even if there is only one input file.
    pub has_list: bool,
}

/// Inputs of a batch, and rules for its outputs.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// Inputs, the same in all requests of a run.
    pub inputs: &'a Inputs,
    /// Output file for one input, or folder for all outputs. `None` writes beside the inputs, `-` to standard output.
    pub out: Option<&'a Path>,
    /// Text that is added to the names of outputs; [`EXT`] in it stands for the input's extension.
    pub suffix: &'a str,
    /// Whether `out` or `suffix` contains a preset's name. Then an input with the path of an output comes from an earlier run,
    /// not from the user, so `force` may overwrite it.
    pub named_after_preset: bool,
    /// Extensions that names of outputs may have. Generated names get the first one.
    pub extensions: &'a [&'a str],
    /// Whether existing outputs may be overwritten.
    pub force: bool,
    /// Whether existing outputs count as complete and are skipped.
    pub skip_existing: bool,
}

/// One file to render.
#[derive(Debug, Clone)]
pub struct Job {
    /// Input path; `-` for standard input.
    pub input: PathBuf,
    /// Output path; `-` for standard output.
    pub output: PathBuf,
    /// Estimated work in arbitrary units.
    pub work: u64,
    /// Position among the inputs.
    pub(super) index: usize,
}

/// Result for a file, without its paths.
#[derive(Debug)]
pub enum Fate {
    /// Rendered, with the report of the run.
    Done(Box<Report>),
    /// Skipped: the output existed already.
    Skipped,
    /// Failed with this error.
    Failed(Error),
}

/// Result for a file, with the paths of input and output.
#[derive(Debug)]
pub struct Outcome {
    /// Input path.
    pub input: PathBuf,
    /// Output path, if it is known.
    pub output: Option<PathBuf>,
    /// Result: rendered, skipped or failed.
    pub fate: Fate,
}

/// Jobs of a batch, and the outcomes that are known before any file is rendered.
#[derive(Debug)]
pub struct Plan {
    /// Files to render, those with the most estimated work first.
    pub jobs: Vec<Job>,
    /// Inputs that repeat an earlier one: their file is rendered once.
    pub repeated: Vec<PathBuf>,
    /// Inputs that are not rendered, each with the reason.
    pub left_out: Vec<LeftOut>,
    pub(super) skip_existing: bool,
    /// Outcomes that are known before any file is rendered, each with the position among the inputs: files that are skipped,
    /// and files, folders and patterns that have failed.
    pub outcomes: Vec<(usize, Outcome)>,
}

/// Error in a request; nothing is rendered.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// Two inputs have the same output.
    #[error("{} and {} would both become {}; give them in separate runs, or, with render, in an --input-list, which keeps their folders, or, if their extensions differ, with {{ext}} in --out, like 'out/{{name}}-{{ext}}.wav'", .inputs[0].display(), .inputs[1].display(), .output.display())]
    Collision {
        /// Paths of the two inputs.
        inputs: [PathBuf; 2],
        /// Path of their output.
        output: PathBuf,
    },
    /// An output is also an input.
    #[error("{}: is an input; choose another name or folder for the output", .0.display())]
    OverInput(PathBuf),
    /// With `force`, the output of one input would overwrite another input. The other input may be an output of an earlier run,
    /// or a file of the user.
    #[error("{}: is an input that --force would overwrite; go on with --skip-existing, or choose an --out or another --suffix", .0.display())]
    Earlier(PathBuf),
    /// The output must be a folder, as for several inputs or a list, but its path is a file or has a file's extension.
    #[error("{}: is a file's name, and several outputs need a folder; choose another one, or end it in /", .0.display())]
    NotAFolder(PathBuf),
    /// The output's name has an unsupported extension.
    #[error("{}: unsupported output format; use .wav or .flac", .0.display())]
    NotWritten(PathBuf),
    /// The output does not exist, and its name has no extension, so it could mean a file or a folder.
    #[error("{}: ambiguous, a folder or a file; write {}/ or {}.{extension}", .path.display(), .path.display(), .path.display())]
    Ambiguous {
        /// Output path as given.
        path: PathBuf,
        /// Extension that the message suggests.
        extension: String,
    },
    /// Standard input or output is used with several files, a folder or a list, or standard input without an output file.
    #[error("- stands for one file: give it one input and one output")]
    Stdio,
}

impl Plan {
    /// Finds all inputs and names their outputs. `run` has the requests of this run, one per preset. Their outputs from an
    /// earlier run are left out of the inputs; this takes an output folder, a suffix, or the name of a preset.
    ///
    /// # Errors
    /// If an output would be written twice or over an input, or if the names in `request` contradict each other.
    pub fn new(request: &Request, run: &[Request]) -> Result<Self, Refused> {
        let mut left_out = Vec::new();
        let found = find_all(request, run, &mut left_out);
        let one_file = matches!(&found[..], [Ok(FoundFile { named: true, .. })])
            && request.inputs.all.len() == 1
            && !request.inputs.has_list;
        let is_stdio = |path: &Path| path == Path::new(STDIO);
        let uses_stdin = request.inputs.all.iter().any(|input| is_stdio(input));
        let to_stdout = request.out.is_some_and(is_stdio);
        let into_folder = request.out.is_some_and(|out| {
            !to_stdout && (!one_file || out.is_dir() || ends_with_separator(out))
        });
        if (uses_stdin || to_stdout) && !one_file
            || uses_stdin && (into_folder || request.out.is_none())
        {
            return Err(Refused::Stdio);
        }
        let is_file_name = |out: &&Path| {
            let has_extension = is_audio(out) || is_written(out, request.extensions);
            !out.is_dir() && (out.exists() || has_extension && !ends_with_separator(out))
        };
        if let Some(out) = request.out.filter(|_| into_folder).filter(is_file_name) {
            return Err(Refused::NotAFolder(out.into()));
        }
        let is_other =
            |out: &&Path| extension(out).is_some() && !is_written(out, request.extensions);
        if let Some(out) = request.out.filter(|_| !into_folder).filter(is_other) {
            return Err(Refused::NotWritten(out.into()));
        }

        let is_new = |out: &&Path| !to_stdout && out.symlink_metadata().is_err();
        let is_ambiguous = |out: &&Path| extension(out).is_none() && is_new(out);
        if let Some(out) = request.out.filter(|_| !into_folder).filter(is_ambiguous) {
            let extension = request.extensions[0].into();
            return Err(Refused::Ambiguous { path: out.into(), extension });
        }

        let output_of = |request: &Request, found: &FoundFile| match request.out {
            Some(out) if !into_folder => native(out),
            Some(out) => renamed(&native(out).join(&found.below), request),
            None => renamed(&found.path, request),
        };
        let canonical = |path: &Path| fs::canonicalize(path).ok();
        // Inputs that are outputs of an earlier run: a pattern like *.wav matches them, too, if they are beside their inputs.
        let mut earlier = HashSet::new();
        let leaves_outputs =
            |run: &&Request| run.named_after_preset || !run.suffix.is_empty() || run.skip_existing;
        for request in run.iter().filter(leaves_outputs) {
            for found in found.iter().flatten() {
                let output = canonical(&output_of(request, found));
                earlier.extend(
                    output.filter(|output| Some(output) != canonical(&found.path).as_ref()),
                );
            }
        }
        let is_earlier = |path: &Path| canonical(path).is_some_and(|path| earlier.contains(&path));
        let overwritten = found.iter().flatten().find(|found| is_earlier(&found.path));
        let may_be_of_user = request.force && !request.named_after_preset;
        if let Some(found) = overwritten.filter(|_| may_be_of_user) {
            return Err(Refused::Earlier(found.path.clone()));
        }
        let (jobs, repeated, outcomes) = Default::default();
        let skip_existing = request.skip_existing;
        let mut plan = Self { jobs, repeated, left_out, skip_existing, outcomes };
        let mut input_of: HashMap<OsString, PathBuf> = HashMap::new();
        let rendered = found.iter().flatten().filter(|found| !is_earlier(&found.path));
        let inputs: HashSet<_> = rendered.filter_map(|found| canonical(&found.path)).collect();
        for (index, found) in found.into_iter().enumerate() {
            let found = match found {
                Ok(found) => found,
                Err(error) => {
                    let (input, fate) = (error.path.clone(), Fate::Failed(error));
                    plan.outcomes.push((index, Outcome { input, output: None, fate }));
                    continue;
                }
            };
            let output = output_of(request, &found);
            let FoundFile { path: input, .. } = found;
            if is_earlier(&input) {
                plan.left_out.push(LeftOut { input, reason: Reason::Output });
                continue;
            }
            if let Some(other) = input_of.insert(key(&output), input.clone()) {
                if canonical(&other) == canonical(&input) {
                    plan.repeated.push(input);
                    continue;
                }
                return Err(Refused::Collision { inputs: [other, input], output });
            }
            if canonical(&output).is_some_and(|path| inputs.contains(&path)) {
                return Err(Refused::OverInput(output));
            }
            plan.add(Job { work: work(&input), input, output, index }, request);
        }
        plan.jobs.sort_by_key(|job| (std::cmp::Reverse(job.work), job.index));
        Ok(plan)
    }

    /// Returns [`Plan::outcomes`] without their positions.
    pub fn decided(&self) -> impl Iterator<Item = &Outcome> {
        self.outcomes.iter().map(|(_, outcome)| outcome)
    }

    fn add(&mut self, job: Job, request: &Request) {
        let is_file = |path: &Path| path != Path::new(STDIO);
        let missing = is_file(&job.input).then(|| fs::metadata(&job.input).err()).flatten();
        let exists = !is_stream(&job.output) && job.output.symlink_metadata().is_ok();
        let fate = if let Some(error) = missing {
            Fate::Failed(Fault::Read(error).at(&job.input))
        } else if exists && request.skip_existing {
            Fate::Skipped
        } else if exists && !request.force {
            Fate::Failed(Fault::Exists.at(&job.output))
        } else {
            self.jobs.push(job);
            return;
        };
        let Job { input, output, index, .. } = job;
        self.outcomes.push((index, Outcome { input, output: Some(output), fate }));
    }
}

fn find_all(
    request: &Request,
    run: &[Request],
    left_out: &mut Vec<LeftOut>,
) -> Vec<Result<FoundFile, Error>> {
    let outs = run.iter().filter_map(|request| fs::canonicalize(request.out?).ok());
    let outs: Vec<PathBuf> = outs.collect();
    let find = |input: &PathBuf| find(&native(input), &outs, left_out);
    let Inputs { all, listed, listed_in, .. } = request.inputs;
    let mut found: Vec<_> = all.iter().map(find).collect();
    let named = all.len() - listed;
    for found in found[named..].iter_mut().flatten().flatten() {
        let path = found.path.strip_prefix(listed_in).unwrap_or(&found.path);
        if path.is_relative() {
            let is_name = |part: &Component| matches!(part, Component::Normal(_));
            found.below = path.components().filter(is_name).collect();
        }
    }
    found.into_iter().flatten().collect()
}

/// Returns `path` with `\` as its only separator on Windows, and unchanged on other systems.
fn native(path: &Path) -> PathBuf {
    if cfg!(windows) { path.components().collect() } else { path.into() }
}

fn is_written(path: &Path, extensions: &[&str]) -> bool {
    extension(path).is_some_and(|extension| extensions.contains(&&*extension))
}

/// Returns `path` with the suffix of `request` at the end of its name, and the first extension of `request`.
fn renamed(path: &Path, request: &Request) -> PathBuf {
    let mut name = path.file_stem().unwrap_or_default().to_os_string();
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    name.push(request.suffix.replace(EXT, &extension));
    name.extend([".", request.extensions[0]].map(OsStr::new));
    path.with_file_name(name)
}

/// Returns a key by which equal outputs are recognised: the absolute path, in lower case on systems that ignore case.
fn key(path: &Path) -> OsString {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.into());
    if cfg!(any(windows, target_os = "macos")) {
        return path.to_string_lossy().to_lowercase().into();
    }
    path.into()
}

fn ends_with_separator(path: &Path) -> bool {
    path.to_string_lossy().ends_with(std::path::is_separator)
}

/// Estimates the amount of work by the file's size. A compressed file has more sound per byte.
fn work(path: &Path) -> u64 {
    let len = fs::metadata(path).map_or(0, |metadata| metadata.len());
    match extension(path).as_deref() {
        Some("mp3" | "ogg" | "oga") => len.saturating_mul(8),
        Some("flac") => len.saturating_mul(2),
        _ => len,
    }
}
