//! X display without a screen.

use anyhow::{Context, Result, ensure};
use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
};

/// X server, which ends when this is dropped.
pub struct Xvfb {
    server: Child,
    name: String,
}

impl Xvfb {
    /// Starts a server with a `screen` as `WIDTHxHEIGHTxDEPTH`.
    pub fn start(screen: &str) -> Result<Self> {
        // Xvfb chooses a free display number, and prints it once the server is ready.
        let mut command = Command::new("Xvfb");
        command.args(["-displayfd", "1", "-screen", "0", screen]);
        let mut server = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let mut number = String::new();
        let output = server.stdout.take().context("Xvfb has an output")?;
        BufReader::new(output).read_line(&mut number)?;
        ensure!(!number.is_empty(), "Xvfb has ended");
        Ok(Self { server, name: format!(":{}", number.trim()) })
    }

    /// Returns the value of `$DISPLAY` for programs that open their windows on this display.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for Xvfb {
    fn drop(&mut self) {
        // Errors mean that the server has ended already.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
