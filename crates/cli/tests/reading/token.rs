//! One request over processes, messages and file operations: `view --token`, and the same as a flow.

use std::path::Path;

use tempfile::TempDir;

use crate::dyntrace;
use crate::perfetto::Read;
use crate::report::page;
use crate::writer::{Arg, Fired, Writer, entry, fired, returned};

const RENAME: i64 = 12;

/// Sender, receiver and token.
fn send(at: u64, sender: &str, receiver: &str, token: [i64; 3]) -> [Fired; 2] {
    let token = || token.map(Arg::I);
    let queued = [receiver.into(), Arg::U(5), Arg::U(1)].into_iter().chain(token());
    [
        fired("message-send", at, [sender.into(), receiver.into(), Arg::U(5)].into_iter().chain(token())),
        fired("message-queued", at + 1, queued),
    ]
}

fn receive(at: u64, receiver: &str, token: [i64; 3]) -> Fired {
    let fields = [receiver.into(), Arg::U(5), Arg::U(0)].into_iter().chain(token.map(Arg::I));
    fired("message-receive", at, fields)
}

fn operation(at: u64, tag: i64, process: &str, token: [i64; 3]) -> Fired {
    let fields = [Arg::I(1), Arg::I(tag), process.into()].into_iter().chain(token.map(Arg::I));
    fired("seq_trace-operation", at, fields)
}

/// Request 42 goes from A to B, which renames a file for it and sends to C. Request 7, and operations without a request, use the same
/// processes, threads and tags at the same time.
fn trace() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let writer = Writer::new(folder.path().join("shop-12"));
    let a = [&send(100, "A", "B", [42, 0, 1])[..], &send(110, "A", "B", [7, 0, 1]), &send(120, "A", "B", [0, 0, 0])];
    let print = ["C".into(), "req".into(), Arg::I(42), Arg::I(2), Arg::I(3), Arg::I(0)];
    let texts = ["seq_trace".into(), "paid".into(), "".into(), "".into()];
    let b = [
        &[receive(200, "B", [42, 0, 1]), operation(210, 1, "B", [42, 0, 1]), entry(220, 1, 1, "req", RENAME, "/mine")]
            [..],
        &[entry(230, 1, 2, "req", RENAME, "/nobodys")],
        &[operation(240, 3, "B", [7, 0, 1]), entry(250, 1, 3, "req", RENAME, "/other")],
        &[returned(300, 1, 3, "req", RENAME, 0), returned(310, 1, 2, "req", RENAME, 0)],
        &[returned(320, 1, 1, "req", RENAME, 0)],
        &send(330, "B", "C", [42, 1, 2]),
        // The same name is in flight again, without a token.
        &[entry(340, 1, 1, "req", RENAME, "/later"), returned(350, 1, 1, "req", RENAME, 0)],
        &[receive(400, "C", [42, 1, 2]), fired("user_trace-i4s4", 410, print.into_iter().chain(texts))],
    ];
    writer.ring("ring-1", 77, &a.concat());
    writer.ring("ring-2", 78, &b.concat());
    writer.process(&[]);
    folder
}

