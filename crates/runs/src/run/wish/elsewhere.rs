//! Other systems have no recorder.

use std::path::Path;

use dyntrace_analysis::render::Rendering;
use dyntrace_terminal::exit::Failure;

use crate::run::tag::Tag;

/// Whether commands can record themselves here.
pub const IS_SUPPORTED: bool = false;

/// Never called.
pub fn wish(_folder: &Path, _rendering: &Rendering, _tag: Option<&Tag>) -> String {
    unreachable!("the recorder is chosen only where it is supported")
}

/// Never called.
pub fn nothing(_holder: &Path, _program: &Path) -> Failure {
    unreachable!("the recorder is chosen only where it is supported")
}
