//! `dyntrace view` on traces that are written byte by byte.

#[path = "common/interrupts.rs"]
mod interrupts;
#[path = "../../reader/tests/common/mod.rs"]
mod traces;

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tempfile::TempDir;
use traces::{Arg, SUB_BUFFER, Writer, entry, fired, returned};

const RENAME: i64 = 12;

/// A trace of two threads: a rename that fails after 5 ms, a fast read, and an event of the application.
fn trace() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let writer = Writer::new(folder.path().join("shop-12"));
    let work = |name, cycles| fired(name, cycles, [1.into(), 1.into(), RENAME.into()]);
    writer.ring(
        "ring-1",
        77,
        &[
            entry(1_000_000, 1, 1, "req-1", RENAME, "/a"),
            fired("aio_pool-add", 1_000_100, ["#Port<0.1>".into(), 1.into()]),
            entry(1_100_000, 1, 2, "req-2", 2, ""),
            returned(1_200_000, 1, 2, "req-2", 2, 0),
            returned(6_000_000, 1, 1, "req-1", RENAME, 2),
            fired("user_trace-s1", 6_000_001, ["a, \"b\"\n\u{1b}[2J \u{e4}".into()]),
        ],
    );
    writer.ring("ring-2", 78, &[work("efile_drv-int_entry", 1_500_000), work("efile_drv-int_return", 5_000_000)]);
    writer.process(&[fired("recorder:thread", 900_000, [Arg::U(77), "main".into()])]);
    folder
}

fn view(trace: &Path, options: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dyntrace")).arg("view").arg(trace).args(options).output().unwrap()
}

/// The output for a complete trace.
#[track_caller]
fn shown(options: &[&str]) -> String {
    let output = view(trace().path(), options);
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()));
    text(&output.stdout)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_owned()).unwrap()
}

const ENTER: &str = "efile_drv enter tag={1,1} user tag req-1 | RENAME (12) | args: /a  , 1 2 (port #Port<0.1>)\n";
const ENTER_READ: &str = "efile_drv enter tag={1,2} user tag req-2 | READ (2) | args:   , 1 2 (port #Port<0.1>)\n";
const BEGIN: &str = "async I/O worker tag={1,1} | RENAME (12) | efile_drv-int_entry\n";
const END: &str = "async I/O worker tag={1,1} | RENAME (12) | efile_drv-int_return\n";
const RETURN: &str = "efile_drv return tag={1,1} user tag req-1 | RENAME (12) | errno 2\n";
const RETURN_READ: &str = "efile_drv return tag={1,2} user tag req-2 | READ (2) | errno 0\n";
const ADD: &str = "2023-11-14T22:13:20.001000100Z [77] dyntrace:aio_pool-add port=\"#Port<0.1>\" new_queue_length=1\n";
const SAID: &str = "user_trace s1 | a, \"b\"\\x0a\\x1b[2J \u{e4}\n";

#[test]
fn lines_of_scripts_in_the_order_of_time() {
    assert_eq!(shown(&[]), [ENTER, ADD, ENTER_READ, RETURN_READ, BEGIN, END, RETURN, SAID].concat());
}

#[test]
fn every_filter() {
    for (options, expected) in [
        (&["--tag", "req-1"][..], [ENTER, BEGIN, END, RETURN].concat()),
        (&["--tag", "*", "--probe", "efile_drv-return"], [RETURN_READ, RETURN].concat()),
        (&["--failed"], RETURN.to_owned()),
        (&["--command", "rename", "--thread", "77"], [ENTER, RETURN].concat()),
        (&["--errno", "ENOENT"], RETURN.to_owned()),
        (&["--thread", "78"], [BEGIN, END].concat()),
        (&["--since", "2023-11-14T22:13:20.006Z"], [RETURN, SAID].concat()),
        (&["--since", "300us", "--until", "4ms"], [RETURN_READ, BEGIN].concat()),
        (&["--min-duration", "5ms"], [ENTER, BEGIN, END, RETURN].concat()),
        (&["--min-duration", "5000.001us"], String::new()),
        (&["--min-duration", "1us", "--probe", "*-return", "--since", "300us"], [RETURN_READ, RETURN].concat()),
    ] {
        assert_eq!(shown(options), expected, "{options:?}");
    }
    assert!(shown(&["--probe", "recorder:*"]).ends_with(" [0] recorder:thread tid=77 name=\"main\"\n"));
}

