//! Systems without a recorder.

use std::path::Path;

use anyhow::{Result, bail};

pub fn record(_place: &Path, _folder: &Path) -> Result<()> {
    bail!("there is no recorder for this system: use a tracer, dyntrace run efile_drv -- COMMAND")
}
