//! Events are joined into operations.

mod common;

use std::collections::BTreeMap;
use std::path::Path;

use common::{Arg, Fired, START, Writer, fired};
use dyntrace_reader::{FileOperation, FileOperations, MAX_IN_FLIGHT, OperationId, QueueStep, Trace};

const RENAME: i64 = 12;
const OPEN: i64 = 1;
const READ: i64 = 2;
const CLOSE: i64 = 23;

fn entry(cycles: u64, id: [i64; 2], command: i64, path: &str, port: &str) -> Fired {
    let strings = [path, "", port].map(Arg::from);
    let [s1, s2, port] = strings;
    let numbers = [3, 0, 4096, 0].map(Arg::from);
    let before = [id[0].into(), id[1].into(), "req-1".into(), command.into(), s1, s2];
    fired("efile_drv-entry", cycles, before.into_iter().chain(numbers).chain([port]))
}

fn int(name: &str, cycles: u64, id: [i64; 2]) -> Fired {
    fired(name, cycles, [id[0].into(), id[1].into(), RENAME.into()])
}

fn queue(name: &str, cycles: u64, port: &str, length: i64) -> Fired {
    let lane = (name == "aio_pool-get").then_some(1.into());
    fired(name, cycles, [port.into(), length.into()].into_iter().chain(lane))
}

fn answer(cycles: u64, id: [i64; 2], errno: i64) -> Fired {
    common::returned(cycles, id[0], id[1], "req-1", RENAME, errno)
}

/// Writes the trace of a process from events with the threads that fired them.
fn write(folder: &Path, events: impl IntoIterator<Item = (u64, Fired)>) {
    let mut rings = BTreeMap::<u64, Vec<Fired>>::new();
    events.into_iter().for_each(|(tid, event)| rings.entry(tid).or_default().push(event));
    let writer = Writer::new(folder);
    rings.iter().for_each(|(tid, events)| writer.ring(&format!("ring-{tid}"), *tid, events));
}

/// Joins the events. Returns the completed operations, and the joiner at the end of the trace.
fn join(trace: &Trace) -> (Vec<FileOperation<'_>>, FileOperations<'_>) {
    let mut operations = FileOperations::default();
    let ended = trace.events().filter_map(|event| operations.push(&event)).collect();
    (ended, operations)
}

#[test]
fn an_operation_has_all_its_stages() {
    let folder = tempfile::tempdir().expect("a folder");
    write(
        folder.path(),
        [
            (7, entry(100, [1, 5], RENAME, "/a", "#Port<0.1>")),
            (7, queue("aio_pool-add", 110, "#Port<0.1>", 3)),
            (8, queue("aio_pool-get", 150, "#Port<0.1>", 2)),
            (8, int("efile_drv-int_entry", 160, [1, 5])),
            (8, int("efile_drv-int_return", 200, [1, 5])),
            (9, answer(230, [1, 5], 2)),
        ],
    );
    let trace = Trace::open(folder.path()).expect("a trace");
    let (ended, operations) = join(&trace);
    let [operation] = &ended[..] else { panic!("{ended:?}") };
    assert_eq!(operation.id, OperationId { thread: 1, tag: 5 });
    assert_eq!(
        (&*operation.path, operation.request.user_tag, operation.request.integers),
        (&b"/a"[..], &b"req-1"[..], [3, 0, 4096, 0])
    );
    assert_eq!(operation.added, Some(QueueStep { time: START + 110, length: 3 }));
    assert_eq!(operation.taken, Some(QueueStep { time: START + 150, length: 2 }));
    assert_eq!((operation.submitter, operation.worker), (7, Some(8)));
    let answer = operation.completion.expect("an answer");
    assert_eq!((answer.tid, answer.success, answer.errno), (9, false, 2));
    let times = [operation.queue_wait(), operation.service(), operation.delivery(), operation.duration()];
    assert_eq!(times, [60, 40, 30, 130].map(Some));
    assert_eq!((operations.in_flight().count(), operations.given_up(), operations.unmatched()), (0, 0, 0));
}

