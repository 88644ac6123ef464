//! Report of a benchmark, as a table and as JSON.

use super::measure::Speed;
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    fs,
    io::{self, Write},
    path::Path,
};
use tone_filter_dsp::Kernel;
use tone_filter_offline::Fault;

/// Sample rates in Hz for which the report states the speed in multiples of real time.
const RATES: [u32; 3] = [44_100, 48_000, 96_000];

#[derive(Serialize, Deserialize)]
pub struct Report {
    /// Input of the measurement: the voice, and the recording or noise.
    pub signal: String,
    kernels: Vec<Row>,
    /// Kernels that this CPU cannot run.
    missing: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct Row {
    name: String,
    mega_samples_per_second: f64,
    /// Speed as a multiple of real time, for each sample rate in Hz.
    times_real_time: BTreeMap<String, f64>,
    /// Speed relative to the kernel `scalar`, if that was measured.
    ratio_to_scalar: Option<f64>,
    cycles_per_sample: Option<f64>,
    /// Time per frame in stereo, relative to mono.
    stereo: Option<f64>,
    /// Time with every other band muted, relative to the time with none muted.
    masked: Option<f64>,
}

impl Row {
    /// Creates a row from the three speeds of a kernel that [`super::measure::measure`] returns. `scalar` is the time of the
    /// kernel `scalar` in seconds per sample.
    fn new(kernel: Kernel, [plain, stereo, masked]: [Speed; 3], scalar: Option<f64>) -> Self {
        let (cycles, plain) = (plain.cycles, plain.seconds);
        let real_time = RATES.map(|rate| (rate.to_string(), 1.0 / (plain * f64::from(rate))));
        Self {
            name: kernel.name().to_owned(),
            mega_samples_per_second: 1e-6 / plain,
            times_real_time: real_time.into_iter().collect(),
            ratio_to_scalar: scalar.map(|scalar| scalar / plain),
            cycles_per_sample: cycles,
            stereo: Some(stereo.seconds / plain),
            masked: Some(masked.seconds / plain),
        }
    }
}

impl Report {
    /// Creates a report. `signal` describes the input of the measurement.
    pub fn new(signal: String, speeds: &[(Kernel, [Speed; 3])]) -> Self {
        let scalar = speeds.iter().find(|(kernel, _)| kernel.name() == "scalar");
        let scalar = scalar.map(|(_, [plain, ..])| plain.seconds);
        let missing = Kernel::NAMES.into_iter().filter(|name| name.parse::<Kernel>().is_err());
        Self {
            signal,
            kernels: speeds
                .iter()
                .map(|(kernel, speeds)| Row::new(*kernel, *speeds, scalar))
                .collect(),
            missing: missing.map(str::to_owned).collect(),
        }
    }

    /// Reads a report of another run.
    ///
    /// # Errors
    /// If the file cannot be read or is not a report.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let bytes = fs::read(path).map_err(|error| Fault::Read(error).at(path))?;
        let report = serde_json::from_slice(&bytes);
        report.map_err(|_| anyhow::anyhow!("{}: not a report of `bench --json`", path.display()))
    }

    pub fn print_json(&self) -> anyhow::Result<()> {
        Ok(writeln!(io::stdout().lock(), "{}", serde_json::to_string(self)?)?)
    }

    /// Prints the report as a table; with `against`, also the speed relative to that report.
    pub fn print(&self, against: Option<&Self>) -> anyhow::Result<()> {
        let mut stdout = io::stdout().lock();
        let last_heading = if against.is_some() { "   x before" } else { "" };
        writeln!(
            stdout,
            "kernel    M samples/s   times real time at 44.1 / 48 / 96 kHz   x scalar   cycles   \
             stereo   masked{last_heading}"
        )?;
        let figure = |value: Option<f64>, decimals: usize| {
            value.map_or("-".to_owned(), |value| format!("{value:.decimals$}"))
        };
        for row in &self.kernels {
            let [a, b, c] = RATES.map(|rate| row.times_real_time[&rate.to_string()]);
            let before = against.map_or(String::new(), |other| {
                let before = other.kernels.iter().find(|other_row| other_row.name == row.name);
                let speed = |row: &Row| row.mega_samples_per_second;
                format!(" {:>10}", figure(before.map(|before| speed(row) / speed(before)), 3))
            });
            writeln!(
                stdout,
                "{:8} {:12.2} {a:25.0} / {b:5.0} / {c:5.0} {:>12} {:>8} {:>8} {:>8}{before}",
                row.name,
                row.mega_samples_per_second,
                figure(row.ratio_to_scalar, 1),
                figure(row.cycles_per_sample, 1),
                figure(row.stereo, 2),
                figure(row.masked, 2),
            )?;
        }
        if !self.missing.is_empty() {
            writeln!(stdout, "This CPU has no {}.", self.missing.join(", no "))?;
        }
        Ok(())
    }
}
