//! Analysis of one file. A single pass over the file feeds all of its outputs.

use super::{args::Args, files::File};
use crate::{kernel, sound::Tempo};
use std::{
    fmt,
    io::{BufWriter, Write},
    path::PathBuf,
};
use tone_filter_dsp::{
    FoundKey, Settings, ToneFilter, Voice,
    listener::{beats::Beats, notes::Notes},
};
use tone_filter_offline::{
    Error, Fault, Input, Output,
    analyse::{Analysed, analyse},
    arrangement::midi as in_parts,
    beats::BeatRecorder,
    found::{Finder, KeyAndTuning},
    score::MidiFile,
    silence_reasons::Cause,
    table::{Syntax, Table},
    take::TakeRecorder,
    timeline::{Grid, Layout},
    transcribe::{Transcriber, midi, score as to_score},
};
use tone_filter_plot::Plot;

/// Result for one file. `Display` writes length, key, tuning and tempo.
pub struct Done {
    /// Length of the file in seconds.
    pub seconds: f64,
    /// Number of samples that are NaN or infinite.
    pub not_finite: u64,
    /// Number of notes shorter than 70 ms, which are left out.
    pub short: u64,
    /// Reason why no note sounds, or a warning that left and right cancel; `None` if neither applies.
    pub unheard: Option<Cause>,
    found: KeyAndTuning,
    /// Tempo in beats per minute, set or detected; `None` if no beats were detected, or no output needs them.
    tempo: Option<f64>,
}

impl fmt::Display for Done {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{:.2} s", self.seconds)?;
        if let Some(key) = self.found.key.filter(FoundKey::is_certain) {
            write!(f, ", {key}")?;
        }
        if let Some(hertz) = self.found.tuning {
            write!(f, ", A4 = {hertz:.1} Hz")?;
        }
        self.tempo.map_or(Ok(()), |tempo| write!(f, ", {tempo:.1} BPM"))
    }
}

/// Analyses `file` with the given sound and writes its outputs. Calls `progress` with the fraction of the work done, 0 to 1.
///
/// With `--skip-existing`, returns `None` if another run has created all outputs in the meantime, so that nothing was written.
///
/// # Errors
/// If the file cannot be read or an output cannot be written.
pub fn analyse_one(
    args: &Args,
    file: &File,
    (settings, keys): (&Settings, Option<&MidiFile>),
    progress: impl Fn(f64),
) -> Result<Option<Done>, Error> {
    let is_skipped = |error: &Error| args.skip_existing && matches!(error.fault, Fault::Exists);
    let create = |path: &Option<PathBuf>| {
        let made = path.as_ref().map(|path| Output::create(path, &file.input, args.force));
        made.filter(|made| !made.as_ref().is_err_and(is_skipped)).transpose()
    };
    let [png, csv, json, mid, score] = file.outputs.each_ref().map(create);
    let outputs = [png?, csv?, json?, mid?, score?];
    if outputs.iter().all(Option::is_none) {
        return Ok(None);
    }
    let [png, csv, json, mid, score] = outputs;

    let title = file.input.file_name().unwrap_or_default().to_string_lossy();
    let mut plot = None;
    let mut transcriber = mid
        .as_ref()
        .map(|_| Transcriber::new(if args.live { Notes::live() } else { Notes::checked() }));
    let mut arranger = (args.parts && mid.is_some()).then(TakeRecorder::default);
    // An arrangement has drums, which are detected for the voice Chip only.
    let voice = if arranger.is_some() { Voice::Chip } else { settings.voice };
    let analysed = Settings { voice, ..*settings };
    let mut scribe = score.as_ref().map(|_| Transcriber::new(Notes::unchecked()));
    let mut tables = Vec::new();
    for (output, syntax) in [(&csv, Syntax::Csv), (&json, Syntax::Json)] {
        if let Some(output) = output {
            let table = Table::new(BufWriter::new(output.file()), syntax, settings);
            tables.push((output, table.map_err(|source| Error::writing(&output.path, source))?));
        }
    }
    let mut finder = Finder::default();
    let needs_beats = [&png, &json, &mid].iter().any(|output| output.is_some());
    let mut beats = needs_beats.then(BeatRecorder::default);
    let Analysed { seconds, not_finite, unheard } = analyse(
        &Input::new(&file.input)?,
        (&analysed, keys),
        kernel(args.kernel),
        args.hop,
        |filter: &ToneFilter| {
            finder.push(filter);
            beats.iter_mut().for_each(|beats| beats.push(filter));
            transcriber
                .iter_mut()
                .chain(&mut scribe)
                .for_each(|transcriber| transcriber.push(filter));
            arranger.iter_mut().for_each(|arranger| arranger.push(filter));
        },
        |hop, bands| {
            if png.is_some() {
                let empty = || Plot::new(title.clone(), hop, settings);
                plot.get_or_insert_with(empty).push(bands);
            }
            tables.iter_mut().try_for_each(|(output, table)| {
                table.push(hop, bands).map_err(|source| Error::writing(&output.path, source))
            })
        },
        progress,
    )?;

    let found = finder.found(settings);
    let beats = beats.and_then(|beats| beats.beats(seconds));
    for (output, table) in tables {
        table
            .finish(not_finite, &found, beats.as_ref())
            .map_err(|source| Error::writing(&output.path, source))?;
    }
    let bars: Vec<f64> = beats.iter().flat_map(Beats::downbeats).collect();
    let picture = plot.map(|mut plot| {
        plot.set_bars(bars);
        plot.png()
    });
    let short = transcriber.iter().chain(&scribe).map(Transcriber::left_out).max().unwrap_or(0);
    let set_tempo = args.sound.tempo.and_then(Tempo::set);
    let layout = layout(args, set_tempo, &found, beats.as_ref());
    let song = match (arranger, transcriber) {
        (Some(arranger), _) => {
            let take = arranger.take(seconds, true, settings);
            let arrangement = take.arrangement(settings, set_tempo);
            Some(in_parts(&arrangement, layout.key.as_ref()))
        }
        (None, Some(notes)) => Some(midi(&notes.finish(seconds), settings.pitch_shift(), &layout)),
        (None, None) => None,
    };
    let notes = scribe.map(|scribe| to_score(&scribe.finish(seconds)).to_string().into_bytes());
    for (output, content) in [(&png, picture), (&mid, song), (&score, notes)] {
        if let (Some(output), Some(content)) = (output, content) {
            let written = output.file().write_all(&content);
            written.map_err(|source| Error::writing(&output.path, source))?;
        }
    }
    let outputs = [png, csv, json, mid, score].into_iter().flatten();
    outputs.map(Output::commit).try_for_each(|done| {
        done.or_else(|error| if is_skipped(&error) { Ok(()) } else { Err(error) })
    })?;
    let tempo = set_tempo.or(beats.as_ref().and_then(Beats::tempo));
    Ok(Some(Done { seconds, not_finite, short, unheard, found, tempo }))
}

/// Returns the layout of the MIDI file: grid, key and tempo. The tempo is `set_tempo`, or else the one of `beats`, or else 120
/// BPM. The file has bars and key only with the tempo of `beats`.
fn layout(
    args: &Args,
    set_tempo: Option<f64>,
    found: &KeyAndTuning,
    beats: Option<&Beats>,
) -> Layout {
    let strength = args.strength / 100.0;
    let grid = args.quantize.clone().map(|steps| Grid { steps, strength });
    Layout { grid, ..Layout::new(set_tempo, beats, found.key) }
}