#[test]
fn an_attempt_of_the_submitter_in_vain_is_no_start() {
    let folder = tempfile::tempdir().expect("a folder");
    write(
        folder.path(),
        [
            (7, entry(100, [1, 1], READ, "/a", "#Port<0.1>")),
            (7, int("efile_drv-int_entry", 105, [1, 1])),
            (7, queue("aio_pool-add", 110, "#Port<0.1>", 1)),
            (8, queue("aio_pool-get", 130, "#Port<0.1>", 0)),
            (8, int("efile_drv-int_entry", 140, [1, 1])),
            (8, int("efile_drv-int_return", 170, [1, 1])),
            (7, answer(180, [1, 1], 0)),
            (7, entry(200, [1, 2], READ, "/a", "#Port<0.1>")),
            (7, int("efile_drv-int_entry", 205, [1, 2])),
            (7, queue("aio_pool-add", 210, "#Port<0.1>", 1)),
            (7, answer(220, [1, 2], 125)),
            (7, entry(300, [1, 3], READ, "/a", "#Port<0.1>")),
            (7, int("efile_drv-int_entry", 305, [1, 3])),
            (7, int("efile_drv-int_return", 308, [1, 3])),
            (7, answer(310, [1, 3], 0)),
        ],
    );
    let trace = Trace::open(folder.path()).expect("a trace");
    let (ended, _) = join(&trace);
    let times: Vec<_> = ended.iter().map(|one| (one.worker, one.queue_wait(), one.service())).collect();
    assert_eq!(times, [(Some(8), Some(40), Some(30)), (None, None, None), (Some(7), Some(5), Some(3))]);
    assert_eq!(ended[0].added, Some(QueueStep { time: START + 110, length: 1 }));
}

#[test]
fn the_pools_events_belong_to_neighbours_only() {
    let folder = tempfile::tempdir().expect("a folder");
    write(
        folder.path(),
        [
            (7, entry(100, [1, 1], RENAME, "/a", "#Port<0.1>")),
            (7, queue("aio_pool-add", 110, "#Port<0.2>", 9)),
            (7, queue("aio_pool-add", 120, "#Port<0.1>", 9)),
            (8, queue("aio_pool-get", 130, "#Port<0.1>", 9)),
            (8, answer(140, [9, 9], 0)),
            (8, int("efile_drv-int_entry", 150, [1, 1])),
            (7, answer(160, [1, 1], 0)),
        ],
    );
    let trace = Trace::open(folder.path()).expect("a trace");
    let (ended, operations) = join(&trace);
    assert_eq!((ended[0].added, ended[0].taken, ended[0].service(), ended[0].delivery()), (None, None, None, None));
    assert_eq!((ended[0].queue_wait(), operations.unmatched()), (Some(50), 1));
}

#[test]
fn operations_on_a_port_have_the_path_that_was_opened() {
    let folder = tempfile::tempdir().expect("a folder");
    let one = |tag, command, path, port| {
        let cycles = tag as u64 * 10;
        let stages = [entry(cycles, [1, tag], command, path, port), answer(cycles + 5, [1, tag], 0)];
        stages.map(|event| (7, event))
    };
    write(
        folder.path(),
        [
            one(1, OPEN, "/a", "#Port<0.2>"),
            one(2, OPEN, "/b", "#Port<0.3>"),
            one(3, READ, "", "#Port<0.2>"),
            one(4, READ, "", "#Port<0.3>"),
            one(5, READ, "", "#Port<0.4>"),
            one(6, CLOSE, "", "#Port<0.2>"),
            one(7, READ, "", "#Port<0.2>"),
        ]
        .into_iter()
        .flatten(),
    );
    let trace = Trace::open(folder.path()).expect("a trace");
    let (ended, _) = join(&trace);
    let paths: Vec<_> = ended.iter().map(|operation| String::from_utf8_lossy(&operation.path)).collect();
    assert_eq!(paths, ["/a", "/b", "/a", "/b", "", "/a", ""]);
}

