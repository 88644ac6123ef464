//! A display without a screen.

use anyhow::{Context, Result, ensure};
use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
};

/// An X server, which ends with this.
pub struct Xvfb {
    server: Child,
    name: String,
}

impl Xvfb {
    /// Starts a server with a `screen` of a width, a height and a depth.
    pub fn start(screen: &str) -> Result<Self> {
        // Xvfb chooses a free number and writes it as soon as it is ready.
        let mut command = Command::new("Xvfb");
        command.args(["-displayfd", "1", "-screen", "0", screen]);
        let mut server = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let mut number = String::new();
        let output = server.stdout.take().context("Xvfb has an output")?;
        BufReader::new(output).read_line(&mut number)?;
        ensure!(!number.is_empty(), "Xvfb has ended");
        Ok(Self { server, name: format!(":{}", number.trim()) })
    }

    /// `$DISPLAY` for programs that shall show up here.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for Xvfb {
    fn drop(&mut self) {
        // Nothing is left to be done if it has ended by itself.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
