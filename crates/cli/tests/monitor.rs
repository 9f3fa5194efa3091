//! `dyntrace monitor` on this test's own program: run with `ROLE` set, it is the monitored program.
#![cfg(target_os = "linux")]

#[path = "common/interrupts.rs"]
mod interrupts;

use std::env;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};
use std::sync::mpsc;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use tempfile::TempDir;
use tokio::runtime::Builder;

/// A task of this name is in the stack.
fn stands_here(waits: &mpsc::Receiver<()>) {
    // The program ends.
    let _ = waits.recv();
}

/// The program: each line of its standard input begins a poll that lasts until the next one.
#[test]
fn role() {
    if env::var_os("ROLE").is_none() {
        return;
    }
    let (release, waits) = mpsc::channel();
    let polls = std::thread::spawn(move || {
        let runtime = Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            // The table does not have it.
            drop(tokio::spawn(std::future::pending::<()>()));
            dyntrace::spawn(async move {
                loop {
                    stands_here(&waits);
                    tokio::task::yield_now().await;
                }
            })
            .await
            .unwrap()
        })
    });
    println!("ready");
    for line in std::io::stdin().lines() {
        line.unwrap();
        release.send(()).unwrap();
    }
    drop(polls);
}

/// Killed when this is dropped.
struct Program {
    child: Child,
    _folder: TempDir,
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Program {
    fn start() -> Program {
        let folder = tempfile::tempdir().unwrap();
        let mut program = Command::new(env::current_exe().unwrap());
        program.args(["--exact", "role", "--nocapture"]).env("ROLE", "1").env("DYNTRACE", "control");
        program.env("XDG_RUNTIME_DIR", folder.path()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = program.spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap()).lines();
        out.map(Result::unwrap).find(|line| line.ends_with("ready")).unwrap();
        Program { child, _folder: folder }
    }

    /// Ends the present poll, and begins another one.
    fn next_poll(&mut self) {
        self.child.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
    }

    fn monitor(&self, arguments: &[&str]) -> Monitor {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dyntrace"));
        interrupts::heed(command.args(["monitor", "-p", &self.child.id().to_string()]).args(arguments));
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        let mut errors = BufReader::new(child.stderr.take().unwrap());
        let mut said = String::new();
        while !said.contains("an interrupt ends it") {
            assert_ne!(errors.read_line(&mut said).unwrap(), 0, "{said}");
        }
        Monitor { child, lines, errors, said }
    }
}

/// A running command.
struct Monitor {
    child: Child,
    lines: BufReader<ChildStdout>,
    errors: BufReader<ChildStderr>,
    /// The lines on standard error up to now.
    said: String,
}

impl Monitor {
    fn line(&mut self) -> String {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        line
    }

    /// Interrupts the command. Returns its exit status, and the text on standard error.
    fn interrupt(self) -> (Option<i32>, String) {
        kill(Pid::from_raw(self.child.id().try_into().unwrap()), Signal::SIGINT).unwrap();
        self.end()
    }

