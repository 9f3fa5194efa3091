//! On Linux: the value of `DYNTRACE` in its environment.

use std::path::Path;

use dyntrace::recorder::{Glob, Options};

use crate::render::Rendering;

/// Whether commands can record themselves here.
pub const IS_SUPPORTED: bool = true;

/// Returns the value of `DYNTRACE` that records the events of `rendering` into `folder`.
pub fn wish(folder: &Path, rendering: &Rendering) -> String {
    let mut options = Options::new(folder);
    options.probes = rendering.probes().into_iter().map(Glob::from).collect();
    options.to_string()
}
