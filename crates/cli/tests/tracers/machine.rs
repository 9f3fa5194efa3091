//! The machine's tracers, one at a time.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::missing;

const UPROBES: &str = "/sys/kernel/tracing/uprobe_events";

/// The whole machine shares the kernel's tracing state.
static MACHINE: Mutex<()> = Mutex::new(());

/// The right to trace. When it is dropped, no uprobe may be left.
pub struct Turn {
    _guard: MutexGuard<'static, ()>,
}

impl Drop for Turn {
    fn drop(&mut self) {
        let left = uprobes();
        if !std::thread::panicking() {
            assert_eq!(left, "", "left in {UPROBES}");
        }
    }
}

/// The uprobes on the kernel's list.
pub fn uprobes() -> String {
    fs::read_to_string(UPROBES).unwrap_or_default()
}

/// bpftrace of Debian 12, which is too old for the shipped scripts.
pub const OLD_BPFTRACE: &str = "bpftrace-0.17";

/// The right to trace with `tool`; `None`, after a note, if that is not possible.
pub fn turn(tool: &str, needs_root: bool) -> Option<Turn> {
    let why = if folder().is_none() {
        "DYNTRACE_TRACERS names no folder: ci/ring3 sets it"
    } else if needs_root && !nix::unistd::geteuid().is_root() {
        "not root"
    } else if !is_here(tool) || tool == "stap" && !is_here("qemu-system-x86_64") {
        "not found, or not all that it needs: ci/tracers gets it"
    } else {
        return Some(Turn { _guard: MACHINE.lock().unwrap_or_else(PoisonError::into_inner) });
    };
    missing::skip(tool, why);
    None
}

pub fn workspace() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// The folder of `ci/tracers`, which `ci/ring3` names. Without it no test runs a tracer, whatever the machine has.
fn folder() -> Option<PathBuf> {
    env::var_os("DYNTRACE_TRACERS").map(PathBuf::from)
}

/// The commands of `ci/tracers`.
pub fn tracers() -> PathBuf {
    folder().expect("a test that has its turn").join("bin")
}

/// Debian 12's bpftrace reads six arguments and its `dtrace` is no tracer, so only those of `ci/tracers` are used.
fn is_here(tool: &str) -> bool {
    if tool == OLD_BPFTRACE {
        let said = command_for(tool, "bpftrace").arg("--version").output();
        return said.is_ok_and(|said| said.stdout.starts_with(b"bpftrace v0.17"));
    }
    let places = if matches!(tool, "bpftrace" | "dtrace") { vec![tracers()] } else { search_path() };
    places.iter().any(|folder| folder.join(tool).exists())
}

fn search_path() -> Vec<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    folder().map(|folder| folder.join("bin")).into_iter().chain(env::split_paths(&path)).collect()
}

/// A command that finds the tracers of `ci/tracers` first.
pub fn command(program: impl Into<OsString>) -> Command {
    let mut command = Command::new(program.into());
    let path = env::join_paths(search_path()).expect("no folder of PATH has a colon");
    command.env("PATH", path).stdin(std::process::Stdio::null());
    command
}

/// A command that finds the tracer that tests call `tool`.
pub fn command_for(tool: &str, program: impl Into<OsString>) -> Command {
    let mut command = command(program);
    if tool == OLD_BPFTRACE {
        command.env("PATH", env::var_os("PATH").unwrap_or_default());
    }
    command
}

/// The name of the tracer that tests call `tool`.
pub fn name_of(tool: &str) -> &str {
    tool.split('-').next().unwrap_or(tool)
}

/// Runs to the end; panics with all output if it fails.
pub fn run(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{command:?}: {}\n{}{said}",
        output.status,
        String::from_utf8_lossy(&output.stdout)
    );
    output
}

/// Its standard output.
pub fn stdout(command: &mut Command) -> String {
    String::from_utf8(run(command).stdout).expect("tracers print UTF-8 of UTF-8")
}
