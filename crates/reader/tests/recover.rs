//! Traces after a crash or damage are ended and repaired.

mod common;

use std::fs;
use std::path::Path;

use common::{HEADER, PAGE, START, SUB_BUFFER, Writer, returned};
use dyntrace_reader::{Error, Trace, finish, recover};

fn times(path: &Path) -> (Vec<i64>, bool) {
    let trace = Trace::open(path).expect("a trace");
    let times = trace.events().map(|event| event.time - START).collect();
    (times, trace.losses().is_empty())
}

fn events(times: std::ops::Range<u64>) -> Vec<common::Fired> {
    times.map(|time| returned(time, 1, time as i64, "tag", 1, 0)).collect()
}

#[test]
fn finish_cuts_what_was_only_prepared() {
    let folder = tempfile::tempdir().expect("a folder");
    let writer = Writer::new(folder.path().join("shop-12"));
    let entered = writer.packets(0, 7, SUB_BUFFER, &events(1..3)).concat();
    // Unwritten pages of a packet still are prepared pages.
    let mut torn = entered.clone();
    torn[SUB_BUFFER - PAGE..].copy_from_slice(&writer.prepared(0));
    writer.write("ring-1", &[torn, writer.prepared(0).repeat(3)].concat());
    writer.write("ring-2", &writer.prepared(0).repeat(3));
    writer.write("ring-3", b"damaged");
    for _ in 0..2 {
        finish(folder.path()).expect("a trace");
        let length = |file| fs::metadata(writer.folder.join(file)).expect("a file").len();
        assert_eq!((length("ring-1"), length("ring-2"), length("ring-3")), (SUB_BUFFER as u64, 0, 7));
        assert_eq!(times(folder.path()).0, [1, 2]);
    }
}

#[test]
fn circles_become_files_in_order() {
    let folder = tempfile::tempdir().expect("a folder");
    let writer = Writer::new(folder.path().join("trace/shop-12"));
    let packet = |sequence: u64| {
        let content: Vec<u8> =
            events(sequence * 10..sequence * 10 + 3).iter().flat_map(|event| writer.event(event)).collect();
        writer.packet(0, 7, sequence, 0, SUB_BUFFER, &content)
    };
    writer.write(".rings/ring-1", &[packet(5), packet(6), packet(3), packet(4)].concat());
    let mut damaged = packet(8);
    damaged[0] = 0;
    // The writer has begun to enter packet 10.
    let entering = writer.packet(0, 7, 0, 0, SUB_BUFFER, &[]);
    writer.write(".rings/ring-2", &[packet(9), entering, packet(7), damaged].concat());
    writer.write(".rings/ring-3", &[packet(1), writer.prepared(0).repeat(8), packet(3)[..PAGE].to_vec()].concat());
    let out = folder.path().join("out");

    // Readers read them, too, and find the same damage.
    let trace = Trace::open(folder.path().join("trace")).expect("a trace");
    let read: Vec<_> = trace.events().map(|event| event.time - START).collect();
    let expected = [10, 11, 12, 30, 31, 32, 40, 41, 42, 50, 51, 52, 60, 61, 62, 70, 71, 72, 90, 91, 92];
    assert_eq!(read, expected);
    let recovered = recover(folder.path().join("trace"), &out).expect("a trace");
    assert_eq!((recovered.packets, recovered.events), (7, 21));
    assert_eq!(trace.losses().damaged, recovered.damaged);
    let told = |damage: &dyntrace_reader::Damage| {
        let name = damage.file.file_name().expect("a name").to_string_lossy().into_owned();
        (name, damage.offset, damage.bytes, damage.reason.clone())
    };
    let [cut, damaged] = &recovered.damaged.iter().map(told).collect::<Vec<_>>()[..] else { panic!("{recovered:?}") };
    // The place is that in the circular file.
    assert_eq!((&*damaged.0, damaged.1, damaged.2), ("ring-2", 3 * SUB_BUFFER as u64, SUB_BUFFER as u64));
    assert!(damaged.3.ends_with("(packet 9 follows packet 7); events of thread 7 may be missing"), "{}", damaged.3);
    assert_eq!((&*cut.0, cut.1, cut.2), ("ring-3", 2 * SUB_BUFFER as u64, PAGE as u64));
    let (times, whole) = times(&out);
    assert_eq!(times, expected);
    assert!(!whole, "packet 8 of ring-2 is missing");
    assert!(matches!(recover(folder.path().join("trace"), &out), Err(Error::Io { .. })), "never over something");
    assert!(recover(folder.path().join("none"), folder.path().join("out-2")).is_err());
}

