//! `dyntrace diff`, on traces whose times are known.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

use crate::storm;
use crate::writer::{Arg, Fired, SUB_BUFFER, Writer, entry, fired, returned};

const DELETE: i64 = 11;
const RENAME: i64 = 12;
const READ_FILE: i64 = 15;
const WRITE_FILE: i64 = 66;

/// The events of a program, whose operations follow one another.
#[derive(Default)]
struct Program {
    events: Vec<Fired>,
    now: u64,
    operations: i64,
}

impl Program {
    fn operation(&mut self, user_tag: &str, command: i64, path: &str, errno: i64, [wait, service]: [u64; 2]) {
        self.operations += 1;
        let (tag, start) = (self.operations, self.now);
        let work = |name, at| fired(name, at, [1.into(), tag.into(), command.into()]);
        self.events.extend([
            entry(start, 1, tag, user_tag, command, path),
            work("efile_drv-int_entry", start + wait),
            work("efile_drv-int_return", start + wait + service),
            returned(start + wait + service + 500, 1, tag, user_tag, command, errno),
        ]);
        self.now = start + wait + service + 1_000;
    }

    fn call(&mut self, function: &str, kind: &str, took: u64) {
        let of = |rest: &[Arg]| [&["<0.1.0>".into(), function.into()], rest].concat();
        let empty = || Arg::from("");
        self.events.extend([
            fired("function-entry", self.now, of(&[empty(), empty(), empty()])),
            fired(
                "function-return",
                self.now + took,
                of(&[empty(), empty(), kind.into(), Arg::U(took), Arg::U(took / 2)]),
            ),
            fired(
                "function-return",
                self.now + took,
                of(&[empty(), empty(), "return_to".into(), Arg::U(took), Arg::U(took)]),
            ),
        ]);
        self.now += took;
    }

    fn write(self, folder: &Path) {
        Writer::new(folder.join("shop-12")).ring("ring-1", 7, &self.events);
    }
}

/// Two traces, `a` and `b`: reads take longer in `b`, and some writes fail.
pub fn traces() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, reads, factor, failed) in [("a", 400, 1, 0), ("b", 500, 3, 20)] {
        let mut program = Program::default();
        for number in 0..reads {
            let (tag, path) = (format!("req-{number}"), format!("/srv/{}/data", number % 3));
            program.operation(&tag, READ_FILE, &path, 0, [2_000 + number * 5, (10_000 + number * 10) * factor]);
        }
        for number in 0..50 {
            let errno = if number < failed { 28 } else { 0 };
            program.operation("sync", WRITE_FILE, "/srv/log", errno, [3_000, 40_000 + number * 100]);
        }
        for number in 0..40 {
            program.call("shop::price/2", if number < failed / 10 { "error" } else { "return" }, 1_000 + number * 10);
        }
        if name == "a" {
            program.operation("", RENAME, "/srv/old\u{1b}[2J", 2, [1_000, 1_000]);
            program.call("shop::audit/0", "return", 5_000);
        } else {
            program.operation("<b>cleanup", DELETE, "/srv/new", 0, [1_000, 1_000]);
            program.call("shop::refund/1", "panic", 7_000);
        }
        program.write(&folder.path().join(name));
    }
    folder
}

fn diff(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dyntrace")).arg("diff").args(arguments).current_dir(folder).output().unwrap()
}

/// Exit status, standard output and standard error.
fn ran(folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = diff(folder, arguments);
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn json(folder: &Path, arguments: &[&str]) -> Value {
    let (_, out, _) = ran(folder, &[arguments, &["--json"]].concat());
    serde_json::from_str(&out).unwrap()
}

/// The group in JSON.
fn group<'j>(json: &'j Value, by: &str, name: &str) -> &'j Value {
    let mut groups = json["groups"].as_array().unwrap().iter();
    groups
        .find(|group| group["by"] == by && group["name"] == name)
        .unwrap_or_else(|| panic!("no {by} {name}: {json:#}"))
}

