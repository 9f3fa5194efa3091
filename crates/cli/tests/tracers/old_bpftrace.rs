//! The shipped scripts under bpftrace of Debian 12, which prints the events that `dyntrace run` makes the lines of.

use std::process::Output;

use crate::answers::{self, FAILED_RENAME, REQUESTS, SIZES};
use crate::events::{self, Order};
use crate::machine::{self, OLD_BPFTRACE, turn};
use crate::pool;
use crate::programs::{CHECKOUT, CONNECTIONS, MESSAGES, STORMS, USER_PROBES, done, example, renamed, traced};

#[test]
fn the_lines_to_the_letter() {
    let Some(_turn) = turn(OLD_BPFTRACE, true) else { return };
    let same = |script, program, expected: &str| {
        let (trace, _) = traced(OLD_BPFTRACE, script, program, &[]);
        assert_eq!(sorted(&trace), sorted(expected), "{script} on {program}");
    };
    same("efile_drv", "rename_tagged", &renamed("#Port<0.1>"));
    same("efile_errors", "rename_tagged", FAILED_RENAME);
    same("messages", "every_event", MESSAGES);
    same("dist", "every_event", CONNECTIONS);
    same("user-probe", "every_event", USER_PROBES);
    same("user-probe", "checkout", CHECKOUT);
}

/// The lines, sorted: this bpftrace prints one processor's events after another's.
fn sorted(lines: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = lines.lines().collect();
    lines.sort_unstable();
    lines
}

#[test]
fn every_operation_of_a_storm() {
    let Some(_turn) = turn(OLD_BPFTRACE, true) else { return };
    let (trace, said) = traced(OLD_BPFTRACE, "efile_drv", "file_storm", STORMS[1]);
    events::check(&trace, &done(&said), Order::PerProcessor, events::port);
}

#[test]
fn answers() {
    let Some(_turn) = turn(OLD_BPFTRACE, true) else { return };
    let storm = |script| traced(OLD_BPFTRACE, script, "file_storm", STORMS[0]);
    let (trace, said) = storm("efile_latency");
    answers::latency(&trace, &done(&said));
    let (trace, said) = storm("efile_by_tag");
    answers::by_tag(&trace, &done(&said), SIZES[0]);
    let (trace, report) = traced(OLD_BPFTRACE, "message_latency", "pipeline", &REQUESTS);
    answers::message_latency(&trace, &report);
    let (trace, said) = storm("aio_pool");
    pool::check(&trace, &done(&said));
}

#[test]
fn hostile_names_stay_on_their_lines() {
    let Some(_turn) = turn(OLD_BPFTRACE, true) else { return };
    let mut run = machine::command_for(OLD_BPFTRACE, env!("CARGO_BIN_EXE_dyntrace"));
    run.args(["run", "--tracer", "bpftrace", "efile_drv", "--"]).arg(example("hostile_names"));
    let Output { status, stdout, stderr } = run.output().expect("dyntrace starts");
    let (lines, said) = (String::from_utf8(stdout).expect("UTF-8"), String::from_utf8_lossy(&stderr));
    assert_eq!(status.code(), Some(7), "{said}");
    assert!(said.contains("has cut strings after 199 bytes"), "{said}");
    // Four lines for each of seven names, and nothing that could drive a terminal.
    assert_eq!(lines.lines().filter(|line| line.contains(" tag={1,")).count(), 28, "{lines}");
    assert_eq!(lines.lines().count(), 28, "{lines}");
    assert!(!lines.chars().any(|c| c.is_control() && c != '\n'), "{lines}");
    assert!(lines.contains(r"\x1b[31mred\x1b[m") && lines.contains(&"x".repeat(199)), "{lines}");
    assert!(!lines.contains(&"x".repeat(200)), "{lines}");
}

/// Missing events are counted: an interrupted bpftrace discards its buffer.
#[test]
fn a_process_until_it_is_interrupted() {
    let Some(_turn) = turn(OLD_BPFTRACE, true) else { return };
    let mut storm = machine::command(example("file_storm"));
    let mut storm = storm.args(["--tasks", "1", "--seconds", "600"]).spawn().expect("file_storm starts");
    let mut run = machine::command_for(OLD_BPFTRACE, "timeout");
    run.args(["-s", "INT", "3", env!("CARGO_BIN_EXE_dyntrace"), "run", "efile_drv", "-p", &storm.id().to_string()]);
    let Output { stdout, stderr, .. } = run.output().expect("timeout starts");
    let (lines, said) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    let lost = said.split_once(" lines lost").map(|(before, _)| before.rsplit(": ").next().unwrap_or_default());
    let lost = lost.map(|counts| counts.split_once(" of ").expect("N of M lines lost"));
    if let Some((lost, fired)) = lost {
        let [lost, fired]: [usize; 2] = [lost, fired].map(|count| count.parse().expect("a count"));
        assert_eq!(lines.lines().count(), fired - lost, "{said}");
    }
    assert!(lines.lines().count() > 0, "{said}");
    storm.kill().expect("it is there");
    storm.wait().expect("it was killed");
}