    fn end(mut self) -> (Option<i32>, String) {
        self.errors.read_to_string(&mut self.said).unwrap();
        (self.child.wait().unwrap().code(), self.said)
    }
}

#[test]
fn a_poll_that_lasts_comes_with_the_functions_of_its_thread() {
    let mut program = Program::start();
    let mut monitor = program.monitor(&["--long-schedule", "20ms", "--json"]);
    // The task was spawned before the table of tasks was kept, so it has a pid and no function.
    program.next_poll();
    let first: Value = serde_json::from_str(&monitor.line()).unwrap();
    program.next_poll();
    let second: Value = serde_json::from_str(&monitor.line()).unwrap();
    for event in [&first, &second] {
        assert_eq!((&event["event"], &event["limit"]), (&"long_schedule".into(), &20_000_000.into()), "{event}");
        assert!(event["amount"].as_u64().unwrap() > 20_000_000 && event["function"].is_null(), "{event}");
        assert_eq!((&event["process"], &event["system_call"]), (&first["process"], &"futex".into()), "{event}");
    }
    let (status, said) = monitor.interrupt();
    assert_eq!(status, Some(0), "{said}");
    assert!(said.contains("an interrupt ends it") && said.contains("long_schedule 2\n"), "{said}");
    if said.contains("note: no functions") {
        eprintln!("SKIPPED: {said}");
        return;
    }
    for event in [first, second] {
        let frames = event["frames"].as_array().expect("the thread can be held");
        let functions: Vec<&str> = frames.iter().filter_map(|frame| frame["function"].as_str()).collect();
        assert!(functions.iter().any(|function| function.ends_with("stands_here")), "{functions:?}");
    }
}

#[test]
fn the_end_of_the_process_ends_the_command() {
    let mut program = Program::start();
    let mut monitor = program.monitor(&["--long-schedule", "20ms", "--no-stacks"]);
    program.next_poll();
    let line = monitor.line();
    assert!(line.contains(" long_schedule: <0.") && line.ends_with(", S, in futex\n"), "{line}");
    drop(program);
    let (status, said) = monitor.end();
    assert_eq!(status, Some(0), "{said}");
    assert!(said.contains("has ended"), "{said}");
}

#[test]
fn a_monitor_ends_after_its_time() {
    let program = Program::start();
    let monitor = program.monitor(&["--too-many-tasks", "100000", "--for", "1ms"]);
    let (status, said) = monitor.end();
    assert_eq!(status, Some(0), "{said}");
    assert!(said.contains("too_many_tasks:100000") && said.contains("no event\n"), "{said}");
}

/// The process keeps its table from the monitor on: its two tasks are older.
#[test]
fn waits_from_before_the_monitor_are_reported() {
    let program = Program::start();
    for limit in [["--too-many-tasks", "1"], ["--long-wait", "1h"]] {
        let mut arguments = limit.to_vec();
        arguments.extend(["--for", "1ms"]);
        let (status, said) = program.monitor(&arguments).end();
        assert_eq!(status, Some(5), "{said}");
        if said.contains("ptrace_scope") {
            eprintln!("SKIPPED: {said}");
            return;
        }
        let told = "1 of 2 tasks were spawned before the process kept its table";
        assert!(said.contains(&format!("note: {told}")) && said.contains(&format!("unknown: {told}")), "{said}");
    }
}

/// The time begins when debug information has been read.
#[test]
fn a_monitor_that_shows_stacks_has_its_time() {
    let program = Program::start();
    let mut monitor = program.monitor(&["--long-schedule", "1h", "--for", "1ms", "--json"]);
    let last: Value = serde_json::from_str(&monitor.line()).unwrap();
    let (status, said) = monitor.end();
    // A task of tokio's is not in the table: it is not known whether its polls last.
    assert_eq!(status, Some(5), "{said}");
    assert!(said.contains("long_schedule:") && said.contains("no event among the tasks in the table\n"), "{said}");
    let unknown = last["unknown"].as_str().unwrap();
    assert!(said.contains(&format!("unknown: {unknown}\n")), "{said}");
    assert!(unknown.starts_with("1 of 2 tasks are not in the table") || unknown.contains("ptrace_scope"), "{unknown}");
}

#[test]
fn wrong_use_and_processes_that_are_not_there() {
    let run = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_dyntrace")).arg("monitor").args(arguments).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    for (arguments, status, why) in [
        (&["-p", "4000000000"][..], 65, "there is no process 4000000000"),
        (&["-p", "1", "--long-wait", "1us"], 2, "expected a time from 1ms to 24h"),
        (&[], 2, "--pid"),
    ] {
        let (code, said) = run(arguments);
        assert!(code == Some(status) && said.contains(why), "{arguments:?}: {code:?} {said}");
    }
}