#[test]
fn objects_with_every_field() {
    let lines = shown(&["--json"]);
    let objects: Vec<serde_json::Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(objects.len(), 8);
    let expected = serde_json::json!({
        "time_ns": 1_700_000_000_001_000_000_i64, "process": "shop-12", "tid": 77, "probe": "dyntrace:efile_drv-entry",
        "thread_id": 1, "tag": 1, "user_tag": "req-1", "command": 12, "command_name": "RENAME", "s1": "/a", "s2": "",
        "i1": 1, "i2": 2, "i3": -3, "i4": 4, "port": "#Port<0.1>",
    });
    assert_eq!(objects[0], expected);
    let names = |name| objects.iter().map(|event| event[name].as_str()).collect::<Vec<_>>();
    let (read, rename) = (Some("READ"), Some("RENAME"));
    assert_eq!(names("command_name"), [rename, None, read, read, rename, rename, rename, None]);
    assert_eq!(names("errno_name"), [None, None, None, None, None, None, Some("ENOENT"), None]);
    assert!(
        lines.contains("\"command\":12,\"command_name\":\"RENAME\",")
            && lines.contains("\"errno\":2,\"errno_name\":\"ENOENT\"")
    );
    assert_eq!(objects[7]["message"], "a, \"b\"\n\u{1b}[2J \u{e4}");
    assert!(!lines.contains('\u{1b}'), "what drives a terminal is escaped");
    let own: serde_json::Value = serde_json::from_str(&shown(&["--json", "--probe", "recorder:*"])).unwrap();
    assert_eq!((&own["tid"], &own["_tid"]), (&0.into(), &77.into()));
}

#[test]
fn a_table_with_a_column_for_each_field() {
    let table = shown(&["--csv"]);
    let rows: Vec<&str> = table.lines().collect();
    let columns: Vec<&str> = rows[0].split(',').collect();
    assert_eq!(columns[..4], ["time_ns", "process", "tid", "probe"]);
    let at = |name| columns.iter().position(|column| *column == name).unwrap();
    let row: Vec<&str> = rows[2].split(',').collect();
    assert_eq!((row[at("new_queue_length")], row[at("port")], row[at("errno_name")]), ("1", "#Port<0.1>", ""));
    assert_eq!((rows.len(), row.len()), (9, columns.len()));
}

#[test]
fn a_table_of_the_chosen_probes() {
    let table = shown(&["--csv", "--probe", "efile_drv-return"]);
    let expected = "time_ns,process,tid,probe,thread_id,tag,user_tag,command,command_name,success,errno,errno_name,bytes\n\
                    1700000000001200000,shop-12,77,dyntrace:efile_drv-return,1,2,req-2,2,READ,1,0,,0\n\
                    1700000000006000000,shop-12,77,dyntrace:efile_drv-return,1,1,req-1,12,RENAME,0,2,ENOENT,0\n";
    assert_eq!(table, expected);
    let table = shown(&["--csv", "--probe", "user_trace-s1", "--probe", "aio_pool-add"]);
    let rows: Vec<&str> = table.lines().collect();
    assert_eq!((rows.len(), rows[0]), (3, "time_ns,process,tid,probe,port,new_queue_length,message"));
    assert!(rows[2].ends_with(",,,\"a, \"\"b\"\"\\x0a\\x1b[2J \u{e4}\""), "{}", rows[2]);
    let none = view(trace().path(), &["--csv", "--probe", "shop:*"]);
    assert_eq!((none.status.code(), text(&none.stdout)), (Some(0), "time_ns,process,tid,probe\n".to_owned()));
}

#[test]
fn a_file_for_each_probe() {
    let (trace, folder) = (trace(), tempfile::tempdir().unwrap());
    let mut convert = Command::new(env!("CARGO_BIN_EXE_dyntrace"));
    convert.arg("convert").arg(trace.path()).args(["--to", "csv", "-o"]).arg(folder.path());
    assert!(convert.status().unwrap().success());
    let mut names: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    let expected = [
        "aio_pool-add",
        "efile_drv-entry",
        "efile_drv-int_entry",
        "efile_drv-int_return",
        "efile_drv-return",
        "user_trace-s1",
    ];
    assert_eq!(names[..6], expected.map(|name| format!("dyntrace.{name}.csv")));
    assert_eq!(names[6..], ["recorder.thread.csv"]);
    let table = |name| fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!(table("dyntrace.efile_drv-return.csv"), shown(&["--csv", "--probe", "efile_drv-return"]));
    assert_eq!(table("dyntrace.user_trace-s1.csv").lines().count(), 2);
}