#[test]
fn tables_with_the_greatest_difference_first() {
    let traces = traces();
    let (status, out, err) = ran(traces.path(), &["a", "b"]);
    assert_eq!((status, err.as_str()), (Some(0), ""));
    assert_eq!(out, include_str!("golden/diff.txt"), "{out}");
}

#[test]
fn the_chapter_shows_these_tables() {
    let chapter = include_str!("../../../../docs/what_changed.md");
    let (_, shown) = chapter.split_once("$ dyntrace diff a b\n").unwrap();
    let (shown, _) = shown.split_once("...\n").unwrap();
    assert!(include_str!("golden/diff.txt").starts_with(shown), "{shown}");
}

#[test]
fn objects_with_counts_percentiles_and_intervals() {
    let traces = traces();
    let json = json(traces.path(), &["a", "b"]);
    assert_eq!(json["version"], 1);
    assert_eq!((&json["a"]["trace"], &json["a"]["lost_events"]), (&"a".into(), &0.into()));
    assert_eq!((&json["all"]["a"]["count"], &json["all"]["b"]["count"]), (&451.into(), &551.into()));
    let reads = group(&json, "command", "READ_FILE");
    assert_eq!(
        (&reads["state"], &reads["a"]["count"], &reads["b"]["count"]),
        (&"both".into(), &400.into(), &500.into())
    );
    // The median of 10,000 to 13,990 ns, and the places 180 and 221 of 400, within 1 %.
    let service = &reads["a"]["service_ns"]["p50"];
    let near = |value: &Value, exact: f64| (value.as_f64().unwrap() - exact).abs() <= exact / 100.0;
    assert!(
        near(&service["value"], 11_990.0) && near(&service["low"], 11_790.0) && near(&service["high"], 12_200.0),
        "{service}"
    );
    assert_eq!((&reads["a"]["service_ns"]["mean"], &reads["a"]["service_ns"]["max"]), (&11_995.into(), &13_990.into()));
    assert!(reads["a"]["service_ns"]["p99.9"]["high"].is_null(), "400 times do not bound it");
    let changed: Vec<_> = reads["changes"].as_array().unwrap().iter().map(|change| &change["figure"]).collect();
    assert!(changed.contains(&&"p99(service)".into()) && !changed.contains(&&"p50(delivery)".into()), "{changed:?}");
    let writes = group(&json, "command", "WRITE_FILE");
    assert_eq!((&writes["b"]["errors"], &writes["changes"][0]["figure"]), (&20.into(), &"errors".into()));
    assert_eq!(writes["changes"].as_array().unwrap().len(), 1);
    assert_eq!(group(&json, "command", "RENAME")["state"], "gone");
    assert_eq!(group(&json, "command", "DELETE")["state"], "new");
    assert_eq!(group(&json, "tag", "req-*")["b"]["count"], 500);
    assert_eq!(group(&json, "resource", "/srv/*/data")["a"]["count"], 400);
    let price = group(&json, "function", "shop::price/2");
    assert_eq!((&price["a"]["count"], &price["b"]["errors"]), (&40.into(), &2.into()));
    assert_eq!((&price["a"]["total_ns"]["max"], &price["a"]["service_ns"]["max"]), (&1_390.into(), &695.into()));
    assert!(price["a"].get("queue_wait_ns").is_none());
}

#[test]
fn the_book_names_every_field_of_the_objects() {
    fn check(value: &Value, book: &str) {
        match value {
            Value::Array(list) => list.iter().for_each(|value| check(value, book)),
            Value::Object(fields) => fields.iter().for_each(|(name, value)| {
                assert!(book.contains(name), "{name}");
                check(value, book);
            }),
            _ => {}
        }
    }
    let traces = traces();
    let book = include_str!("../../../../docs/formats.md");
    let (_, diff) = book.split_once("## dyntrace diff --json").unwrap();
    let (diff, _) = diff.split_once("\n## ").unwrap();
    check(&json(traces.path(), &["a", "b", "--fail-if", "count > 1x"]), diff);
}

