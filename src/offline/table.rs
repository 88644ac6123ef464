//! The levels of the 48 bands over time, as text for other programs.

use crate::dsp::{
    Bands,
    notes::{TONES, name},
};
use std::io::{self, Write};

/// What a table is written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Syntax {
    /// A head with `time` and the notes' names, then a line for every moment.
    Csv,
    /// An object with the notes' names, the times and, for every moment, the levels.
    Json,
}

/// No level is less than this, so that silence is a number too.
const SILENCE_DB: f32 = -120.0;

/// Writes a table as it grows. Times are in seconds; levels are in dB of the total power, -120 or more.
pub struct Table<W: Write> {
    to: W,
    syntax: Syntax,
    time: f64,
}

impl<W: Write> Table<W> {
    /// Begins a table.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn new(mut to: W, syntax: Syntax) -> io::Result<Self> {
        let names = (0..TONES).map(name);
        match syntax {
            Syntax::Csv => {
                write!(to, "time")?;
                names.into_iter().try_for_each(|name| write!(to, ",{name}"))?;
            }
            Syntax::Json => {
                let names: Vec<&str> = names.collect();
                write!(to, "{{\"version\":1,\"unit\":\"dB\",\"notes\":{names:?},\"moments\":[")?;
            }
        }
        Ok(Self { to, syntax, time: 0.0 })
    }

    /// Appends a moment, `hop` seconds after the last one.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn push(&mut self, hop: f64, bands: &Bands) -> io::Result<()> {
        let comma = if self.time == 0.0 { "" } else { "," };
        self.time += hop;
        let levels = bands.bands.iter().map(|band| band.level_db().max(SILENCE_DB));
        match self.syntax {
            Syntax::Csv => {
                write!(self.to, "\n{:.6}", self.time)?;
                levels.into_iter().try_for_each(|level| write!(self.to, ",{level:.2}"))
            }
            Syntax::Json => {
                write!(self.to, "{comma}\n{{\"time\":{:.6},\"levels\":[", self.time)?;
                for (tone, level) in levels.enumerate() {
                    write!(self.to, "{}{level:.2}", if tone == 0 { "" } else { "," })?;
                }
                write!(self.to, "]}}")
            }
        }
    }

    /// Ends the table.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn finish(mut self) -> io::Result<()> {
        self.to.write_all(if self.syntax == Syntax::Csv { b"\n" } else { b"\n]}\n" })?;
        self.to.flush()
    }
}