#[test]
fn losses_are_reported_and_show_in_the_exit_status() {
    let trace = trace();
    let folder = trace.path().join("shop-12");
    let writer = Writer::new(&folder);
    writer.write("ring-3", &writer.packet(0, 79, 1, 5, SUB_BUFFER, &[]));
    writer.process(&[fired("recorder:lost", 3, [Arg::U(1), "no ring \u{1b}[2J left".into()])]);
    let output = view(trace.path(), &["--failed"]);
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(3), RETURN.to_owned()));
    let said = text(&output.stderr);
    assert!(said.contains("5 events lost") && said.contains("ring-3"), "{said}");
    assert!(said.contains(r"1 event lost") && said.contains(r"no ring \x1b[2J left"), "{said}");

    let ring = fs::read(folder.join("ring-2")).unwrap();
    fs::write(folder.join("ring-2"), &ring[..90]).unwrap();
    let output = view(trace.path(), &["--thread", "78"]);
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(4), BEGIN.to_owned()));
    assert!(text(&output.stderr).contains("ring-2 at byte "), "{}", text(&output.stderr));
}

#[test]
fn lines_of_the_scripts() {
    let error = "efile_drv error tag={1,1} user tag req-1 | RENAME (12) | ENOENT (2) | args: /a  , 1 2\n";
    assert_eq!(shown(&["--script", "efile_errors"]), error);
    assert_eq!(shown(&["--script", "efile_errors", "--command", "READ"]), "");
    assert_eq!(shown(&["--script", "user-probe"]), SAID);
}

/// Two lanes, a thread without a known name, operations that share a system call, and a second without events.
#[test]
fn workers_of_the_pool() {
    const SECOND: u64 = 1_000_000_000;
    let port = || Arg::from("#Port<0.1>");
    let add = |at, length: i64| fired("aio_pool-add", at, [port(), length.into()]);
    let get = |at, length: i64, lane: i64| fired("aio_pool-get", at, [port(), length.into(), lane.into()]);
    let begin = |at, tag: i64| fired("efile_drv-int_entry", at, [1.into(), tag.into(), RENAME.into()]);
    let end = |at, tag: i64| fired("efile_drv-int_return", at, [1.into(), tag.into(), RENAME.into()]);

    let folder = tempfile::tempdir().unwrap();
    let writer = Writer::new(folder.path().join("shop-12"));
    // The task's thread serves one operation inline, which is no job.
    writer.ring(
        "ring-1",
        77,
        &[add(0, 1), add(1, 2), add(2, 1), add(3, 1), begin(4, 1), end(5, 1), add(2 * SECOND, 1)],
    );
    let fast = [get(10, 1, 1), begin(1_000, 2), end(3_000, 2), get(4_000, 0, 1), begin(5_000, 3), end(6_499, 3)];
    writer.ring("ring-2", 78, &[&fast[..], &[get(2 * SECOND + 1, 0, 1)]].concat());
    writer.ring("ring-3", 79, &[get(10, 0, 2), begin(1_000, 4), begin(1_001, 5), end(8_000, 4), end(9_000, 5)]);
    writer.ring("ring-4", 80, &[get(10, 0, 2)]);
    let name = |tid, name: &str| fired("recorder:thread", 20, [Arg::U(tid), name.into()]);
    writer.process(&[name(77, "main"), name(78, "dyntrace-io-1"), name(79, "dyntrace-slow-1")]);
    let output = view(folder.path(), &["--script", "aio_pool"]);
    assert_eq!(
        text(&output.stdout),
        "\
lane  worker             thread      jobs      busy_us
slow  ?                      80         1            0
slow  dyntrace-slow-1        79         1            8
fast  dyntrace-io-1          78         3            3
second jobs       count   mean    max        =1        <8       <64      more
     0 added          4      1      2         3         1         0         0
     0 fast           2      1      2         1         1         0         0
     0 slow           2      1      1         2         0         0         0
     2 added          1      1      1         1         0         0         0
     2 fast           1      1      1         1         0         0         0
   all added          5      1      2         4         1         0         0
   all fast           3      1      2         2         1         0         0
   all slow           2      1      1         2         0         0         0
"
    );
}

