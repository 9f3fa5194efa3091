//! A monitor by `DYNTRACE=monitor=...`, and the service for commands. Before `main`, as the recorder does.

use std::io::{self, Write as _};
use std::mem;

use dyntrace_probes::host;

use super::error::Error;
use super::limits::Limits;
use super::remote;
use super::running::Monitor;
use crate::recorder::monitored;

/// Run by the C library before `main`.
#[used]
#[unsafe(link_section = ".init_array")]
static AT_START: extern "C" fn() = at_start;

extern "C" fn at_start() {
    if host::is_module() {
        return;
    }
    remote::enrol();
    if let Some(limits) = monitored()
        && let Err(error) = start(&limits)
    {
        say(&format_args!("DYNTRACE=monitor={limits}: {error}"));
    }
}

fn start(limits: &str) -> Result<(), Error> {
    let monitor = Monitor::start(limits.parse::<Limits>()?, Some(Box::new(|event| say(event))), None)?;
    // It runs as long as the program.
    mem::forget(monitor);
    Ok(())
}

fn say(line: &dyn std::fmt::Display) {
    // One write, so that lines of several threads do not mix. A program may run without standard error.
    let _ = io::stderr().write_all(format!("dyntrace: {line}\n").as_bytes());
}
