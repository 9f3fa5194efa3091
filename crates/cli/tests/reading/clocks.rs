//! `dyntrace clocks`, on traces whose clocks were set apart: the metadata of each says another time and frequency than its events have.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use dyntrace_fleet::{Cell, ColumnKind, Schema, Table};
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::{Field, RowAccessor as _};
use serde_json::Value;

use crate::dyntrace;
use crate::page::Fields;
use crate::partition::rows;
use crate::writer::{Arg, Fired, START, Writer, fired};

const SECOND: u64 = 1_000_000_000;

/// A host whose clock is ahead by whole seconds, and gains by parts in a million.
#[derive(Clone, Copy)]
struct Host {
    name: &'static str,
    ahead: i64,
    drift: i64,
}

const WEB: Host = Host { name: "web-1", ahead: 0, drift: 0 };
const APP: Host = Host { name: "app-1", ahead: 3, drift: 80 };
const STORE: Host = Host { name: "db-1", ahead: -40, drift: -120 };

/// It only receives.
const LISTENS: Host = Host { name: "listens", ahead: 1, drift: 0 };

/// The true times of steps in nanoseconds since `START`, by host, step and count.
type Truth = BTreeMap<(String, String, i64), i64>;

/// Programs on hosts that send messages to each other.
#[derive(Default)]
struct Fleet {
    events: BTreeMap<&'static str, (Option<Host>, Vec<Fired>)>,
    truth: Truth,
    count: i64,
    random: u64,
}

impl Fleet {
    /// A message at this true time. Returns the time at which it is received, 50 to 500 us later.
    fn message(&mut self, from: Host, to: Host, time: u64) -> u64 {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let received = time + 50_000 + (self.random >> 33) % 450_000;
        self.count += 1;
        let token = [7, 0, self.count];
        self.step(from, "send_remote", time, send(time, token));
        self.step(to, "receive", received, receive(received, token));
        received
    }

    fn step(&mut self, host: Host, step: &str, time: u64, event: Fired) {
        self.truth.insert((host.name.to_owned(), step.to_owned(), self.count), time as i64);
        let of_host = self.events.entry(host.name).or_default();
        of_host.0 = Some(host);
        of_host.1.push(event);
    }

    /// A request and its answer.
    fn request(&mut self, one: Host, other: Host, time: u64) {
        let there = self.message(one, other, time);
        self.message(other, one, there + 10_000);
    }

    /// Writes the traces into folders below this one.
    fn write(mut self, folder: &Path) -> Truth {
        for (number, (name, (host, events))) in (1..).zip(&mut self.events) {
            events.sort_by_key(|event| event.cycles);
            trace(&folder.join(name), number, host.expect("it has events"), events);
        }
        self.truth
    }
}

fn send(time: u64, token: [i64; 3]) -> Fired {
    let texts = ["<0.1.0>", "other@host", "box"].map(Arg::from);
    fired("message-send-remote", time, texts.into_iter().chain([Arg::U(3)]).chain(token.map(Arg::I)))
}

fn receive(time: u64, token: [i64; 3]) -> Fired {
    fired("message-receive", time, ["box".into(), Arg::U(3), Arg::U(0)].into_iter().chain(token.map(Arg::I)))
}

/// Writes the trace of a program on this host.
fn trace(folder: &Path, number: u8, host: Host, events: &[Fired]) {
    let mut writer = Writer::new(folder.join("shop-12"));
    writer.uuid[0] = number;
    writer.frequency = (SECOND as i64 - host.drift * (SECOND as i64 / 1_000_000)) as u64;
    let start = START / SECOND as i64;
    let metadata = writer.metadata().replace("hostname = \"h\"", &format!("hostname = \"{}\"", host.name));
    let metadata = metadata.replace(&format!("offset_s = {start};"), &format!("offset_s = {};", start + host.ahead));
    writer.write("metadata", metadata.as_bytes());
    writer.ring("ring-1", 7, events);
    writer.process(&[fired("recorder:end", 7_200 * SECOND, [Arg::U(0)])]);
}