#[test]
fn wrong_use() {
    let status = |options: &[&str]| view(trace().path(), options).status.code();
    assert_eq!(view(Path::new("/nonexistent"), &[]).status.code(), Some(66));
    assert_eq!(view(tempfile::tempdir().unwrap().path(), &[]).status.code(), Some(66));
    assert_eq!(status(&["--json", "--csv"]), Some(2));
    assert_eq!(status(&["--command", "RENAMED"]), Some(2));
    assert_eq!(status(&["--errno", "ENOTHING"]), Some(2));
    assert_eq!(status(&["--since", "yesterday"]), Some(2));
    assert_eq!(status(&["--script", "efile"]), Some(2));
    assert_eq!(status(&["--script", "efile_drv", "--json"]), Some(2));
}

#[test]
fn a_reader_that_goes_away() {
    let folder = tempfile::tempdir().unwrap();
    let writer = Writer::new(folder.path());
    let events: Vec<_> = (0..10_000).map(|at| returned(at, 1, 1, "", RENAME, 0)).collect();
    writer.ring("ring-1", 77, &events);
    let mut view = Command::new(env!("CARGO_BIN_EXE_dyntrace"));
    let mut view = view.arg("view").arg(folder.path()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::with_capacity(64, view.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with("efile_drv return"), "{line}");
    let output = view.wait_with_output().unwrap();
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()));
}

#[test]
fn a_recording_that_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let writer = Writer::new(folder.path().join("shop-12"));
    let first = [entry(1, 1, 1, "req-1", RENAME, "/a")];
    let file = |events: &[_]| [writer.packets(0, 77, SUB_BUFFER, events).concat(), writer.prepared(0)].concat();
    writer.write("ring-1", &file(&first));
    let start = |options: &[&str]| {
        let mut view = Command::new(env!("CARGO_BIN_EXE_dyntrace"));
        interrupts::heed(&mut view)
            .args(["view", "--follow"])
            .args(options)
            .arg(folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let mut view = start(&[]);
    let mut lines = BufReader::new(view.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert_eq!(lines.next().unwrap() + "\n", ENTER);

    let mut interrupted = start(&["--json"]);
    let mut objects = BufReader::new(interrupted.stdout.take().unwrap()).lines();
    assert!(objects.next().is_some());
    kill(Pid::from_raw(interrupted.id().cast_signed()), Signal::SIGINT).unwrap();
    assert!(objects.next().is_none());
    assert_eq!(interrupted.wait().unwrap().code(), Some(0));

    writer.write("ring-1", &file(&[first[0].clone(), returned(2, 1, 1, "req-1", RENAME, 2)]));
    assert_eq!(lines.next().unwrap() + "\n", RETURN);
    writer.process(&[fired("recorder:end", 9, [Arg::U(0)])]);
    assert_eq!(lines.next(), None);
    assert_eq!(view.wait().unwrap().code(), Some(0));
}

#[test]
fn names_that_no_probe_has_are_told() {
    let trace = trace();
    let output = view(trace.path(), &["--probe", "efil_drv*", "--probe", "aio_pool*"]);
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(
        error.contains("no probe of the trace or of dyntrace matches efil_drv*")
            && error.contains("did you mean efile_drv-"),
        "{error}"
    );
    assert!(output.stdout.is_empty());
    for (options, lines) in
        [(&["--probe", "message-*"][..], 0), (&["--probe", "message-*", "--probe", "aio_pool-add"], 1)]
    {
        let output = view(trace.path(), options);
        let told = (output.status.code(), text(&output.stderr));
        assert_eq!(told, (Some(0), "dyntrace: the trace has no event of message-*\n".to_owned()));
        assert_eq!(text(&output.stdout).lines().count(), lines);
    }
    // The probes of other providers are not known.
    let output = view(trace.path(), &["--probe", "shop:*"]);
    let told = "dyntrace: the trace has no event of shop:*\n".to_owned();
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), told));
    // Other filters leave out events, which the trace has.
    let output = view(trace.path(), &["--probe", "aio_pool*", "--tag", "nobody"]);
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()));
}
