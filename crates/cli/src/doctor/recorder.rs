//! Checks that the built-in recorder, which needs no tracer, can write a trace here.

use dyntrace::recorder::{Options, Session};
use dyntrace_terminal::temporary::Temporary;

use super::finding::Finding;

const TOPIC: &str = "recorder";

pub fn check() -> Finding {
    match record() {
        Ok(()) => Finding::ok(TOPIC, "dyntrace record works here, without tracer and without root"),
        Err(error) => Finding::fail(TOPIC, format!("{error:#}"), "set TMPDIR to a folder of a local file system"),
    }
}

/// Records this command itself for a moment.
fn record() -> anyhow::Result<()> {
    let folder = Temporary::new()?;
    Session::start(Options::new(folder.path().join("trace")))?.stop();
    Ok(())
}
