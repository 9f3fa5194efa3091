//! `dyntrace report`.

use std::fs;
use std::path::Path;

use crate::storm;
use crate::writer::{Arg, SUB_BUFFER, Writer, entry, fired, returned};
use crate::{dyntrace, made};

/// The page of the traces.
pub fn page(traces: &[&Path], status: i32) -> String {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("report.html");
    made("report", traces, &[], &output, status);
    fs::read_to_string(output).unwrap()
}

/// The text between tags in the row that begins with `name`, with one blank between cells.
pub fn row(page: &str, name: &str) -> Vec<String> {
    let start = page.find(&format!("<th scope=\"row\">{name}</th>")).unwrap_or_else(|| panic!("no row {name}"));
    let row = &page[start..start + page[start..].find("</tr>").unwrap()];
    row.split('<')
        .filter_map(|part| part.split_once('>'))
        .map(|(_, text)| text.to_owned())
        .filter(|text| !text.is_empty())
        .collect()
}

#[test]
fn figures_are_those_of_the_operations() {
    let folder = tempfile::tempdir().unwrap();
    storm::write(folder.path(), 1_000, 3);
    let page = page(&[folder.path()], 0);
    assert_eq!(row(&page, "WRITE_FILE")[..4], ["WRITE_FILE", "500", "439.45 KiB", "0"]);
    assert_eq!(row(&page, "RENAME")[..3], ["RENAME", "500", "100"]);
    assert_eq!(row(&page, "req-1")[..2], ["req-1", "250"]);
    let mut waits: Vec<_> = storm::operations(1_000, 3).map(|done| done.int_entry - done.entered).collect();
    waits.sort();
    let longest = storm::operations(1_000, 3).map(|done| done.returned - done.entered).max().unwrap();
    assert!(page.contains(&format!("<td>{:.0} µs</td>", longest as f64 / 1_000.0)), "{longest}");
    for part in [
        "svg id=\"latency\"",
        "svg id=\"queue\"",
        "class=\"heat6\"",
        "class=\"longest\"",
        "Nothing was lost",
        "In flight when the trace ended: 1.",
    ] {
        assert!(page.contains(part), "{part}");
    }
    // The percentiles in the tables are exact within one percent.
    let shown = |value: u64| format!("{:.2}", value as f64 / 1_000.0);
    let median = waits[waits.len() / 2];
    let figures = row(&page, "WRITE_FILE").join(" ");
    assert!((median * 98 / 100..median * 102 / 100).any(|value| figures.contains(&shown(value))), "{median} {figures}");
}

#[test]
fn names_are_shown_and_never_taken_for_markup() {
    let folder = tempfile::tempdir().unwrap();
    storm::write(folder.path(), 40, 3);
    let page = page(&[folder.path()], 0);
    assert!(page.contains("&lt;script&gt;alert('tag')&lt;/script&gt;"));
    assert!(page.contains("/&lt;b&gt;&amp;&quot;quoted&quot;&lt;/b&gt;"));
    assert!(page.contains(r"no\xffutf8"));
    for never in ["<script", "<b>&", "http:", "https:", "src="] {
        assert!(!page.contains(never), "{never}");
    }
}

#[test]
fn the_page_is_as_long_for_a_hundred_times_the_operations() {
    let [few, many] = [300, 30_000].map(|count| {
        let folder = tempfile::tempdir().unwrap();
        storm::write(folder.path(), count, 3);
        page(&[folder.path()], 0).len()
    });
    assert!(many < few * 3, "{few} {many}");
}

#[test]
fn more_tags_than_rows_are_counted_with_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let tags: Vec<_> =
        (0..1_000).map(|tag| if tag % 2 == 0 { "often".to_owned() } else { format!("once-{tag}") }).collect();
    let events = (1..).zip(&tags).flat_map(|(tag, name)| {
        let cycles = tag as u64 * 100;
        [entry(cycles, 1, tag, name, 12, "/a"), returned(cycles + 50, 1, tag, name, 12, 0)]
    });
    Writer::new(folder.path()).ring("ring-1", 7, &events.collect::<Vec<_>>());
    let page = page(&[folder.path()], 0);
    assert_eq!(row(&page, "often")[..3], ["often", "500", "0"]);
    let others: u64 = row(&page, "<i>others</i>")[1].parse().unwrap();
    assert_eq!(others + page.matches("<th scope=\"row\">once-").count() as u64, 500);
    assert!(page.matches("<th scope=\"row\">once-").count() < 256);
}

#[test]
fn losses_are_told_on_the_page_and_by_the_status() {
    let folder = tempfile::tempdir().unwrap();
    let writer = Writer::new(folder.path());
    let ring = writer.packet(0, 7, 1, 5, SUB_BUFFER, &writer.event(&returned(1, 1, 1, "", 1, 0)));
    writer.write("ring-1", &ring);
    let lossy = page(&[folder.path()], 3);
    assert!(lossy.contains("5 events were lost") && lossy.contains("ring-1"));
    writer.write("ring-2", &[&ring[..], b"no packet"].concat());
    assert!(page(&[folder.path()], 4).contains("ring-2 at byte 32768"));
}

#[test]
fn no_events_no_trace() {
    let folder = tempfile::tempdir().unwrap();
    let output = dyntrace(["report".as_ref(), folder.path().as_os_str(), "-o".as_ref(), "report.html".as_ref()]);
    assert_eq!(output.status.code(), Some(66), "{output:?}");
    Writer::new(folder.path());
    assert!(page(&[folder.path()], 0).contains("The trace has no events."));
}

#[test]
fn absurd_values_end_no_command() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("trace");
    let queue = |cycles, length| fired("aio_pool-get", cycles, ["".into(), Arg::I(length), Arg::I(1)]);
    let past = u64::MAX / 2 - 10;
    let events = [
        queue(1, i32::MIN.into()),
        entry(past, i32::MIN.into(), i32::MAX.into(), "", -5, ""),
        queue(past + 1, i32::MAX.into()),
        fired("efile_drv-int_entry", 7, [Arg::I(i32::MIN.into()), Arg::I(i32::MAX.into()), Arg::I(-5)]),
        returned(9, i32::MIN.into(), i32::MAX.into(), "", -5, -1),
    ];
    Writer::new(&trace).ring("ring-1", 7, &events);
    // Time that goes back is damage: 4.
    assert!(page(&[&trace], 4).contains("command -5"));
    made("convert", &[&trace], &["--to", "perfetto"], &folder.path().join("perfetto"), 4);
    made("convert", &[&trace], &["--to", "parquet"], &folder.path().join("parquet"), 4);
}
