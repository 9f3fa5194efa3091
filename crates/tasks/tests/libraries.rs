//! Everything that the reader says of the example `libraries_truth` is true.

mod program;

use dyntrace_tasks::listing::WaitsFor;
use program::{Program, leaves, roots};

#[test]
fn channels_and_streams_of_libraries_are_true() {
    let program = Program::run("libraries_truth");
    let roots = roots(&program);
    let leaf = |name: &str| {
        let leaves = leaves(&roots[name]);
        assert_eq!(leaves.len(), 1, "leaves of {name}");
        leaves[0]
    };
    let channel = |name: &str| match leaf(name) {
        WaitsFor::Channel { channel, address: Some(address) } => (*channel, *address),
        other => panic!("no channel: {other:?}"),
    };
    let object = |name: &str| match leaf(name) {
        WaitsFor::Object { object, .. } => *object,
        other => panic!("no object: {other:?}"),
    };

    let (kind, shared) = channel("receives");
    assert_eq!((kind, channel("receives_stream")), ("async-channel", (kind, shared)));
    assert_eq!(channel("sends").0, "room in async-channel");
    assert_ne!(channel("sends").1, shared);
    let (kind, shared) = channel("flume_receives");
    assert_eq!((kind, channel("flume_receives_owned")), ("flume", (kind, shared)));
    assert_eq!(channel("flume_stream"), (kind, shared));
    assert_eq!(channel("signalled"), (kind, shared));
    assert_eq!(channel("flume_sends").0, "room in flume");

    assert!(matches!(leaf("serves_waits"), WaitsFor::Timer { .. }));
    assert_eq!(channel("serves_body").0, "async-channel");
    assert_eq!(channel("serves_late").0, "async-channel");
    assert_eq!(object("serves_room"), "room or reset on h2 connection");
    assert_eq!(object("serves_reads"), "body on h2 connection");
    assert_eq!(object("waits"), "message on h2 connection");
    assert_eq!(object("reads_data"), "message on h2 connection");
    assert_eq!(*leaf("reads_slowly"), WaitsFor::Forever);
    assert_eq!(object("uploads"), "room or reset on h2 connection");
    assert_eq!(channel("asks_hyper").0, "oneshot");
}