/// As one whose disk was full, or that was killed.
#[test]
fn a_copy_that_was_given_up_is_no_trace() {
    let folder = tempfile::tempdir().expect("a folder");
    let writer = Writer::new(folder.path().join("trace"));
    writer.ring("ring-1", 7, &events(1..3));
    writer.ring(".rings/ring-1", 7, &events(3..5));
    // The name that the circular file would get.
    writer.ring("circle-ring-1", 7, &events(5..7));
    let out = folder.path().join("out");
    recover(&writer.folder, &out).expect_err("there is no name for the circular file");
    let opened = Trace::open(&out);
    assert!(matches!(opened, Err(dyntrace_reader::Error::NoTrace { .. })), "{opened:?}");
}

#[test]
fn damage_is_left_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let writer = Writer::new(folder.path().join("trace"));
    let mut bytes = writer.packets(0, 7, SUB_BUFFER, &events(1..3000)).concat();
    let in_third = 2 * SUB_BUFFER + HEADER;
    // Damages the id of the third packet's first event.
    bytes[in_third..in_third + 2].fill(0xff);
    writer.write("ring-1", &bytes);
    writer.write("ring-2", &writer.packets(0, 7, SUB_BUFFER, &events(1..3)).concat()[..HEADER + 60]);
    let out = folder.path().join("out");
    let recovered = recover(folder.path().join("trace"), &out).expect("a trace");
    assert_eq!(recovered.damaged.len(), 2);
    assert_eq!((recovered.damaged[0].offset, recovered.packets), (in_third as u64, 5));

    let (before, whole) = times(&folder.path().join("trace"));
    assert!(!whole);
    assert_eq!(times(&out), (before, true));
    assert_eq!(fs::metadata(out.join("ring-2")).expect("a file").len() as usize % PAGE, 0);
}

#[test]
fn a_process_whose_metadata_is_unreadable_keeps_no_other_from_being_recovered() {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = folder.path().join("trace");
    for process in ["a-11", "b-12", "c-13"] {
        let writer = Writer::new(trace.join(process));
        let ring = writer.packets(0, 7, SUB_BUFFER, &events(1..3)).concat();
        writer.write("ring-1", &[ring, writer.prepared(0)].concat());
    }
    let broken = trace.join("b-12/metadata");
    fs::write(&broken, b"/* CTF 1.8 */\ntrace {").expect("it is written");
    let out = folder.path().join("out");
    let recovered = recover(&trace, &out).expect("a trace");
    assert_eq!(recovered.events, 4);
    let [left_out] = &recovered.damaged[..] else { panic!("{recovered:?}") };
    assert_eq!((&left_out.file, left_out.offset, left_out.bytes), (&broken, 0, 0));
    assert!(left_out.reason.contains("a trace cannot be read without its metadata"), "{left_out:?}");
    assert_eq!(times(&out), (vec![1, 1, 2, 2], true));
    assert!(!out.join("b-12").exists());

    assert!(matches!(finish(&trace), Err(Error::Metadata { path, .. }) if path == broken));
    for (process, end) in [("a-11", SUB_BUFFER), ("b-12", SUB_BUFFER + PAGE), ("c-13", SUB_BUFFER)] {
        let length = fs::metadata(trace.join(process).join("ring-1")).expect("a file").len();
        assert_eq!(length, end as u64, "{process}");
    }

    fs::remove_dir_all(trace.join("a-11")).expect("it is removed");
    fs::remove_dir_all(trace.join("c-13")).expect("it is removed");
    let none = folder.path().join("none");
    assert!(matches!(recover(&trace, &none), Err(Error::Metadata { path, .. }) if path == broken));
    assert!(!none.exists());
}
