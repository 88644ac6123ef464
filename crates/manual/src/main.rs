//! Without arguments, writes the generated pages of the manual. With a folder, writes the manual as HTML into it.

use anyhow::Result;
use std::env;

fn main() -> Result<()> {
    match env::args_os().nth(1) {
        Some(folder) => tone_filter_manual::write_html(folder.as_ref()),
        None => tone_filter_manual::write(),
    }
}
