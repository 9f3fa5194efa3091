//! The script `task_waits` on a trace with more resources and waits than its tables have room for.

use std::path::Path;

use crate::dyntrace;
use crate::writer::{Arg, Fired, Writer, fired};

fn wait(time: u64, proc: &str, resource: &str) -> Fired {
    fired("process-wait", time, [proc, resource, "Mutex::lock", "src/shop.rs:7"].map(Arg::from))
}

fn resume(time: u64, proc: &str, resource: &str, waited: u64, outcome: &str) -> Fired {
    let (kind, place) = ("Mutex::lock", "src/shop.rs:7");
    let arguments = [proc.into(), resource.into(), Arg::U(waited), outcome.into(), kind.into(), place.into()];
    fired("process-resume", time, arguments)
}

/// The lines of the script, without its titles and empty lines. Each run of blanks is one.
fn lines(events: &[Fired]) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a folder for the trace");
    let writer = Writer::new(folder.path());
    writer.ring("ring-1", 7, events);
    writer.process(&[]);
    let path: &Path = folder.path();
    let output = dyntrace(["view".as_ref(), path.as_os_str(), "--script".as_ref(), "task_waits".as_ref()]);
    let printed = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = printed.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    lines.filter(|line| !line.is_empty() && !line.contains("waited_us")).collect()
}

/// The wait `early` began before the trace; of two waits of one process for a resource one ends.
#[test]
fn waits_that_began_before_the_trace_and_waits_that_last() {
    let lines = lines(&[
        wait(1_000, "<0.1.0>", "#Ref<0.1>"),
        wait(2_000, "<0.1.0>", "#Ref<0.1>"),
        resume(3_000, "<0.2.0>", "early", 70_000_000, "ready"),
        resume(9_000, "<0.1.0>", "#Ref<0.1>", 8_000, "cancelled"),
        wait(9_500, "<0.3.0>", "#Ref<0.1>"),
    ]);
    let process = lines[2].split(' ').next().expect("a word").to_owned();
    assert_eq!(
        lines,
        [
            "waits: 2 ended, 2 last, 0 not followed".to_owned(),
            "70008 2 35004 70000 0 0 1 0 0 0 0 0 0 1 0 0 1 0 2 Mutex::lock | src/shop.rs:7".to_owned(),
            format!("{process} 8 1 8 2 #Ref<0.1> | Mutex::lock"),
            format!("{process} 70000 1 70000 0 early | Mutex::lock"),
            format!("{process} 8 1 8 <0.1.0> |"),
            format!("{process} 70000 1 70000 <0.2.0> |"),
        ]
    );
}

#[test]
fn further_resources_processes_and_waits_are_counted() {
    let name = |number: u64| format!("#Ref<0.{number}>");
    let begun = (1..=16_390).map(|number| wait(number, &format!("<0.{number}.0>"), &name(number % 1_200)));
    let ended = (1..=1_100).map(|number| {
        let proc = format!("<0.{number}.0>");
        resume(20_000 + number, &proc, &name(number % 1_200), 1_000, "ready")
    });
    let lines = lines(&begun.chain(ended).collect::<Vec<_>>());
    assert_eq!(lines[0], format!("waits: 1100 ended, {} last, 6 not followed", 16_384 - 1_100));
    let numbers = |line: &str| -> Vec<u64> { line.split(' ').map_while(|word| word.parse().ok()).collect() };
    let (resources, waiters): (Vec<_>, Vec<_>) = lines[2..].iter().partition(|line| line.ends_with(" | Mutex::lock"));
    let sum = |rows: &[&String], column: usize| rows.iter().map(|row| numbers(row)[column]).sum::<u64>();
    assert_eq!((resources.len(), sum(&resources, 2), sum(&resources, 4)), (1_001, 1_100, 16_384 - 1_100));
    assert_eq!((waiters.len(), sum(&waiters, 2)), (1_001, 1_100));
    let others =
        |rows: &[&String]| rows.iter().filter(|row| row.contains(" others |")).map(|row| numbers(row)[2]).sum::<u64>();
    assert_eq!([others(&resources), others(&waiters)], [100, 100]);
}
