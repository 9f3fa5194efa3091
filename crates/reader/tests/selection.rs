//! Selections include exactly the selected events.

mod common;

use common::{START, Writer, entry, fired, returned};
use dyntrace_reader::{Selection, Trace};

/// Returns the times of the selected events.
fn taken(selection: &Selection) -> Vec<i64> {
    let folder = tempfile::tempdir().expect("a folder");
    let writer = Writer::new(folder.path());
    writer.ring(
        "ring-1",
        77,
        &[
            entry(1, 1, 1, "req-1", 12, "/a"),
            fired("efile_drv-int_entry", 2, [1.into(), 1.into(), 12.into()]),
            returned(3, 1, 1, "req-1", 12, 2),
            fired("user_trace-s1", 4, ["hello".into()]),
        ],
    );
    writer.ring("ring-2", 78, &[entry(5, 2, 1, "req/\u{e4}", 1, "/b"), returned(6, 2, 1, "req/\u{e4}", 1, 0)]);
    let trace = Trace::open(folder.path()).expect("a trace");
    trace.events().filter(|event| selection.matches(event)).map(|event| event.time - START).collect()
}

#[test]
fn each_condition_alone_and_together() {
    let all = Selection::new;
    for (selection, expected) in [
        (all(), vec![1, 2, 3, 4, 5, 6]),
        (all().tag("req-*"), vec![1, 3]),
        (all().tag("req/?"), vec![5, 6]),
        (all().tag("req"), vec![]),
        (all().probe("efile_drv-int_*"), vec![2]),
        (all().probe("efile_drv-return").probe("user_*"), vec![3, 4, 6]),
        (all().probe("dyntrace:user_trace-??"), vec![4]),
        (all().probe("shop:*"), vec![]),
        (all().failed(), vec![3]),
        (all().command(12), vec![1, 2, 3]),
        (all().errno(0), vec![6]),
        (all().from(START + 3).until(START + 5), vec![3, 4]),
        (all().tid(78), vec![5, 6]),
        (all().tag("req*").probe("*-return").failed().tid(78), vec![]),
    ] {
        assert_eq!(taken(&selection), expected, "{selection:?}");
    }
}

#[test]
fn operations_ask_for_their_tag() {
    let selection = Selection::new().tag("*\u{fffd}");
    assert!(selection.matches_tag(b"req-\xff") && !selection.matches_tag(b"req"));
}
