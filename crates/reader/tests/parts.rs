//! A process read in parts, the same ones again after the recording has gone on.

mod common;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use common::{Fired, Writer, fired};
use dyntrace_reader::{Parts, Trace};

/// Events of a thread, each `pause` after the one before.
fn events(count: u64, start: u64, pause: u64) -> Vec<Fired> {
    (0..count).map(|at| fired("user_trace-s1", start + at * pause, [format!("{start} {at}").as_str().into()])).collect()
}

/// Times and messages of the next part.
fn part(parts: &mut Parts<'_>, ends: &HashMap<PathBuf, u64>) -> Vec<String> {
    let upto = |file: &Path| ends.get(file).copied().unwrap_or(0);
    parts.part(upto).map(|event| format!("{event:?}")).collect()
}

fn rest(parts: &mut Parts<'_>) -> Vec<String> {
    parts.part(|_| u64::MAX).map(|event| format!("{event:?}")).collect()
}

fn ends(parts: &Parts<'_>) -> HashMap<PathBuf, u64> {
    parts.ends().map(|(file, end)| (file.to_owned(), end)).collect()
}

#[test]
fn parts_are_the_same_after_the_trace_has_grown() {
    let folder = tempfile::tempdir().unwrap();
    let writer = Writer::new(folder.path());
    let all = [events(4_000, 0, 10), events(4_000, 5, 7), events(3_000, 9_000, 3)];
    let grow = |counts: [usize; 3]| {
        for ((number, events), count) in (1..).zip(&all).zip(counts).filter(|(_, count)| *count > 0) {
            writer.ring(&format!("ring-{number}"), number, &events[..count]);
        }
        Trace::open(folder.path()).unwrap()
    };
    // The second file ends within a packet, the third is not there at first.
    let looks = [[2_000, 17, 0], [2_000, 18, 0], [2_000, 1_000, 1], [3_999, 3_000, 2_999], [4_000, 4_000, 3_000]];
    let mut known: Vec<(HashMap<PathBuf, u64>, Vec<String>)> = Vec::new();
    for counts in looks {
        let trace = grow(counts);
        let mut parts = trace.parts(&trace.processes()[0]);
        for (ends, events) in &known {
            assert_eq!(&part(&mut parts, ends), events);
            assert_eq!(&self::ends(&parts).into_iter().filter(|(_, end)| *end > 0).collect::<HashMap<_, _>>(), ends);
        }
        let new = rest(&mut parts);
        assert!(!new.is_empty());
        let ends = ends(&parts).into_iter().filter(|(_, end)| *end > 0).collect();
        assert!(rest(&mut parts).is_empty());
        known.push((ends, new));
    }
    let count: usize = known.iter().map(|(_, events)| events.len()).sum();
    let whole = Trace::open(folder.path()).unwrap();
    let mut once: Vec<_> = whole.events().map(|event| format!("{event:?}")).collect();
    let mut of_parts: Vec<_> = known.into_iter().flat_map(|(_, events)| events).collect();
    assert_eq!((count, once.len()), (11_000, 11_000));
    once.sort();
    of_parts.sort();
    assert!(once == of_parts);
}

#[test]
fn a_part_that_was_not_read_to_its_end_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let writer = Writer::new(folder.path());
    writer.ring("ring-1", 1, &events(10, 0, 2));
    writer.ring("ring-2", 2, &events(10, 1, 2));
    let trace = Trace::open(folder.path()).unwrap();
    let mut parts = trace.parts(&trace.processes()[0]);
    let begun: Vec<_> = parts.part(|_| u64::MAX).take(5).map(|event| format!("{event:?}")).collect();
    let all: Vec<_> = trace.events().map(|event| format!("{event:?}")).collect();
    assert_eq!([begun, rest(&mut parts)].concat(), all);
}

#[test]
fn a_part_may_end_at_each_event() {
    let folder = tempfile::tempdir().unwrap();
    let writer = Writer::new(folder.path());
    // Several packets each.
    writer.ring("ring-1", 1, &events(4_000, 0, 2));
    writer.ring("ring-2", 2, &events(4_000, 1, 3));
    let trace = Trace::open(folder.path()).unwrap();
    let all: Vec<_> = trace.events().map(|event| format!("{event:?}")).collect();
    for taken in (0..all.len()).step_by(97).chain([1, 2, all.len() - 1, all.len()]) {
        let mut parts = trace.parts(&trace.processes()[0]);
        assert_eq!(parts.part(|_| u64::MAX).take(taken).count(), taken);
        let ends = ends(&parts);
        let mut again = trace.parts(&trace.processes()[0]);
        assert!(part(&mut again, &ends) == all[..taken], "{taken}");
        assert!(rest(&mut again) == all[taken..], "{taken}");
    }
}

#[test]
fn damage_lies_in_the_same_part() {
    let folder = tempfile::tempdir().unwrap();
    let writer = Writer::new(folder.path());
    let mut packets = writer.packets(0, 1, common::SUB_BUFFER, &events(4_000, 0, 1));
    let last = packets.len() - 1;
    for damaged in [1, last] {
        packets[damaged][common::HEADER + 3000..][..12].fill(0xff);
    }
    writer.write("ring-1", &packets.concat());
    let trace = Trace::open(folder.path()).unwrap();
    let mut parts = trace.parts(&trace.processes()[0]);
    let first = rest(&mut parts);
    let ends = ends(&parts);
    let damaged = trace.losses().damaged.len();
    assert!(damaged >= 2 && first.len() > 1000, "{:?}", trace.losses());
    let again = Trace::open(folder.path()).unwrap();
    let mut parts = again.parts(&again.processes()[0]);
    assert_eq!(part(&mut parts, &ends), first);
    assert!(rest(&mut parts).is_empty());
}
