//! Other systems have no recorder.

use std::ffi::OsString;

use anyhow::anyhow;

use crate::exit::{self, Failure, Outcome};
use crate::render::Rendering;

use super::output::Sink;
use super::target::Target;

/// Whether commands can record themselves here.
pub const IS_SUPPORTED: bool = false;

/// Says so.
pub fn run(_rendering: &'static Rendering, _target: &Target, _words: &[OsString], _sink: Sink) -> Outcome {
    Err(Failure::new(exit::NO_TRACER, anyhow!("there is no recorder for this system")))
}
