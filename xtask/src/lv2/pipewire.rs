//! x
use anyhow::Result;
use std::path::Path;
pub fn test(_bundle: &Path, _folder: &Path) -> Result<()> {
    Ok(())
}
