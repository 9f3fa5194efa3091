//! Follows the operations of a recording step by step: each comes once, whole, also if it is in flight at several looks.

mod common;

use common::{Arg, Fired, START, SUB_BUFFER, Writer, entry, fired, returned};
use dyntrace_reader::{FileOperation, Followed, Follower, OperationFollower, Trace};

const OPEN: i64 = 1;
const READ: i64 = 2;
const CLOSE: i64 = 23;

/// Everything that an operation has, except for its place in memory.
fn shown(operation: &FileOperation<'_>) -> String {
    let FileOperation { id, request, requester, path, submitter, worker, entered, added, taken, completion, .. } =
        operation;
    let inner = (operation.int_entry, operation.int_return, operation.driver, operation.process.pid);
    format!(
        "{id:?} {request:?} {requester:?} {path:?} {submitter} {worker:?} {} {added:?} {taken:?} {inner:?} {completion:?} {:?}",
        entered - START,
        operation.error
    )
}

fn step(step: &str, at: u64, tag: i64) -> Fired {
    fired(&format!("efile_drv-{step}"), at, [1.into(), tag.into(), READ.into()])
}

fn queue(step: &str, at: u64, length: i64) -> Fired {
    let mut args: Vec<Arg> = vec!["#Port<0.1>".into(), length.into()];
    if step == "get" {
        args.push(0.into());
    }
    fired(&format!("aio_pool-{step}"), at, args)
}

/// The events of the submitting thread, and those of an I/O thread, in order of time.
fn events() -> [Vec<Fired>; 2] {
    let token = |at, tag: i64| {
        fired("seq_trace-operation", at, [1.into(), tag.into(), "<0.5.0>".into(), 42.into(), 7.into(), 8.into()])
    };
    let submitter = vec![
        entry(100, 1, 1, "req-1", OPEN, "/a file"),
        queue("add", 110, 3),
        returned(190, 1, 1, "req-1", OPEN, 0),
        token(200, 2),
        entry(210, 1, 2, "req-1", READ, ""),
        queue("add", 220, 1),
        entry(230, 1, 3, "", READ, "/another"),
        queue("add", 240, 2),
        returned(410, 1, 2, "req-1", READ, 5),
        entry(420, 1, 4, "req-2", CLOSE, ""),
        returned(430, 1, 4, "req-2", CLOSE, 0),
        // The port's path is forgotten, and the id used again.
        entry(440, 1, 2, "req-3", READ, ""),
        returned(450, 1, 2, "req-3", READ, 0),
        entry(460, 1, 5, "never", READ, "/never"),
    ];
    let worker = vec![
        queue("get", 120, 2),
        step("int_entry", 130, 1),
        step("int_return", 140, 1),
        queue("get", 250, 1),
        step("int_entry", 260, 2),
        step("int_return", 400, 2),
        queue("get", 455, 0),
        step("int_entry", 457, 3),
    ];
    [submitter, worker]
}

/// Writes the events up to `time`.
fn write_upto(writer: &Writer, time: u64) {
    for ((file, tid), events) in [("ring-1", 7), ("ring-2", 8)].into_iter().zip(events()) {
        let upto: Vec<_> = events.into_iter().filter(|event| event.cycles <= time).collect();
        writer.write(file, &writer.packets(0, tid, SUB_BUFFER, &upto).concat());
    }
}

#[test]
fn operations_are_the_same_at_any_pace() {
    let folder = tempfile::tempdir().expect("a folder");
    let writer = Writer::new(folder.path().join("shop-12"));
    write_upto(&writer, u64::MAX);
    let mut expected = Vec::new();
    let trace = Trace::open(folder.path()).expect("a trace");
    let mut operations = dyntrace_reader::FileOperations::default();
    for event in trace.events() {
        expected.extend(operations.push(&event).as_ref().map(shown));
    }
    expected.extend(operations.in_flight().map(shown));
    assert_eq!(expected.len(), 6);

    for pace in [1, 5, 10, 30, 100, 1000] {
        let mut follow = OperationFollower::new(Follower::new([folder.path()]));
        let mut delivered = Vec::new();
        for time in (100..=460 + pace).step_by(pace as usize) {
            write_upto(&writer, time);
            assert!(follow.poll(|operation| delivered.push(shown(operation))).expect("a trace"));
        }
        write_upto(&writer, u64::MAX);
        follow.drain(|operation| delivered.push(shown(operation))).expect("a trace");
        assert_eq!(delivered, expected, "pace {pace}");
        assert_eq!((follow.given_up(), follow.unmatched()), (0, 0));
        // None comes twice.
        follow.drain(|operation| panic!("{operation:?}")).expect("a trace");
    }
}

#[test]
fn operations_of_a_process_that_is_gone_are_given_up() {
    let folder = tempfile::tempdir().expect("a folder");
    let writer = Writer::new(folder.path().join("shop-12"));
    Writer::new(folder.path().join("other-13"));
    let mut follow = OperationFollower::new(Follower::new([folder.path()]));
    write_upto(&writer, 210);
    for _ in 0..2 {
        follow.poll(|_| ()).expect("a trace");
    }
    std::fs::remove_dir_all(&writer.folder).expect("a folder");
    follow.drain(|operation| panic!("{operation:?}")).expect("the other process");
    assert_eq!(follow.given_up(), 1);
}

#[test]
fn events_come_with_the_operations_that_they_complete() {
    let folder = tempfile::tempdir().expect("a folder");
    let writer = Writer::new(folder.path().join("shop-12"));
    write_upto(&writer, u64::MAX);
    let trace = Trace::open(folder.path()).expect("a trace");
    let mut operations = dyntrace_reader::FileOperations::default();
    let mut expected = Vec::new();
    for event in trace.events() {
        expected.push(format!("{event:?}"));
        expected.extend(operations.push(&event).as_ref().map(shown));
    }
    expected.extend(operations.in_flight().map(shown));
    let mut follow = OperationFollower::new(Follower::new([folder.path()]));
    let mut delivered = Vec::new();
    let mut each = |followed: Followed<'_, '_>| match followed {
        Followed::Event(event) => delivered.push(format!("{event:?}")),
        Followed::Operation(operation) => delivered.push(shown(operation)),
        other => panic!("{other:?}"),
    };
    for _ in 0..3 {
        follow.poll_all(&mut each).expect("a trace");
    }
    follow.drain_all(&mut each).expect("a trace");
    assert_eq!(delivered, expected);
}