/// Requests between three hosts for half an hour. The database talks with the application only.
fn requests() -> Fleet {
    let mut fleet = Fleet::default();
    for at in 0..600 {
        fleet.request(WEB, APP, at * 3 * SECOND);
        fleet.request(APP, STORE, at * 3 * SECOND + SECOND / 2);
    }
    fleet
}

/// Makes a data set of all traces in a folder.
fn converted(folder: &Path) -> PathBuf {
    let output = folder.join("fleet");
    let mut arguments = vec!["convert".to_owned()];
    let traces = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| *path != output);
    arguments.extend(traces.map(|path| path.to_str().unwrap().to_owned()));
    arguments.extend(["--to", "parquet", "--partition", "host,date,hour", "-o"].map(str::to_owned));
    arguments.push(output.to_str().unwrap().to_owned());
    let ended = dyntrace(arguments);
    assert!(ended.status.success(), "{ended:?}");
    output
}

/// Runs `dyntrace clocks`, which must end with this status. Returns both outputs.
#[track_caller]
fn clocks(folder: &Path, options: &[&str], status: i32) -> (String, String) {
    let ended = dyntrace([&["clocks", folder.to_str().unwrap()], options].concat());
    let [out, said] = [ended.stdout, ended.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    assert_eq!(ended.status.code(), Some(status), "{out}{said}");
    (out, said)
}

fn long(field: Option<&Field>) -> Option<i64> {
    match field {
        Some(Field::Long(number)) => Some(*number),
        None => None,
        other => panic!("{other:?}"),
    }
}

fn text(field: &Field) -> String {
    match field {
        Field::Str(text) => text.clone(),
        other => panic!("{other:?}"),
    }
}

/// A row of the table `clocks`.
struct Piece {
    host: String,
    range: Range<i64>,
    drift: f64,
    ahead: i64,
    error: Option<i64>,
}

fn pieces(output: &Path) -> Vec<Piece> {
    let piece = |row: BTreeMap<String, Field>| {
        let Field::Double(drift) = row["drift"] else { panic!("{row:?}") };
        let number = |name| long(row.get(name)).unwrap();
        let range = number("from_ns")..number("until_ns");
        Piece {
            host: text(&row["hostname"]),
            range,
            drift,
            ahead: number("ahead_ns"),
            error: long(row.get("error_ns")),
        }
    };
    rows(output, "clocks").into_iter().map(piece).collect()
}

/// The time by the reference's clock and its error, as engines join and compute it; `None` without a row.
fn aligned(clocks: &[Piece], host: &str, time: i64) -> Option<(i64, Option<i64>)> {
    let mut found = clocks.iter().filter(|piece| piece.range.contains(&time) && piece.host == host);
    let piece = found.next()?;
    assert!(found.next().is_none(), "two pieces of {host} at {time}");
    let more = ((time - piece.range.start) as f64 * piece.drift).floor() as i64;
    Some((time - piece.ahead - more, piece.error))
}

/// Checks each step of a message of an aligned host: the truth is within the error bar, and nothing is received before it was sent.
/// Returns the number of steps and the largest error.
fn hold(output: &Path, truth: &Truth, reference: Host) -> (usize, i64) {
    let clocks = pieces(output);
    let (mut sent, mut received, mut steps, mut largest) = (BTreeMap::new(), BTreeMap::new(), 0, 0);
    for row in rows(output, "messages") {
        let (host, step) = (text(&row["hostname"]), text(&row["step"]));
        let count = long(row.get("token_current")).unwrap();
        let Some((time, error)) = aligned(&clocks, &host, long(row.get("time_ns")).unwrap()) else { continue };
        if host == LISTENS.name {
            continue;
        }
        let error = error.expect("messages go both ways");
        let true_time = truth[&(host.clone(), step.clone(), count)];
        // The reference's clock is the truth.
        let expected = START
            + reference.ahead * SECOND as i64
            + (i128::from(true_time) * i128::from(SECOND)
                / i128::from(SECOND as i64 - reference.drift * (SECOND as i64 / 1_000_000))) as i64;
        // Clocks show whole nanoseconds.
        assert!((time - expected).abs() <= error + 1, "{host} {step} {count}: {} {error}", time - expected);
        let ends = if step == "receive" { &mut received } else { &mut sent };
        ends.insert(count, time);
        (steps, largest) = (steps + 1, error.max(largest));
    }
    for (count, time) in &received {
        assert!(sent.get(count).is_none_or(|sent| sent <= time), "{count} goes backwards");
    }
    (steps, largest)
}

#[test]
fn clocks_that_were_set_apart_are_aligned() {
    let folder = tempfile::tempdir().unwrap();
    let truth = requests().write(folder.path());
    let output = converted(folder.path());
    // The table is there before it has rows.
    let files =
        || fs::read_dir(output.join("clocks")).unwrap().map(|entry| entry.unwrap().file_name()).collect::<Vec<_>>();
    assert_eq!((rows(&output, "clocks").len(), files()), (0, vec!["clocks.parquet".into()]));
    // The application has the most messages. Any host can be the reference.
    for (reference, options) in [(APP, &[][..]), (WEB, &["--reference", "web-1"]), (STORE, &["--reference", "db-1"])] {
        let (out, said) = clocks(&output, options, 0);
        let lines: Vec<Vec<&str>> = out.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(lines[0], ["HOST", "AHEAD", "ERROR", "MESSAGES"]);
        let names: Vec<&str> = lines[1..].iter().map(|line| line[0]).collect();
        assert_eq!(names, ["app-1", "db-1", "web-1"], "{out}");
        let of_reference = out.lines().find(|line| line.ends_with("the reference")).unwrap();
        assert!(of_reference.starts_with(reference.name), "{out}");
        assert!(said.contains("messages between hosts: 2400 joined, 0 skipped"), "{said}");
        let (steps, largest) = hold(&output, &truth, reference);
        assert_eq!(steps, 4_800);
        // Half a round trip for each of two hops, and the drift between requests.
        assert!(largest < 4_000_000, "{largest}");
        assert_eq!(files(), ["clocks.parquet"]);
        let of = |row: &BTreeMap<String, Field>| text(&row["reference"]);
        assert!(rows(&output, "clocks").iter().all(|row| of(row) == reference.name));
    }
    // A later conversion leaves the table as it is.
    let before = rows(&output, "clocks").len();
    converted(folder.path());
    assert_eq!(rows(&output, "clocks").len(), before);
}

#[test]
fn a_reader_finds_one_version_of_the_table() {
    let folder = tempfile::tempdir().unwrap();
    let mut fleet = Fleet::default();
    (0..20).for_each(|at| fleet.request(WEB, APP, at * SECOND));
    fleet.write(folder.path());
    let output = converted(folder.path());
    clocks(&output, &["--reference", "web-1"], 0);
    let mut seen = BTreeSet::new();
    for _ in 0..5 {
        // Two at once, one of which may take the other's file for left over.
        let run = |reference: &str| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_dyntrace"));
            command.args(["clocks", output.to_str().unwrap(), "--reference", reference]);
            command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
        };
        let mut runs = [run("web-1"), run("app-1")];
        let mut are_ended = false;
        while !are_ended {
            are_ended = runs.iter_mut().all(|run| run.try_wait().unwrap().is_some());
            let path = output.join("clocks/clocks.parquet");
            let table = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
            let references: BTreeSet<String> =
                table.get_row_iter(None).unwrap().map(|row| row.unwrap().get_string(1).unwrap().clone()).collect();
            assert_eq!(references.len(), 1, "{references:?}");
            seen.extend(references);
        }
        assert!(runs.iter_mut().all(|run| run.wait().unwrap().success()));
    }
    assert!(!seen.is_empty());
    let files: Vec<_> = fs::read_dir(output.join("clocks")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(files, ["clocks.parquet"]);
}

/// Requests, and a program on the application's host that ran after its clock was set back by 5 s; a host to which messages only go, one
/// without messages to others, and one with a message that was not received.
fn with_faults(folder: &Path) -> (PathBuf, Truth) {
    let mut fleet = requests();
    let alone = Host { name: "alone", ahead: 2, drift: 0 };
    for at in 0..10 {
        fleet.message(WEB, LISTENS, at * SECOND);
    }
    fleet.events.insert("silent", (Some(Host { name: "silent", ahead: 0, drift: 0 }), Vec::new()));
    fleet.count += 1;
    fleet.step(alone, "send_remote", 1, send(1, [7, 0, fleet.count]));
    let mut later = Fleet { count: 1_000_000, ..Fleet::default() };
    let set = Host { name: "other", ahead: 9, drift: 0 };
    later.request(WEB, set, 100 * SECOND);
    later.request(WEB, Host { ahead: 4, ..set }, 200 * SECOND);
    // Both programs of the host in traces of their own, by two clocks.
    for (number, count, host) in [(101, 0, set), (102, 2, Host { ahead: 4, ..set })] {
        let events = later.events[set.name].1[count..count + 2].to_vec();
        trace(&folder.join(format!("other-{number}")), number, host, &events);
    }
    let of_web = later.events[WEB.name].1.clone();
    fleet.events.get_mut(WEB.name).unwrap().1.extend(of_web);
    let mut truth = fleet.write(folder);
    truth.extend(later.truth);
    (converted(folder), truth)
}

#[test]
fn a_clock_that_was_set_is_told_and_others_are_aligned() {
    let folder = tempfile::tempdir().unwrap();
    let (output, truth) = with_faults(folder.path());
    let (out, said) = clocks(&output, &["--reference", "web-1"], 4);
    let line = |host: &str| out.lines().find(|line| line.starts_with(host)).unwrap();
    assert!(line("other").ends_with("not aligned: its messages contradict each other"), "{out}");
    assert!(line("alone").ends_with("not aligned: it has no messages with other hosts"), "{out}");
    assert!(line("silent").ends_with("not aligned: it has no messages with other hosts"), "{out}");
    assert!(line("listens").contains("one way only"), "{out}");
    assert!(said.contains("other is not aligned: a clock was set, or drifts by more than the limit"), "{said}");
    // 1.7e9 s and 100 s are 22:15:00 UTC.
    assert!(said.contains("from web-1 at 2023-11-14T22:1") && said.contains("to other at 2023-11-14T22:1"), "{said}");
    assert!(said.contains("1 not received"), "{said}");
    let known: BTreeSet<String> = rows(&output, "clocks").iter().map(|row| text(&row["hostname"])).collect();
    assert_eq!(known, ["app-1", "db-1", "listens", "web-1"].map(str::to_owned).into());
    let (one_sided, others): (Vec<_>, Vec<_>) =
        rows(&output, "clocks").into_iter().partition(|row| text(&row["hostname"]) == "listens");
    assert!(one_sided.iter().all(|row| !row.contains_key("error_ns")), "{one_sided:?}");
    assert!(others.iter().all(|row| row.contains_key("error_ns")));
    let (steps, _) = hold(&output, &truth, WEB);
    // With those of `other` on this side, and those that were sent to `listens`.
    assert_eq!(steps, 4_800 + 4 + 10);
    // The clock of `other` is right within each of its programs, so a limit beyond any clock lets it drift.
    let (out, _) = clocks(&output, &["--reference", "web-1", "--drift", "100000"], 0);
    assert!(!out.contains("contradict"), "{out}");
}

/// A line of estimates: this host's clock, 600 s after the start, was wrong by at most these nanoseconds.
fn estimate(host: &str, error: u64) -> String {
    let time = START / SECOND as i64 + 600;
    let error = error as f64 / 1e9;
    format!("{host},{time}.000000000,C0A80001,10.0.0.1,3,{time}.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,{error:.9},64.2,Normal\n")
}

#[test]
fn estimates_of_ntp_align_hosts_without_messages() {
    let folder = tempfile::tempdir().unwrap();
    let (output, truth) = with_faults(folder.path());
    let file = folder.path().join("ntp.csv");
    let lines = [("web-1", 1_000_000), ("silent", 2_000_000), ("alone", 2_500_000_000), ("gone", 1)];
    let lines = lines.map(|(host, error)| estimate(host, error)).concat();
    fs::write(&file, lines + "silent,1,506 Cannot talk to daemon\n").unwrap();
    let options = ["--reference", "web-1", "--ntp", file.to_str().unwrap()];
    let (out, said) = clocks(&output, &options, 4);
    assert!(
        said.contains("estimates of NTP: 3 taken, 1 of hosts that are not in the data set, 1 lines without one"),
        "{said}"
    );
    assert!(!out.contains("no messages with other hosts"), "{out}");
    // The messages are aligned as before.
    assert_eq!(hold(&output, &truth, WEB).0, 4_800 + 4 + 10 + 1);
    let table = pieces(&output);
    let at = START + 600 * SECOND as i64;
    for (host, ahead, most) in
        [("silent", 0, 3_000_000), ("alone", 2_000_000_000, 2_501_000_000), ("UTC (NTP)", 0, 1_000_000)]
    {
        let (time, error) = aligned(&table, host, at).unwrap();
        let error = error.unwrap();
        // The table's error is that of a whole piece, which drifts.
        assert!(error >= most && (at - ahead - time).abs() <= most, "{host}: {} {error}", at - ahead - time);
    }
    let (json, _) = clocks(&output, &[&options[..], &["--json"]].concat(), 4);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["ntp"], serde_json::json!({ "estimates": 3, "skipped": 1, "unknown": 1 }));
    // The application's clock is 3 s ahead.
    fs::write(&file, estimate("web-1", 1_000_000) + &estimate("app-1", 1_000_000)).unwrap();
    let (_, said) = clocks(&output, &options, 4);
    assert!(
        said.contains("UTC (NTP) is not aligned") && said.contains("NTP's estimate of app-1 at 2023-11-14T22:2"),
        "{said}"
    );
}

