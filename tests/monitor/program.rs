//! `DYNTRACE=monitor=...`, of this test's own program.

use std::env;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};
use std::sync::mpsc;

use crate::on_a_thread;

const ROLE: &str = "DYNTRACE_TEST_MONITORED";

/// The program: a poll lasts until its standard input has a line.
#[test]
fn monitored() {
    if env::var_os(ROLE).is_none() {
        return;
    }
    let (release, waits) = mpsc::channel::<()>();
    let task = on_a_thread(async move { waits.recv().unwrap() });
    std::io::stdin().read_line(&mut String::new()).unwrap();
    release.send(()).unwrap();
    task.join().unwrap();
}

fn program(monitor: &str) -> Command {
    let mut program = Command::new(env::current_exe().unwrap());
    program.args(["--exact", "program::monitored", "--nocapture"]).env(ROLE, "1").env("DYNTRACE", monitor);
    program.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    program
}

#[test]
fn events_of_the_environments_monitor_are_lines_on_standard_error() {
    let mut child = program("monitor=long_schedule:20ms,too_many_tasks:100000").spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    // The poll lasts until the line has come.
    let line = lines.next().unwrap().unwrap();
    child.stdin.take().unwrap().write_all(b"\n").unwrap();
    assert!(child.wait().unwrap().success());
    assert!(line.starts_with("dyntrace: long_schedule: <0."), "{line}");
    assert!(line.contains("program::monitored") && line.ends_with(", S, in futex"), "{line}");
    assert!(lines.next().is_none(), "it is told once");
}

#[test]
fn wrong_limits_are_one_line_and_the_program_runs() {
    for (limits, why) in [
        ("monitor=long_gc:5ms", "\"long_gc:5ms\" is no kind of event with a limit"),
        ("monitor=long_schedule:5", "the limit \"5\" of long_schedule: expected a time from 1ms to 24h"),
        ("monitor=", "a monitor needs a limit"),
    ] {
        let mut child = program(limits).spawn().unwrap();
        child.stdin.take().unwrap().write_all(b"\n").unwrap();
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success() && said.lines().count() == 1 && said.contains(why), "{limits}: {said}");
    }
}
