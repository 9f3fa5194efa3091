//! Other systems have no recorder.

use std::path::Path;

use anyhow::{Result, bail};

/// Says so.
pub fn record(_place: &Path, _folder: &Path) -> Result<()> {
    bail!("there is no recorder for this system; with a tracer: dyntrace run efile_drv -- COMMAND")
}