#[test]
fn a_trace_does_not_differ_from_itself() {
    let traces = traces();
    let json = json(traces.path(), &["a", "a", "--fail-if", "count != 1x of command", "--fail-if", "p50(total) > 1x"]);
    for group in json["groups"].as_array().unwrap() {
        assert_eq!((&group["state"], &group["changes"]), (&"both".into(), &Value::Array(Vec::new())), "{group}");
        assert_eq!(group["a"], group["b"]);
    }
    assert!(json["conditions"].as_array().unwrap().iter().all(|condition| condition["verdict"] == "not met"));
}

#[test]
fn conditions_decide_the_exit_status() {
    let traces = traces();
    for (conditions, status, said) in [
        (
            &["p99(service) > 1.2x of command READ_FILE"][..],
            1,
            "met: p99(service) > 1.2x of command READ_FILE: 14.0 \u{b5}s (",
        ),
        (&["p50(service) > 4x of command read_file"], 0, "not met: "),
        (&["p50(service) > 2.9x of tag req-*"], 1, "in req-*"),
        // 40 calls bound no 99th percentile.
        (&["p99(total) <= 2us of function shop::price*"], 0, "unsure: "),
        (&["max(total) > 1x of function shop::price*"], 0, "not met: "),
        (&["errors > 1x of command"], 1, "0 -> 20 in WRITE_FILE"),
        (&["count > 2x"], 0, "not met: count > 2x: 451 -> 551"),
        (&["count > 2x", "count > 1x"], 1, "met: count > 1x: 451 -> 551"),
        (&["count == 0 of command RENAME"], 1, "1 -> 0 in RENAME"),
        (&["p50(total) > 1x of command DELETE"], 0, "no data: "),
        (&["count > 1 of tag nobody*", "count > 1x"], 2, "'count > 1 of tag nobody*': neither trace has such a group"),
        (&["count > 1 of command MOVE"], 2, "neither trace has such a group"),
        (&["p99 > 1x"], 2, "expected count, errors, rate"),
    ] {
        let options: Vec<&str> = conditions.iter().flat_map(|condition| ["--fail-if", condition]).collect();
        let (code, out, err) = ran(traces.path(), &[&["a", "b"], &options[..]].concat());
        assert!(code == Some(status) && err.contains(said), "{conditions:?}: {code:?} {err}");
        assert_eq!(out.is_empty(), said.starts_with("expected"), "the tables are printed whatever the conditions say");
    }
    let json = json(traces.path(), &["a", "b", "--fail-if", "errors > 1x of command", "--fail-if", "rate > 2x"]);
    let met = &json["conditions"][0];
    assert_eq!((&met["verdict"], &met["groups"][0]["name"]), (&"met".into(), &"WRITE_FILE".into()));
    assert_eq!((&met["groups"][0]["b"]["value"], met["groups"].as_array().unwrap().len()), (&20.0.into(), 1));
}

#[test]
fn losses_are_told_and_show_in_the_exit_status() {
    let folder = traces();
    let writer = Writer::new(folder.path().join("b/shop-13"));
    let events =
        [entry(5, 1, 1, "", READ_FILE, "/x"), entry(6, 1, 2, "", READ_FILE, "/x"), returned(9, 1, 2, "", READ_FILE, 0)];
    let content: Vec<u8> = events.iter().flat_map(|event| writer.event(event)).collect();
    writer.write("ring-1", &writer.packet(0, 7, 1, 5, SUB_BUFFER, &content));
    let (status, out, err) = ran(folder.path(), &["a", "b"]);
    assert_eq!(status, Some(3), "{err}");
    assert!(err.contains("5 events lost") && out.contains("   5 events were lost\n"), "{out} {err}");
    assert!(out.contains("   1 operation had no answer at its end\n"), "{out}");
    assert_eq!(ran(folder.path(), &["b", "a"]).0, Some(3));
    assert_eq!(ran(folder.path(), &["a", "b", "--fail-if", "count > 1x"]).0, Some(1));
    assert_eq!(json(folder.path(), &["a", "b"])["b"]["lost_events"], 5);
    writer.write("ring-2", b"no packet");
    assert_eq!(ran(folder.path(), &["a", "b"]).0, Some(4));
    assert_eq!(ran(folder.path(), &["a", "nothing"]).0, Some(66));
}