#[test]
fn estimates_of_ntp_need_no_message() {
    let folder = tempfile::tempdir().unwrap();
    let hosts = ["one", "two"].map(|name| (name, (Some(Host { name, ahead: 0, drift: 0 }), Vec::new())));
    Fleet { events: hosts.into(), ..Fleet::default() }.write(folder.path());
    let output = converted(folder.path());
    // The folder has traces only.
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("ntp.csv");
    let options = ["--ntp", file.to_str().unwrap()];
    let (_, said) = clocks(&output, &[], 66);
    assert!(said.contains("give estimates of NTP for these hosts by --ntp"), "{said}");
    clocks(&output, &options, 66);
    fs::write(&file, "one,1\n").unwrap();
    let (_, said) = clocks(&output, &options, 66);
    assert!(said.contains("ntp.csv has no estimate of NTP"), "{said}");
    fs::write(&file, estimate("one", 1_000_000)).unwrap();
    let (out, _) = clocks(&output, &options, 0);
    let line = |host: &str| out.lines().find(|line| line.starts_with(host)).unwrap();
    assert!(line("UTC (NTP)").ends_with("the reference") && line("one").contains(" 1.00 ms "), "{out}");
    assert!(line("two").ends_with("not aligned: it has no messages with other hosts"), "{out}");
    trace(&folder.path().join("three"), 9, Host { name: "UTC (NTP)", ahead: 0, drift: 0 }, &[]);
    converted(folder.path());
    let (_, said) = clocks(&output, &options, 66);
    assert!(said.contains("a host of the data set has the name UTC (NTP)"), "{said}");
}

