//! Operations of a driver of one's own, in every command that shows operations.

use std::path::Path;

use dyntrace_build::model::ArgumentKind::{I32, Text, U64};

use crate::perfetto::Read;
use crate::writer::{Arg, Class, Fired, Writer, fired};
use crate::{dyntrace, parquet, report};

/// A trace of two look-ups: `localhost` takes 30 us and moves 16 bytes, `nowhere` takes 2 ms and fails.
fn write(folder: &Path) {
    let mut writer = Writer::new(folder);
    let id = [("thread_id", I32), ("tag", I32)];
    let command = ("command", I32);
    let classes = [
        ("entry", vec![("user_tag", Text), command, ("name", Text), ("port", Text)]),
        ("int_entry", vec![command]),
        ("int_return", vec![command]),
        ("return", vec![("success", I32), ("bytes", U64), ("error", Text)]),
    ];
    writer.classes.extend(classes.into_iter().zip(100..).map(|((step, rest), class)| Class {
        name: format!("net:dns_drv-{step}"),
        stream: 0,
        id: class,
        fields: id.into_iter().chain(rest).map(|(name, kind)| (name.to_owned(), kind)).collect(),
    }));
    writer.write_metadata();
    let step = |step: &str, cycles: u64, tag: i64, rest: Vec<Arg>| -> Fired {
        fired(&format!("dns_drv-{step}"), cycles, [1.into(), tag.into()].into_iter().chain(rest))
    };
    let entry = |cycles, tag, name: &str| {
        step("entry", cycles, tag, vec!["req-1".into(), 2.into(), name.into(), "#Port<0.9>".into()])
    };
    let answer = |cycles, tag, success: i64, bytes, error: &str| {
        step("return", cycles, tag, vec![success.into(), Arg::U(bytes), error.into()])
    };
    writer.ring(
        "ring-7",
        7,
        &[
            entry(1_000, 1, "localhost"),
            entry(2_000, 2, "nowhere"),
            answer(31_000, 1, 1, 16, ""),
            answer(2_002_000, 2, 0, 0, "no such <host>"),
        ],
    );
    writer.ring(
        "ring-8",
        8,
        &[step("int_entry", 11_000, 1, vec![2.into()]), step("int_return", 21_000, 1, vec![2.into()])],
    );
}

#[test]
fn report_has_them() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path());
    let page = report::page(&[folder.path()], 0);
    assert_eq!(report::row(&page, "dns_drv 2")[..4], ["dns_drv 2", "2", "16 B", "1"]);
    for part in ["localhost", "no such &lt;host&gt;", "req-1"] {
        assert!(page.contains(part), "{part}");
    }
}

#[test]
fn tables_have_them() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path());
    let (_, operations) = parquet::converted(&[folder.path()]);
    assert_eq!(operations.len(), 2);
    let columns =
        ["driver", "command_name", "path", "bytes", "queue_wait_ns", "service_ns", "duration_ns", "success", "error"];
    let shown = |row: usize| columns.map(|column| operations[row].get(column).map(ToString::to_string));
    let expected = |values: [&str; 9]| values.map(|value| Some(value.to_owned()).filter(|value| !value.is_empty()));
    let [driver, name] = ["\"net:dns_drv\"", "\"dns_drv 2\""];
    assert_eq!(shown(0), expected([driver, name, "\"localhost\"", "16", "10000", "10000", "30000", "true", ""]));
    assert_eq!(
        shown(1),
        expected([driver, name, "\"nowhere\"", "0", "", "", "2000000", "false", "\"no such <host>\""])
    );
}

#[test]
fn perfetto_has_them() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path());
    let read = Read::back(&[folder.path()]);
    // Two for each operation: on its thread and its tag; and the job.
    assert_eq!(read.slices.iter().filter(|slice| slice.name == "dns_drv 2").count(), 5);
    assert!(read.instants.is_empty());
    let failed = read.slices.iter().find(|slice| slice.annotations.get("path").is_some_and(|path| path == "nowhere"));
    assert_eq!(failed.unwrap().annotations["error"], "no such <host>");
}

#[test]
fn slow_ones_are_found() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path());
    let lines = |least: &str| {
        let output = dyntrace(["view", folder.path().to_str().unwrap(), "--min-duration", least]);
        String::from_utf8(output.stdout).unwrap().lines().count()
    };
    assert_eq!(["1us", "1ms", "1s"].map(lines), [6, 2, 0]);
}