#[test]
fn a_page_that_loads_nothing() {
    let traces = traces();
    let options = ["--html", "diff.html", "--fail-if", "errors > 1x of command"];
    let (status, out, _) = ran(traces.path(), &[&["a", "b"], &options[..]].concat());
    assert!(status == Some(1) && out.contains("READ_FILE"));
    let page = fs::read_to_string(traces.path().join("diff.html")).unwrap();
    for part in [
        "Differences of a and b",
        "<b class=\"bad\">met</b>: errors &gt; 1x of command: 0 -&gt; 20 in WRITE_FILE",
        "<th scope=\"row\">READ_FILE</th><td>400</td><td>500</td>",
        "<div class=\"bad\">p50(service): ",
        "&lt;b&gt;cleanup",
        "/srv/old\\x1b[*J",
        "Nothing was lost.",
        "<b>gone</b>",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    for never in ["<script", "<b>cleanup", "http:", "https:", "src="] {
        assert!(!page.contains(never), "{never}");
    }
}

#[test]
fn names_as_they_are() {
    let traces = traces();
    let exact = json(traces.path(), &["a", "b", "--exact-names"]);
    assert_eq!(group(&exact, "tag", "req-7")["a"]["count"], 1);
    assert_eq!(group(&exact, "tag", "req-400")["state"], "new");
    assert_eq!(group(&exact, "resource", "/srv/1/data")["a"]["count"], 133);
    let (_, out, _) = ran(traces.path(), &["a", "b", "--exact-names"]);
    // req-0 to req-499 fill the table of b, and the others are one row; 20 are shown.
    assert!(out.contains("and 481 more, of which "), "{out}");
    let folded = json(traces.path(), &["a", "b", "--exact-names", "--fold", "/srv/*/data"]);
    assert_eq!(group(&folded, "resource", "/srv/*/data")["b"]["count"], 500);
    assert!(ran(traces.path(), &["a", "b", "--exact-names", "--all"]).1.contains("req-499"));
}

#[test]
fn more_groups_than_there_is_room_for_are_one() {
    let folder = tempfile::tempdir().unwrap();
    for (name, paths) in [("a", 1_300), ("b", 600)] {
        let mut program = Program::default();
        // A thousand and more in a; those of b are among its first.
        (0..paths).for_each(|number| program.operation("", READ_FILE, &format!("/{}", number * 2), 0, [100, 100]));
        program.write(&folder.path().join(name));
    }
    let json = json(folder.path(), &["a", "b", "--exact-names"]);
    let resources = json["groups"].as_array().unwrap().iter().filter(|group| group["by"] == "resource");
    let resources: Vec<_> = resources.collect();
    let sum = |side: &str| resources.iter().filter_map(|group| group[side]["count"].as_u64()).sum::<u64>();
    assert_eq!((resources.len(), sum("a"), sum("b")), (501, 1_300, 600));
    let others = resources.iter().find(|group| group["name"].is_null()).unwrap();
    assert_eq!((&others["a"]["count"], &others["b"]["count"]), (&800.into(), &100.into()));
    assert!(resources.iter().all(|group| group["state"] != "new"));
}

#[test]
fn traces_without_events_and_of_any_content() {
    let folder = tempfile::tempdir().unwrap();
    Writer::new(folder.path().join("empty"));
    storm::write(&folder.path().join("storm"), 100, 3);
    for (a, b) in [("empty", "empty"), ("empty", "storm"), ("storm", "empty")] {
        let (code, out, err) = ran(folder.path(), &[a, b, "--fail-if", "p50(total) > 1x"]);
        assert!(code == Some(5) && err.contains("no data: p50(total) > 1x"), "{a} {b}: {out} {err}");
    }
    assert_eq!(group(&json(folder.path(), &["empty", "storm"]), "command", "RENAME")["state"], "new");
}
