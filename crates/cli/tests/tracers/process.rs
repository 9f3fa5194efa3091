//! A running process under DTrace.

use std::fs;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::machine::{self, turn};
use crate::programs::example;

/// Like in the background of a script: interrupts are ignored, and the process ends by itself.
#[test]
fn a_process_until_it_ends() {
    let Some(_turn) = turn("dtrace", true) else { return };
    let mut traced = Traced::start();
    let run = traced.by_dyntrace();
    traced.process.kill().expect("the process is still there");
    let ended = run.wait_with_output().expect("dyntrace ends");
    assert!(ended.status.success(), "{ended:?}");
}

/// DTrace must remove its probes from the kernel, or the right to trace cannot be given back.
#[test]
fn a_dyntrace_that_is_killed() {
    let Some(_turn) = turn("dtrace", true) else { return };
    let mut traced = Traced::start();
    let mut run = traced.by_dyntrace();
    run.kill().expect("dyntrace is still there");
    run.wait().expect("it was killed");
    wait_until("DTrace has ended", || machine::uprobes().is_empty());
    assert!(traced.process.try_wait().expect("it is a child").is_none(), "the process lives on");
}

/// A running process, and its trace.
struct Traced {
    process: Child,
    folder: TempDir,
}

impl Traced {
    fn start() -> Traced {
        let folder = tempfile::tempdir().expect("a directory for the trace");
        let storm = machine::command(example("file_storm")).args(["--tasks", "1", "--seconds", "600"]).spawn();
        Traced { process: storm.expect("file_storm starts"), folder }
    }

    /// `dyntrace run` on it, ignoring interrupts, after it printed the first operation.
    fn by_dyntrace(&self) -> Child {
        let trace = self.folder.path().join("trace");
        let mut command = machine::command("sh");
        command.args(["-c", "trap '' INT; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_dyntrace")]);
        command.args(["run", "--tracer", "dtrace", "efile_drv", "-p", &self.process.id().to_string(), "-o"]);
        let mut run = command.arg(&trace).stderr(Stdio::piped()).spawn().expect("dyntrace starts");
        wait_until("an operation was seen, or dyntrace has ended", || {
            fs::read_to_string(&trace).is_ok_and(|trace| trace.contains("efile_drv return"))
                || run.try_wait().expect("it is a child").is_some()
        });
        run
    }
}

/// Polls for a minute at most.
fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(60), "{what}");
        thread::sleep(Duration::from_millis(10));
    }
}

impl Drop for Traced {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
