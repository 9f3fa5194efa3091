//! Reads a trace while its program records.

mod common;

use std::fs::OpenOptions;
use std::io::{Seek, SeekFrom, Write};

use common::{HEADER, PAGE, START, SUB_BUFFER, Writer, returned};
use dyntrace_reader::Trace;

/// A write to a file: bytes at an offset.
fn store(writer: &Writer, at: usize, bytes: &[u8]) {
    let mut file = OpenOptions::new().write(true).open(writer.folder.join("ring-1")).expect("the ring");
    file.seek(SeekFrom::Start(at as u64)).expect("a place");
    file.write_all(bytes).expect("the ring");
}

/// Returns a file of prepared pages in which the first packet is entered, with events at `times`.
fn entered(writer: &Writer, times: &[u64]) -> Vec<u8> {
    let content: Vec<u8> = times.iter().flat_map(|time| writer.event(&returned(*time, 1, 1, "tag", 1, 0))).collect();
    let packet = writer.packet(0, 7, 1, 0, SUB_BUFFER, &content);
    let pages = (HEADER + content.len()).div_ceil(PAGE);
    let prepared = writer.prepared(0).repeat(16 - pages);
    [&packet[..pages * PAGE], &prepared].concat()
}

fn times(trace: &Trace) -> Vec<i64> {
    trace.events().map(|event| event.time - START).collect()
}

#[test]
fn a_program_that_ends_cuts_nothing_that_is_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let writer = Writer::new(folder.path());
    writer.write("ring-1", &entered(&writer, &[1, 2]));
    let trace = Trace::open(folder.path()).expect("a trace");
    let file = OpenOptions::new().write(true).open(folder.path().join("ring-1")).expect("the ring");
    file.set_len(PAGE as u64).expect("a shorter file");
    assert_eq!(times(&trace), [1, 2]);
    assert!(trace.losses().is_empty());
}

#[test]
fn events_written_during_the_reading_are_no_damage() {
    let folder = tempfile::tempdir().expect("a folder");
    let writer = Writer::new(folder.path());
    writer.write("ring-1", &entered(&writer, &[1, 2]));
    let trace = Trace::open(folder.path()).expect("a trace");
    let mut events = trace.events();
    assert_eq!(events.next().map(|event| event.time - START), Some(1));
    // Events after the mapped page, and the commit word that includes them.
    let many: Vec<u64> = (1..=700).collect();
    let later = entered(&writer, &many);
    store(&writer, PAGE, &later[PAGE..]);
    store(&writer, HEADER, &later[HEADER..PAGE]);
    store(&writer, 24, &later[24..32]);
    let read: Vec<_> = events.map(|event| event.time - START).collect();
    let expected: Vec<_> = (2..).take(read.len()).collect();
    assert!(read.len() > 1 && read.len() < 699, "{}", read.len());
    assert_eq!(read, expected);
    assert!(trace.losses().is_empty(), "{:?}", trace.losses());

    let trace = Trace::open(folder.path()).expect("a trace");
    assert_eq!(times(&trace).len(), 700);
    assert!(trace.losses().is_empty());
}
