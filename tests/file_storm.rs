//! The workload runs its operations and reports them.

#[path = "common/example.rs"]
mod example;

use std::process::Command as Process;

use dyntrace::efile::Command;
use serde_json::Value;

fn storm(arguments: &[&str]) -> Value {
    let output = Process::new(example::example("file_storm")).args(arguments).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(text.lines().count(), 1);
    serde_json::from_str(&text).unwrap()
}

fn count(report: &Value, command: Command) -> (u64, u64) {
    let count = &report["commands"][command.name()];
    (count["ok"].as_u64().unwrap_or(0), count["failed"].as_u64().unwrap_or(0))
}

fn assert_total(report: &Value) {
    let sum: u64 = Command::ALL.iter().map(|&command| count(report, command)).map(|(ok, failed)| ok + failed).sum();
    assert_eq!(report["total"].as_u64(), Some(sum));
}

#[test]
fn all_commands_are_all_commands() {
    let report = storm(&["--all-commands", "--tasks", "2"]);
    for &command in Command::ALL {
        let (ok, failed) = count(&report, command);
        assert_eq!(ok == 0, command == Command::Altname, "{command} succeeded {ok} times");
        let sure = matches!(command, Command::Pwd | Command::Close);
        assert_eq!(failed == 0, sure, "{command} failed {failed} times");
    }
    assert_total(&report);
}

#[test]
fn a_count_of_operations_says_all() {
    // Three tasks run each of the eight actions twice.
    let arguments = ["--operations", "16", "--tasks", "3"];
    let report = storm(&arguments);
    assert_eq!(report, storm(&arguments));
    assert_total(&report);
    assert_eq!(count(&report, Command::Open), (24, 0));
    assert_eq!(count(&report, Command::Close), (24, 0));
    assert_eq!(count(&report, Command::Rename), (6, 6));
    assert_eq!(count(&report, Command::Fstat), (6, 6));
}

#[test]
fn a_mix_is_that_mix() {
    let report = storm(&["--operations", "5", "--tasks", "1", "--mix", "line,stat"]);
    assert_eq!(count(&report, Command::ReadLine), (3, 0));
    assert_eq!(count(&report, Command::Lstat), (2, 0));
    assert_eq!(count(&report, Command::Rename), (0, 0));
}
