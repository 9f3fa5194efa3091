//! `dyntrace convert --to parquet`, read back.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;

use crate::writer::{Arg, START, Writer, entry, fired, returned};
use crate::{made, storm, tasks};

type Rows = Vec<BTreeMap<String, Field>>;

/// The rows of a table, without nulls.
fn rows(folder: &Path, table: &str) -> Rows {
    let file = File::open(folder.join(table)).unwrap();
    let reader = SerializedFileReader::new(file).unwrap();
    let columns = |row: parquet::record::Row| {
        let columns = row.get_column_iter().filter(|(_, field)| **field != Field::Null);
        columns.map(|(name, field)| (name.clone(), field.clone())).collect()
    };
    reader.get_row_iter(None).unwrap().map(|row| columns(row.unwrap())).collect()
}

pub fn converted(traces: &[&Path]) -> (Rows, Rows) {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("new/tables");
    made("convert", traces, &["--to", "parquet"], &output, 0);
    (rows(&output, "events.parquet"), rows(&output, "operations.parquet"))
}

fn text(text: &str) -> Option<Field> {
    Some(Field::Str(text.to_owned()))
}

fn long(number: u64) -> Option<Field> {
    Some(Field::Long(number as i64))
}

#[test]
fn every_operation_has_its_row() {
    let folder = tempfile::tempdir().unwrap();
    storm::write(folder.path(), 1_000, 40);
    let (events, operations) = converted(&[folder.path()]);
    assert_eq!((events.len(), operations.len()), (6 * 1_000 + 2 + 18, 1_001));
    let rows: BTreeMap<_, _> = operations.iter().map(|row| (row["tag"].to_string(), row)).collect();
    for done in storm::operations(1_000, 40) {
        let row = |column: &str| rows[&done.tag.to_string()].get(column).cloned();
        let at = |time| long(START as u64 + time);
        assert_eq!(row("user_tag"), text(&String::from_utf8_lossy(done.user_tag)));
        assert_eq!(row("command_name"), text(if done.command == 12 { "RENAME" } else { "WRITE_FILE" }));
        let moved = if done.errno == 0 { storm::MOVED as u64 } else { 0 };
        assert_eq!(row("bytes"), (done.command == 66).then_some(Field::ULong(moved)));
        assert_eq!(row("driver"), text("dyntrace:efile_drv"));
        assert_eq!((row("hostname"), row("program"), row("pid")), (text("h"), text("shop"), Some(Field::ULong(12))));
        assert_eq!((row("entry_ns"), row("int_entry_ns")), (at(done.entered), at(done.int_entry)));
        assert_eq!((row("int_return_ns"), row("return_ns")), (at(done.int_return), at(done.returned)));
        assert_eq!((row("add_ns"), row("get_ns")), (at(done.entered + 100), at(done.int_entry - 100)));
        assert_eq!(row("queue_wait_ns"), long(done.int_entry - done.entered));
        assert_eq!(row("service_ns"), long(done.int_return - done.int_entry));
        assert_eq!(row("delivery_ns"), long(done.returned - done.int_return));
        assert_eq!((row("success"), row("errno")), (Some(Field::Bool(done.errno == 0)), long(done.errno as u64)));
        assert_eq!(row("errno_name"), (done.errno != 0).then(|| Field::Str("ENOENT".to_owned())));
        assert_eq!(row("worker_tid"), Some(Field::ULong(done.worker())));
    }
    let unanswered = rows["1001"];
    assert!(unanswered.contains_key("entry_ns") && !unanswered.contains_key("return_ns"));
}

