//! On Linux: the value of `DYNTRACE` in its environment.

use std::path::Path;

use dyntrace::recorder::{Glob, Options};
use dyntrace_analysis::recording;
use dyntrace_analysis::render::Rendering;
use dyntrace_terminal::exit::Failure;

use crate::run::tag::Tag;

/// Whether commands can record themselves here.
pub const IS_SUPPORTED: bool = true;

/// Returns the value of `DYNTRACE` that records the events of `rendering` into `folder`, those with another user tag than `tag` left out.
pub fn wish(folder: &Path, rendering: &Rendering, tag: Option<&Tag>) -> String {
    let mut options = Options::new(folder);
    options.probes = rendering.probes().into_iter().map(Glob::from).collect();
    options.filter.tag = tag.map(|tag| tag.glob().clone());
    options.to_string()
}

/// Why a program has recorded nothing into a folder in `holder`.
pub fn nothing(holder: &Path, program: &Path) -> Failure {
    recording::nothing(&Options::new(holder), program)
}