#[test]
fn in_json() {
    let folder = tempfile::tempdir().unwrap();
    let (output, _) = with_faults(folder.path());
    let (out, _) = clocks(&output, &["--reference", "web-1", "--json"], 4);
    let object: Value = serde_json::from_str(&out).unwrap();
    let states: BTreeMap<&str, &str> = object["hosts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|host| (host["hostname"].as_str().unwrap(), host["state"].as_str().unwrap()))
        .collect();
    let expected = [
        ("alone", "unconnected"),
        ("app-1", "aligned"),
        ("db-1", "aligned"),
        ("listens", "one_sided"),
        ("other", "left_out"),
        ("silent", "unconnected"),
        ("web-1", "reference"),
    ];
    assert_eq!(states, expected.into());
    let mut fields = Fields::new(&[]);
    fields.add(&object);
    let file = folder.path().join("ntp.csv");
    fs::write(&file, estimate("web-1", 1)).unwrap();
    let (out, _) = clocks(&output, &["--json", "--ntp", file.to_str().unwrap()], 4);
    fields.add(&serde_json::from_str(&out).unwrap());
    fields.are_those_below("dyntrace clocks --json");
}

/// Writes a table of messages with these columns only, each row a step of host `a` or `b`.
fn table(path: &Path, columns: &[(&str, ColumnKind)], rows: &[(i64, &str, &str, i64)]) {
    let schema = Schema {
        columns: columns.iter().map(|(name, kind)| ((*name).to_owned(), *kind)).collect(),
        ..Schema::default()
    };
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut table = Table::create(File::create(path).unwrap(), &schema).unwrap();
    for (time, host, step, count) in rows {
        let cells = columns.iter().enumerate().map(|(at, (name, _))| {
            let cell = match *name {
                "time_ns" => Cell::Signed(*time),
                "hostname" => Cell::Text((*host).into()),
                "step" => Cell::Text((*step).into()),
                "token_current" => Cell::Signed(*count),
                _ => Cell::Signed(0),
            };
            (at, cell)
        });
        table.row(cells).unwrap();
    }
    table.finish().unwrap();
}

#[test]
fn files_with_fewer_columns_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join("messages/host=a/date=2026-11-26/hour=00").join(name);
    let columns = [
        ("hostname", ColumnKind::Text),
        ("token_current", ColumnKind::Signed),
        ("token_previous", ColumnKind::Signed),
        ("token_label", ColumnKind::Signed),
        ("step", ColumnKind::Text),
        ("time_ns", ColumnKind::Signed),
    ];
    let steps = [
        (100, "a", "send_remote", 1),
        (5_110, "b", "receive", 1),
        (5_120, "b", "send_remote", 2),
        (130, "a", "receive", 2),
    ];
    table(&file("new.parquet"), &columns, &steps);
    table(&file("old.parquet"), &columns[4..], &[(7, "", "receive", 1)]);
    fs::write(file(".half.parquet.1-0.partial"), "no table").unwrap();
    let (out, _) = clocks(folder.path(), &["--drift", "0"], 0);
    // Ahead by 5 us, and half of the 20 ns that both messages took together.
    assert!(out.contains("b") && out.contains("0.000005000 s") && out.contains("10 ns"), "{out}");
    assert_eq!(aligned(&pieces(folder.path()), "b", 5_110).unwrap().0, 110);
}