#[test]
fn processes_have_operations_of_their_own() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["a", "b"] {
        write(&folder.path().join(name), [(7, entry(100, [1, 1], RENAME, name, "")), (7, answer(200, [1, 1], 0))]);
    }
    let trace = Trace::open(folder.path()).expect("a trace");
    let (ended, operations) = join(&trace);
    let mut paths: Vec<_> = ended.iter().map(|operation| (&*operation.path, operation.duration())).collect();
    paths.sort();
    assert_eq!(paths, [(&b"a"[..], Some(100)), (b"b", Some(100))]);
    assert_eq!(operations.given_up(), 0);
}

#[test]
fn operations_without_a_return_are_in_flight() {
    let folder = tempfile::tempdir().expect("a folder");
    write(
        folder.path(),
        [
            (7, int("efile_drv-int_entry", 50, [1, 9])),
            (7, entry(100, [1, 1], RENAME, "/again", "")),
            (7, entry(200, [1, 2], RENAME, "/in flight", "")),
            (7, entry(300, [1, 1], RENAME, "/answered", "")),
            (7, answer(400, [1, 1], 0)),
        ],
    );
    let trace = Trace::open(folder.path()).expect("a trace");
    let (ended, operations) = join(&trace);
    assert_eq!(ended.iter().map(|operation| operation.path).collect::<Vec<_>>(), [b"/answered"]);
    let left: Vec<_> = operations.in_flight().map(|operation| (&*operation.path, operation.duration())).collect();
    assert_eq!(left, [(&b"/in flight"[..], None)]);
    assert_eq!((operations.given_up(), operations.unmatched()), (1, 1));
}

#[test]
fn only_so_many_are_remembered() {
    let folder = tempfile::tempdir().expect("a folder");
    let more = 10;
    let tags = 1..=(MAX_IN_FLIGHT + more) as i64;
    write(folder.path(), tags.map(|tag| (7, entry(tag as u64, [1, tag], OPEN, "/a", &format!("#Port<0.{tag}>")))));
    let trace = Trace::open(folder.path()).expect("a trace");
    let (_, operations) = join(&trace);
    assert_eq!((operations.in_flight().count(), operations.given_up()), (MAX_IN_FLIGHT, more as u64));
    assert_eq!(operations.in_flight().next().map(|operation| operation.id.tag), Some(more as i32 + 1));
}

#[test]
fn absurd_clocks_make_absurd_times_and_no_more() {
    let folder = tempfile::tempdir().expect("a folder");
    // The first time overflows, to long before 1970.
    let (past, late) = (8_000_000_000_000_000_000, 7_000_000_000_000_000_000);
    write(folder.path(), [(7, entry(past, [1, 1], RENAME, "/a", "")), (7, answer(late, [1, 1], 0))]);
    let trace = Trace::open(folder.path()).expect("a trace");
    assert_eq!(join(&trace).0.first().and_then(FileOperation::duration), Some(i64::MAX));
}

