//! Levels and states of the bands over time, as text for other programs.

use std::io::{self, Write};
use tone_filter_dsp::{
    BandMask, BandState, Bands, FoundKey, Settings, listener::beats::Beats, notes::name_at,
};
use tone_filter_song::found::KeyAndTuning;

/// Format of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Syntax {
    /// Header line with `time`, the names of the bands' notes, and `played`; then a line for each time step.
    Csv,
    /// Object with the names of the notes; time, levels, states and played notes of each time step; key, tuning, tempo and
    /// beats of the file.
    Json,
}

/// Minimum level in dB, so that silence is a number, too.
const SILENCE_DB: f32 = -120.0;

/// Table that is written row by row. Times are in seconds. Levels are in dB relative to the total power of the input, -120 or
/// more.
pub struct Table<W: Write> {
    to: W,
    syntax: Syntax,
    /// Tones of the bands, from the lowest pitch to the highest.
    tones: Vec<usize>,
    /// Names of the bands' notes, in the order of `tones`.
    names: Vec<String>,
    /// Time of the last row in seconds; 0 before the first.
    time: f64,
}

impl<W: Write> Table<W> {
    /// Begins a table of the bands of `settings` in the writer `to`.
    ///
    /// # Errors
    /// If the table cannot be written.
    pub fn new(mut to: W, syntax: Syntax, settings: &Settings) -> io::Result<Self> {
        let tones: Vec<usize> = settings.range.by_pitch().collect();
        let names: Vec<_> =
            tones.iter().map(|tone| name_at(*tone, settings.pitch_shift())).collect();
        match syntax {
            Syntax::Csv => write!(to, "time,{},played", names.join(","))?,
            Syntax::Json => {
                write!(to, "{{\"version\":1,\"unit\":\"dB\",\"notes\":{names:?},\"moments\":[")?;
            }
        }
        Ok(Self { to, syntax, tones, names, time: 0.0 })
    }

    /// Appends a row for `bands`, `hop` seconds after the last row.
    ///
    /// # Errors
    /// If the table cannot be written.
    pub fn push(&mut self, hop: f64, bands: &Bands) -> io::Result<()> {
        let comma = if self.time == 0.0 { "" } else { "," };
        self.time += hop;
        let shown = || self.tones.iter().map(|tone| &bands.bands[*tone]);
        let levels = shown().map(|band| format!("{:.2}", band.level_db().max(SILENCE_DB)));
        let played = bands.played.unwrap_or(BandMask::NONE);
        let names = self.tones.iter().zip(&self.names).filter(|(tone, _)| played.contains(**tone));
        let (names, levels) = (names.map(|(_, name)| &**name), levels.collect::<Vec<_>>());
        let (time, levels, names) = (self.time, levels.join(","), names.collect::<Vec<&str>>());
        match self.syntax {
            Syntax::Csv => write!(self.to, "\n{time:.6},{levels},{}", names.join(" ")),
            Syntax::Json => {
                let states = shown().map(|band| match band.state {
                    BandState::Inactive => "muted",
                    BandState::Sounding => "sounding",
                    BandState::Saturated => "saturated",
                });
                let states: Vec<_> = states.collect();
                write!(
                    self.to,
                    "{comma}\n{{\"time\":{time:.6},\"levels\":[{levels}],\"states\":{states:?},\
                     \"played\":{names:?}}}",
                )
            }
        }
    }

    /// Ends the table. Adds to JSON the key and tuning in `found`, the tempo and beats in `beats`, and `not_finite`, the number
    /// of samples that are NaN or infinite. CSV has none of these.
    ///
    /// # Errors
    /// If the table cannot be written.
    pub fn finish(
        mut self,
        not_finite: u64,
        found: &KeyAndTuning,
        beats: Option<&Beats>,
    ) -> io::Result<()> {
        match self.syntax {
            Syntax::Csv => writeln!(self.to)?,
            Syntax::Json => {
                let key = found.key.map_or("null".into(), |FoundKey { root, scale, certainty }| {
                    let (root, scale) = (root.name(), scale.id());
                    format!(
                        "{{\"root\":{root:?},\"scale\":{scale:?},\"certainty\":{certainty:.3}}}"
                    )
                });
                let tuning = found.tuning.map_or("null".into(), |hertz| format!("{hertz:.2}"));
                let members = format!("\"key\":{key},\"tuning\":{tuning},{}", of_beats(beats));
                writeln!(self.to, "\n],{members},\"not_finite\":{not_finite}}}")?;
            }
        }
        self.to.flush()
    }
}

/// Returns tempo, beats and downbeats as members of a JSON object.
fn of_beats(beats: Option<&Beats>) -> String {
    let list = |times: &mut dyn Iterator<Item = f64>| {
        times.map(|time| format!("{time:.3}")).collect::<Vec<_>>().join(",")
    };
    let tempo = beats.and_then(|beats| {
        let (tempo, meter, certainty) = (beats.tempo()?, beats.meter()?, beats.certainty);
        Some(format!("{{\"bpm\":{tempo:.2},\"meter\":{meter},\"certainty\":{certainty:.3}}}"))
    });
    let (tempo, beats) = (tempo.as_deref().unwrap_or("null"), beats.into_iter());
    let all = list(&mut beats.clone().flat_map(|found| found.beats.iter().map(|beat| beat.time)));
    let downbeats = list(&mut beats.flat_map(Beats::downbeats));
    format!("\"tempo\":{tempo},\"beats\":[{all}],\"downbeats\":[{downbeats}]")
}