#[test]
fn hosts_that_cannot_be_aligned_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let (_, said) = clocks(folder.path(), &[], 66);
    assert!(said.contains("is no data set: it has no folder messages; dyntrace convert"), "{said}");
    let mut fleet = Fleet::default();
    fleet.request(WEB, WEB, 5);
    fleet.write(folder.path());
    let output = converted(folder.path());
    let (_, said) = clocks(&output, &[], 66);
    assert!(
        said.contains("no message is known both where it was sent and on another host") && said.contains("seq_trace"),
        "{said}"
    );

    let folder = tempfile::tempdir().unwrap();
    requests().write(folder.path());
    let output = converted(folder.path());
    let (_, said) = clocks(&output, &["--reference", "nobody"], 2);
    assert!(said.contains("to nobody: no message between hosts") && said.contains("app-1, db-1, web-1"), "{said}");
    clocks(&output, &["--drift", "1000001"], 2);
    clocks(&output, &[], 0);
    let before = rows(&output, "clocks");
    let file = fs::read_dir(output.join("messages/host=db-1/date=2023-11-14/hour=22"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let bytes = fs::read(&file).unwrap();
    fs::write(&file, &bytes[..bytes.len() / 2]).unwrap();
    let (_, said) = clocks(&output, &[], 66);
    let name = file.file_name().unwrap().to_str().unwrap();
    assert!(
        said.contains("cannot read the messages of") && said.contains(name) && said.contains("convert its trace again"),
        "{said}"
    );
    // The table is as before.
    assert_eq!(rows(&output, "clocks"), before);
}
