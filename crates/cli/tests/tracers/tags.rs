//! `dyntrace run --tag`: each script with each tracer shows the operations of matching user tags, and all of them. SystemTap's scripts are
//! compared with a text by tests of `run::tag`: here `dyntrace run` does not run SystemTap, as few test machines load kernel modules.

use std::collections::BTreeSet;

use crate::answers;
use crate::events::{self, Order};
use crate::machine::{OLD_BPFTRACE, turn};
use crate::programs::{Done, STORMS, done, traced_with};

/// Globs that match the user tag of the second of four tasks, `req-2`, and those of no other.
const GLOBS: [&str; 5] = ["req-2", "req-2*", "*-2", "*q-2*", "r*q*2"];
const SCRIPTS: [&str; 4] = ["efile_by_tag", "efile_drv", "efile_errors", "efile_latency"];
const EVENT: &str = "\
user_trace i4s4 <0.1.0> user tag req-1 | 1 -2 9223372036854775807 -9223372036854775808 | a | b | c | d
";

#[test]
fn bpftrace() {
    let Some(_turn) = turn("bpftrace", true) else { return };
    every_script("bpftrace", Order::OfTime, events::port);
    let (lines, _) = tagged("bpftrace", "efile_drv", "so*-*r*-*a*g", "rename_tagged", &[]);
    assert_eq!(lines.lines().count(), 4, "five texts between stars: {lines}");
}

#[test]
fn old_bpftrace() {
    let Some(_turn) = turn(OLD_BPFTRACE, true) else { return };
    every_script(OLD_BPFTRACE, Order::OfTime, events::port);
}

#[test]
fn dtrace() {
    let Some(_turn) = turn("dtrace", true) else { return };
    every_script("dtrace", Order::PerProcessor, |port| port == "?");
}

#[test]
fn recorder() {
    every_script("recorder", Order::OfTime, events::port);
    let (lines, _) = tagged("recorder", "efile_drv", "some-?ser-tag", "rename_tagged", &[]);
    assert_eq!(lines.lines().count(), 4, "a glob with a question mark: {lines}");
}

fn every_script(tracer: &str, order: Order, is_port: fn(&str) -> bool) {
    for (at, script) in SCRIPTS.into_iter().enumerate() {
        // Each glob with one script, and one script with two.
        for glob in GLOBS.iter().skip(at).step_by(SCRIPTS.len()) {
            let (trace, said) = tagged(tracer, script, glob, "file_storm", STORMS[1]);
            check(script, &trace, &said, order, is_port);
        }
    }
    assert_eq!(tagged(tracer, "user-probe", "r*", "every_event", &[]).0, EVENT);
    let (lines, _) = tagged(tracer, "efile_drv", "other*", "rename_tagged", &[]);
    assert_eq!(lines, "", "of {tracer}, and no complaint");
}

fn tagged(tracer: &str, script: &str, glob: &str, program: &str, arguments: &[&str]) -> (String, String) {
    traced_with(&["--tag", glob], 0, tracer, script, program, arguments)
}

/// Compares the trace of one of four tasks with a quarter of what they all did.
fn check(script: &str, trace: &str, said: &str, order: Order, is_port: fn(&str) -> bool) {
    let quarter: Done = done(said).into_iter().map(|(name, (ok, failed))| (name, (ok / 4, failed / 4))).collect();
    match script {
        "efile_drv" => assert_eq!(events::seen(trace, order, is_port), (quarter, BTreeSet::from(["req-2"]))),
        "efile_latency" => answers::latency(trace, &quarter),
        "efile_errors" => {
            answers::errors(trace, &quarter);
            assert!(trace.lines().all(|line| line.contains(" user tag req-2 ")), "{trace}");
        }
        _ => {
            let mut seen = Done::new();
            for line in trace.lines().skip(1) {
                let words: Vec<&str> = line.split_whitespace().collect();
                let [command, operations, errors, _bytes, _time, "req-2"] = words[..] else { panic!("{line:?}") };
                let [operations, errors]: [u64; 2] =
                    [operations, errors].map(|number| number.parse().expect("a count"));
                assert!(seen.insert(command.to_owned(), (operations - errors, errors)).is_none(), "{trace}");
            }
            assert_eq!(seen, quarter);
        }
    }
}
