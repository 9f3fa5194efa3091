//! Other systems have no recorder.

use std::path::Path;

use crate::render::Rendering;

/// Whether commands can record themselves here.
pub const IS_SUPPORTED: bool = false;

/// Never called.
pub fn wish(_folder: &Path, _rendering: &Rendering) -> String {
    unreachable!("the recorder is chosen only where it is supported")
}