/// The trace of `tests/golden` was recorded before `efile_drv-return` had the bytes.
#[test]
fn an_old_trace_says_nothing_of_bytes() {
    let trace = Trace::open(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")).expect("a trace");
    let (ended, _) = join(&trace);
    assert!(!ended.is_empty());
    for operation in ended {
        assert!(operation.is_of_file_driver());
        assert_eq!(operation.completion.expect("an answer").bytes, None);
    }
}

/// Classes of a provider with two drivers, and with probes that are no steps.
fn own_classes() -> Vec<common::Class> {
    use dyntrace_build::model::ArgumentKind::{I32, Text, U64};
    let id = [("thread_id", I32), ("tag", I32)];
    let with = |rest: &[(&'static str, _)]| id.into_iter().chain(rest.iter().copied()).collect::<Vec<_>>();
    let command = ("command", I32);
    let classes = [
        ("shop:dns_drv-entry", with(&[("user_tag", Text), command, ("name", Text), ("port", Text)])),
        ("shop:dns_drv-int_entry", with(&[command])),
        ("shop:dns_drv-int_return", with(&[command])),
        ("shop:dns_drv-return", with(&[("user_tag", Text), command, ("success", I32), ("error", Text)])),
        ("shop:query-entry", with(&[("rows", I32)])),
        ("shop:query-return", with(&[("bytes", U64)])),
        ("shop:order-entry", vec![("customer", Text), ("tag", I32)]),
        ("shop:order-placed", with(&[])),
    ];
    let own = classes.into_iter().zip(100..).map(|((name, fields), id)| common::Class {
        name: name.to_owned(),
        stream: 0,
        id,
        fields: fields.into_iter().map(|(name, kind)| (name.to_owned(), kind)).collect(),
    });
    common::classes().into_iter().chain(own).collect()
}

#[test]
fn operations_of_other_drivers_are_joined_by_their_names() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut writer = Writer::new(folder.path());
    writer.classes = own_classes();
    writer.write_metadata();
    let id = || [1.into(), 5.into()].into_iter();
    let dns = |name, cycles| fired(name, cycles, id().chain([2.into()]));
    let asked = id().chain(["req-1".into(), 2.into(), "localhost".into(), "#Port<0.3>".into()]);
    let answered = id().chain(["req-1".into(), 2.into(), 0.into(), "no such host".into()]);
    writer.ring(
        "ring-7",
        7,
        &[
            fired("dns_drv-entry", 100, asked),
            fired("aio_pool-add", 110, ["#Port<0.3>".into(), 3.into()]),
            // The same id, of the file driver and of another one.
            entry(120, [1, 5], RENAME, "/a", "#Port<0.1>"),
            fired("query-entry", 130, id().chain([8.into()])),
            fired("order-entry", 140, ["a".into(), 5.into()]),
            fired("order-placed", 150, id()),
            answer(160, [1, 5], 0),
            fired("query-return", 170, id().chain([Arg::U(4096)])),
            fired("dns_drv-return", 180, answered),
        ],
    );
    writer.ring(
        "ring-8",
        8,
        &[
            fired("aio_pool-get", 112, ["#Port<0.3>".into(), 2.into(), 1.into()]),
            dns("dns_drv-int_entry", 114),
            dns("dns_drv-int_return", 118),
        ],
    );
    let trace = Trace::open(folder.path()).expect("a trace");
    let (ended, operations) = join(&trace);
    let drivers: Vec<_> = ended.iter().map(|operation| (operation.driver, operation.duration())).collect();
    assert_eq!(drivers, [("dyntrace:efile_drv", Some(40)), ("shop:query", Some(40)), ("shop:dns_drv", Some(80))]);
    assert_eq!((operations.in_flight().count(), operations.given_up(), operations.unmatched()), (0, 0, 0));

    let [_, query, dns] = &ended[..] else { panic!("{ended:?}") };
    let completion = query.completion.expect("an answer");
    assert_eq!((completion.success, completion.bytes, query.request.integers[0]), (true, Some(4096), 8));
    assert_eq!((dns.request.user_tag, dns.request.command, &*dns.path), (&b"req-1"[..], 2, &b"localhost"[..]));
    assert_eq!(
        (dns.added, dns.taken),
        (Some(QueueStep { time: START + 110, length: 3 }), Some(QueueStep { time: START + 112, length: 2 }),)
    );
    assert_eq!((dns.worker, dns.queue_wait(), dns.service(), dns.delivery()), (Some(8), Some(14), Some(4), Some(62)));
    let completion = dns.completion.expect("an answer");
    assert_eq!((completion.success, completion.bytes, dns.error), (false, None, &b"no such host"[..]));
}
