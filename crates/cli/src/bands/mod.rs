//! Verb `bands`: the notes of files as pictures, tables, MIDI or scores.

mod analyse;
mod args;
mod files;

use super::{
    Usage,
    inputs::print_repeated,
    progress::{bar, move_to},
    refuse_terminal, report,
    sound::Task,
};
use analyse::{Done, analyse_one};
pub use args::Args;
use files::{File, Files};
use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::Instant,
};
use tone_filter_dsp::{Controls, Settings};
use tone_filter_offline::{Error, STDIO, batch::on_all_cores, clean_up_on_interrupt};

/// Analyses each file once, and writes all its outputs. Returns true if no file failed.
pub fn run(args: &Args) -> anyhow::Result<bool> {
    // Always with lookahead: the outputs show the listener's decisions, whatever the focus.
    let ahead = |settings| Settings { lookahead: true, ..settings };
    let task = if args.midi.is_some() { Task::WriteMidi } else { Task::Filter };
    let (Controls { settings, .. }, keys) =
        args.sound.read(task, Controls::default(), ahead, args.quiet)?;
    let outputs = args.outputs().into_iter().flatten();
    if outputs.filter(|path| *path == Path::new(STDIO)).count() > 1 {
        let line = "- stands for one output; name files for the others";
        return Err(Usage(line.into()).into());
    }
    args.png.iter().chain(&args.midi).try_for_each(|path| refuse_terminal(path))?;
    let named = args.inputs.read()?;
    let Files { all, repeated, left_out } = Files::new(args, &named)?;
    let (count, done) = (all.len(), Arc::new(AtomicUsize::new(0)));
    let one_file = named.all.len() == 1 && count == 1;
    let report_all = !args.quiet && (args.verbose || one_file);
    if !args.quiet {
        print_repeated(&repeated);
    }
    let (reports, so_far) = (!args.quiet && !one_file, Arc::clone(&done));
    clean_up_on_interrupt(move || {
        if reports {
            let done = so_far.load(Relaxed);
            message!("interrupted: {done} of {count} files done; --skip-existing goes on");
        }
    })?;

    let title = match &all[..] {
        [only] => only.input.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        _ => format!("{count} files"),
    };
    let (bar, start) = (bar(&title, args.quiet), Instant::now());
    let workers = args.inputs.workers(count);
    let fates = on_all_cores(all, workers, |_, mut file| {
        let progress = |part: f64| {
            if count == 1 {
                move_to(&bar, part);
            }
        };
        let fate = match file.failed.take() {
            Some(error) => Err(error),
            None if file.outputs.iter().all(Option::is_none) => Ok(None),
            None => analyse_one(args, &file, (&settings, keys.as_deref()), progress),
        };
        move_to(&bar, (1 + done.fetch_add(1, Relaxed)) as f64 / count as f64);
        bar.suspend(|| print(&file, &fate, report_all, args.quiet));
        fate
    });
    drop(bar);
    let failed = fates.iter().filter(|fate| fate.is_err()).count();
    if args.quiet {
        return Ok(failed == 0);
    }
    report::print_left_out(&left_out, args.verbose);
    report::print_existing(fates.iter().filter_map(|fate| fate.as_ref().err()));
    let all_done = || fates.iter().flatten().flatten();
    if !report_all {
        report::print_silence_reasons(&all_done().map(|done| done.unheard).collect::<Vec<_>>());
    }
    if !one_file {
        let done = all_done().count();
        let skipped = count - done - failed;
        let counted = report::counted([done, skipped, failed, left_out.len()]);
        let sound = all_done().fold(0.0, |sum, done| sum + done.seconds);
        let wall = start.elapsed().as_secs_f64();
        message!("{counted}: {sound:.2} s of audio in {wall:.3} s");
    }
    Ok(failed == 0)
}

/// Prints the outcome of `file` to standard error: errors always; a warning of invalid samples unless `quiet`; all else only if
/// `in_full`. `fate` is `None` if the file was skipped.
fn print(file: &File, fate: &Result<Option<Done>, Error>, in_full: bool, quiet: bool) {
    let input = file.input.display();
    match fate {
        Err(error) => message!("error: {error}"),
        Ok(Some(done)) => {
            if !quiet {
                report::warn_not_finite(&file.input, done.not_finite);
            }
            if let Some(cause) = done.unheard.filter(|_| in_full) {
                message!("warning: {input}: {cause}");
            }
            if done.short > 0 && in_full {
                let s = if done.short == 1 { "" } else { "s" };
                message!("note: {input}: {} note{s} of less than 70 ms left out", done.short);
            }
            if in_full {
                let names = file.outputs.iter().flatten().map(|path| path.display().to_string());
                message!("{input} -> {}: {done}", names.collect::<Vec<_>>().join(", "));
            }
        }
        Ok(None) if in_full => message!("{input}: all outputs exist, skipped"),
        Ok(None) => {}
    }
}
