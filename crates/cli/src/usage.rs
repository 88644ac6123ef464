//! Usage errors, and functions for flags that several verbs share.

use std::{
    io::{self, IsTerminal},
    path::Path,
};
use tone_filter_dsp::Kernel;
use tone_filter_offline::STDIO;

/// Error in the command line, with its message; the exit code is 2.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Usage(pub String);

/// Returns an error if `out` is standard output, and this is a terminal: the output is binary.
pub fn refuse_terminal(out: &Path) -> Result<(), Usage> {
    if out == Path::new(STDIO) && io::stdout().is_terminal() {
        let line = "- is the terminal, and the output is binary; name a file, or pipe it on";
        return Err(Usage(line.into()));
    }
    Ok(())
}

/// Returns the kernel that a flag has `named`, or else the one in the environment, or else the fastest one.
pub fn kernel(named: Option<Kernel>) -> Kernel {
    named.or_else(|| Kernel::from_environment().ok()).unwrap_or_else(Kernel::best)
}
