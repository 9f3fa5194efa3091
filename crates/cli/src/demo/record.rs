//! Records this process while it runs the example program.

use std::env;
use std::path::Path;

use anyhow::{Context as _, Result};
use dyntrace::recorder::{Glob, Options, Session};
use dyntrace_terminal::{escape, say};

use super::work;

/// Not the pool's events, which no script prints as lines.
const PROBES: [&str; 2] = ["efile_drv*", "user_trace*"];

/// Runs the program in `place`, recorded into `folder`.
pub fn record(place: &Path, folder: &Path) -> Result<()> {
    let shown = || format!("cannot work in {}", escape::path(place));
    let back = env::current_dir().context("cannot get the current directory")?;
    env::set_current_dir(place).with_context(shown)?;
    let mut options = Options::new(folder);
    options.probes = PROBES.map(Glob::from).into();
    let session = Session::start(options)?;
    let done = work::run();
    let summary = session.stop();
    env::set_current_dir(&back).with_context(|| format!("cannot go back to {}", escape::path(&back)))?;
    for error in summary.into_iter().flat_map(|summary| summary.errors) {
        say!("dyntrace: {error}");
    }
    done
}