fn view(trace: &Path, options: &[&str]) -> String {
    let arguments = ["view", trace.to_str().unwrap()].into_iter().chain(options.iter().copied());
    let output = dyntrace(arguments);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_listing_goes_to_the_right_with_each_message() {
    let trace = trace();
    let expected = "\
send:    A label 42 token {0,1} -> B: 5 words
queued:  B label 42 token {0,1}: 5 words, queue len 1
  receive: B label 42 token {0,1}: 5 words, queue len 0
  B efile_drv enter tag={1,1} user tag req | RENAME (12) | args: /mine  , 1 2 (port #Port<0.1>)
  B efile_drv return tag={1,1} user tag req | RENAME (12) | errno 0
  send:    B label 42 token {1,2} -> C: 5 words
  queued:  C label 42 token {1,2}: 5 words, queue len 1
    receive: C label 42 token {1,2}: 5 words, queue len 0
    user_trace i4s4 C user tag req | 42 2 3 0 | seq_trace | paid |  | 
";
    assert_eq!(view(trace.path(), &["--token", "42"]), expected);
    let json = view(trace.path(), &["--token", "42", "--json"]);
    assert_eq!(json.lines().count(), expected.lines().count() + 1, "and which operation is whose:\n{json}");
    assert_eq!(view(trace.path(), &["--token", "42", "--probe", "efile_drv-*"]).lines().count(), 2);
    assert_eq!(view(trace.path(), &["--token", "0"]), "", "there is no token with zeros only");
    let beside = view(trace.path(), &["--token", "7"]);
    assert_eq!((beside.lines().count(), beside.contains("/other")), (4, true), "{beside}");
}

#[test]
fn a_spawned_process_stands_below_its_parent() {
    let folder = tempfile::tempdir().unwrap();
    let writer = Writer::new(folder.path().join("shop-12"));
    // B spawns D, which counts as its second message, and D asks for a file before it sends.
    let events = [
        &send(100, "A", "B", [42, 0, 1])[..],
        &[receive(200, "B", [42, 0, 1]), operation(300, 1, "D", [42, 1, 2])],
        &[entry(310, 1, 1, "", RENAME, "/of-d"), returned(320, 1, 1, "", RENAME, 0)],
        &send(400, "D", "A", [42, 1, 3]),
        &[receive(500, "A", [42, 1, 3])],
        // No recorded message led to this process.
        &send(600, "X", "Y", [42, 9, 10]),
    ];
    writer.ring("ring-1", 77, &events.concat());
    writer.process(&[]);
    let listing = view(folder.path(), &["--token", "42"]);
    let places: Vec<_> = listing.lines().map(|line| line.len() - line.trim_start().len()).collect();
    assert_eq!(places, [0, 0, 2, 4, 4, 4, 4, 6, 0, 0], "{listing}");
}

#[test]
fn messages_over_a_node_that_nobody_recorded_lead_on() {
    let folder = tempfile::tempdir().unwrap();
    let remote = |at, sender: &str, token: [i64; 3]| {
        let fields = [sender.into(), "erl@shop".into(), "box".into(), Arg::U(5)];
        fired("message-send-remote", at, fields.into_iter().chain(token.map(Arg::I)))
    };
    // From A, over an Erlang node, to B in another program, and back. The first message from there goes to C.
    let a = [remote(100, "A", [42, 0, 1]), receive(400, "A", [42, 3, 4])];
    let b = [receive(200, "B", [42, 1, 2]), remote(300, "B", [42, 2, 3])];
    for (name, pid, events) in [("a-12", 77, &a[..]), ("b-13", 78, &b), ("c-14", 79, &[receive(500, "C", [42, 9, 10])])]
    {
        let writer = Writer::new(folder.path().join(name));
        writer.ring("ring-1", pid, events);
        writer.process(&[]);
    }
    let listing = view(folder.path(), &["--token", "42"]);
    let places: Vec<_> = listing.lines().map(|line| line.len() - line.trim_start().len()).collect();
    assert_eq!(places, [0, 4, 4, 8, 2], "{listing}");
}

#[test]
fn a_trace_is_a_flow_in_perfetto() {
    let trace = trace();
    let read = Read::back(&[trace.path()]);
    let flow = |label: u64| 1 << 32 | label;
    let marks = |label| read.instants.iter().filter(|event| event.flows == [flow(label)]).count();
    assert_eq!((marks(42), marks(7), marks(0)), (6, 2, 0));
    let slices = |label| {
        let mine = read.slices.iter().filter(|slice| slice.flows == [flow(label)]);
        mine.map(|slice| slice.annotations["path"].as_str()).collect::<Vec<_>>()
    };
    // On its thread, and on its tag.
    assert_eq!((slices(42), slices(7)), (vec!["/mine"; 2], vec!["/other"; 2]));
}

#[test]
fn a_trace_is_drawn_in_the_report() {
    let trace = trace();
    let page = page(&[trace.path()], 0);
    let row = "<th scope=\"row\">42</th><td>300 ns</td><td>0 ns</td><td>2</td><td>1</td><td>3</td>";
    assert!(page.contains(row), "{page}");
    assert!(page.contains("svg id=\"flow42\"") && page.contains("svg id=\"flow7\""), "{page}");
    assert!(page.contains("message, 100 ns on its way") && page.contains("RENAME, 100 ns"), "{page}");
}