#[test]
fn fields_of_one_name_share_a_column_unless_their_kinds_differ() {
    let folder = tempfile::tempdir().unwrap();
    let writer = Writer::new(folder.path());
    // `size` of messages is unsigned; every event has a column `tid`, like a field of recorder:thread.
    let message =
        fired("message-send", 5, [Arg::from("<0.1.0>"), "<0.2.0>".into(), Arg::U(8), 1.into(), 2.into(), 3.into()]);
    writer.ring("ring-1", 7, &[entry(1, 1, 1, "a", 12, "/a"), returned(3, 1, 1, "b", 12, 2), message]);
    writer.process(&[fired("recorder:thread", 9, [Arg::U(u64::MAX), "main".into()])]);
    let (events, _) = converted(&[folder.path()]);
    let column = |name: &str| events.iter().map(|row| row.get(name).cloned()).collect::<Vec<_>>();
    let probes = ["dyntrace:efile_drv-entry", "dyntrace:efile_drv-return", "dyntrace:message-send", "recorder:thread"];
    assert_eq!(column("probe"), probes.map(text));
    assert_eq!(column("user_tag"), [text("a"), text("b"), None, None]);
    assert_eq!(column("command_name"), [text("RENAME"), text("RENAME"), None, None]);
    assert_eq!(column("errno_name"), [None, text("ENOENT"), None, None]);
    assert_eq!(column("i3"), [Some(Field::Long(-3)), None, None, None]);
    assert_eq!(column("size"), [None, None, Some(Field::ULong(8)), None]);
    assert_eq!(column("tid"), [7, 7, 7, 0].map(|tid| Some(Field::ULong(tid))));
    assert_eq!(column("_tid"), [None, None, None, Some(Field::ULong(u64::MAX))]);
}

#[test]
fn several_groups_make_one_table() {
    let folder = tempfile::tempdir().unwrap();
    let count = 70_000;
    let events: Vec<_> =
        (0..count).map(|cycles| fired("user_trace-s1", cycles, [format!("event {cycles}").as_str().into()])).collect();
    Writer::new(folder.path()).ring("ring-1", 7, &events);
    let (events, operations) = converted(&[folder.path()]);
    assert_eq!((events.len(), operations.len()), (count as usize, 0));
    assert!(events.iter().zip(0..).all(|(row, at): (_, u64)| row["message"] == Field::Str(format!("event {at}"))));
}

#[test]
fn every_task_has_its_row() {
    let folder = tempfile::tempdir().unwrap();
    tasks::write(&folder.path().join("trace"));
    let output = folder.path().join("tables");
    made("convert", &[&folder.path().join("trace")], &["--to", "parquet"], &output, 0);
    let rows: BTreeMap<_, _> =
        rows(&output, "tasks.parquet").into_iter().map(|row| (row["fun"].to_string(), row)).collect();
    assert_eq!(rows.len(), 5, "{rows:?}");
    let of = |fun: &str, column: &str| rows[&format!("\"{fun}\"")].get(column).cloned();
    let at = |time: u64| long(START as u64 + time);
    let unsigned = |number| Some(Field::ULong(number));
    let bake = |column| of("shop::bake", column);
    assert_eq!((bake("hostname"), bake("program"), bake("pid")), (text("h"), text("shop"), unsigned(12)));
    assert_eq!(
        (bake("proc"), bake("parent"), bake("place")),
        (text("<0.1.0>"), text("<0.9.0>"), text("src/shop.rs:3"))
    );
    assert_eq!((bake("user_tag"), bake("reason")), (text("req-1"), text("normal")));
    assert_eq!((bake("spawn_ns"), bake("first_poll_ns"), bake("exit_ns")), (at(0), at(2_000), at(30_000_700)));
    assert_eq!((bake("polls"), bake("busy_ns")), (unsigned(2), unsigned(1_400)));
    assert_eq!((bake("longest_poll_ns"), bake("longest_poll_at_ns")), (long(900), at(2_000)));
    assert_eq!((of("shop::fry", "reason"), of("shop::fry", "user_tag")), (text("panic: no <oil>"), None));
    // Spawned before the trace; in its first poll at the end; never polled.
    assert_eq!((of("shop::stir", "spawn_ns"), of("shop::stir", "polls")), (None, unsigned(1)));
    let wait = |column| of("shop::wait", column);
    assert_eq!((wait("first_poll_ns"), wait("polls"), wait("exit_ns")), (at(20_005_000), unsigned(0), None));
    assert_eq!((of("shop::<late>", "spawn_ns"), of("shop::<late>", "first_poll_ns")), (at(30_000_800), None));
}
