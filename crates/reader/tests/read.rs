//! Written events are read back.

mod common;

use common::{START, SUB_BUFFER, Writer, entry, fired, returned};
use dyntrace_reader::{Trace, Value};

#[test]
fn events_of_two_rings_and_the_process_come_in_time_order() {
    let folder = tempfile::tempdir().expect("a folder");
    let writer = Writer::new(folder.path().join("shop-12"));
    writer.ring("ring-1", 77, &[entry(10, 1, 5, "req-1", 3, "/a"), returned(40, 1, 5, "req-1", 3, 2)]);
    writer.ring("ring-2", 78, &[fired("efile_drv-int_entry", 20, [1.into(), 5.into(), 3.into()])]);
    writer.process(&[fired("recorder:thread", 15, [common::Arg::U(77), "main".into()])]);

    let trace = Trace::open(folder.path()).expect("a trace");
    let events: Vec<_> = trace.events().collect();
    let seen: Vec<_> = events.iter().map(|event| (event.time - START, event.tid, event.class.name.as_str())).collect();
    assert_eq!(
        seen,
        [
            (10, 77, "dyntrace:efile_drv-entry"),
            (15, 0, "recorder:thread"),
            (20, 78, "dyntrace:efile_drv-int_entry"),
            (40, 77, "dyntrace:efile_drv-return")
        ]
    );
    let entry = events[0];
    assert_eq!(entry.class.probe(), "efile_drv-entry");
    assert_eq!(entry.field("user_tag"), Some(Value::Text(b"req-1".into())));
    assert_eq!(entry.field("s2"), Some(Value::Text(b"".into())));
    assert_eq!(entry.field("i3"), Some(Value::Signed(-3)));
    assert_eq!(entry.field("port"), Some(Value::Text(b"#Port<0.1>".into())));
    assert_eq!(entry.field("nothing"), None);
    assert_eq!(entry.fields().count(), 11);
    for (name, value) in entry.fields() {
        assert_eq!(entry.field(name), Some(value));
    }
    let process = &trace.processes()[0];
    assert_eq!((process.name.as_str(), process.pid, process.hostname.as_str()), ("shop", 12, "h"));
    assert!(trace.losses().is_empty());
}

#[test]
fn losses_are_reported() {
    let folder = tempfile::tempdir().expect("a folder");
    let writer = Writer::new(folder.path());
    let first = writer.packet(0, 7, 1, 0, SUB_BUFFER, &writer.event(&returned(1, 1, 1, "", 1, 0)));
    let second = writer.packet(0, 8, 2, 5, SUB_BUFFER, &writer.event(&returned(2, 1, 2, "", 1, 0)));
    let prepared = writer.prepared(0);
    writer.write("ring-1", &[first, second, prepared.clone(), prepared].concat());
    writer.process(&[
        fired("recorder:lost", 3, [common::Arg::U(2), "no ring left".into()]),
        fired("recorder:lost", 4, [common::Arg::U(3), "no ring left".into()]),
    ]);

    let trace = Trace::open(folder.path()).expect("a trace");
    assert_eq!(trace.events().count(), 4);
    let losses = trace.losses();
    assert_eq!(losses.discarded.iter().map(|ring| ring.count).collect::<Vec<_>>(), [5]);
    assert_eq!((losses.lost[0].count, losses.lost[0].reason.as_str()), (5, "no ring left"));
    assert_eq!(losses.events(), 10);
    assert!(losses.damaged.is_empty());
}
