//! `dyntrace convert --partition`: each row once, whatever happens to the converter.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

use parquet::basic::{LogicalType, Type as Physical};
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::Field;
use parquet::schema::types::Type;

use crate::writer::{Arg, Fired, HEADER, SUB_BUFFER, Writer, entry, fired, returned};
use crate::{dyntrace, storm};

pub const HOUR: u64 = 3_600_000_000_000;
const OPTIONS: [&str; 4] = ["--to", "parquet", "--partition", "host,date,hour"];

type Rows = Vec<BTreeMap<String, Field>>;

/// Converts and checks the exit status. Returns standard error.
#[track_caller]
fn convert(traces: &[&Path], options: &[&str], output: &Path, status: i32) -> String {
    let ended = dyntrace(arguments(traces, options, output));
    let said = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(status), "{said}");
    said
}

pub fn arguments(traces: &[&Path], options: &[&str], output: &Path) -> Vec<String> {
    let traces = traces.iter().map(|trace| trace.to_str().unwrap().to_owned());
    let options = OPTIONS.iter().chain(options).map(|option| (*option).to_owned());
    let output = ["-o".to_owned(), output.to_str().unwrap().to_owned()];
    ["convert".to_owned()].into_iter().chain(traces).chain(options).chain(output).collect()
}

fn start(traces: &[&Path], output: &Path) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dyntrace"));
    command.args(arguments(traces, &[], output)).stderr(Stdio::null()).spawn().unwrap()
}

/// The files below a folder, by their paths in it.
fn files(folder: &Path) -> BTreeSet<PathBuf> {
    let (mut found, mut open) = (BTreeSet::new(), vec![folder.to_owned()]);
    while let Some(at) = open.pop() {
        // A partial file may be gone by now.
        for entry in fs::read_dir(at).into_iter().flatten().flatten() {
            if entry.file_type().unwrap().is_dir() {
                open.push(entry.path());
            } else {
                found.insert(entry.path().strip_prefix(folder).unwrap().to_owned());
            }
        }
    }
    found
}

/// The content of all files.
fn content(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    files(folder).into_iter().map(|file| (file.clone(), fs::read(folder.join(file)).unwrap())).collect()
}

fn open(path: &Path) -> SerializedFileReader<File> {
    SerializedFileReader::new(File::open(path).unwrap()).unwrap()
}

/// The rows of a table without nulls, in the order of its files. Like engines, it ignores files whose names begin with a dot.
pub fn rows(output: &Path, table: &str) -> Rows {
    let is_whole = |file: &Path| !file.file_name().unwrap().to_str().unwrap().starts_with('.');
    let of_table = files(output).into_iter().filter(|file| file.starts_with(table) && is_whole(file));
    let read = |file: PathBuf| -> Rows {
        let columns = |row: parquet::record::Row| {
            let columns = row.get_column_iter().filter(|(_, field)| **field != Field::Null);
            columns.map(|(name, field)| (name.clone(), field.clone())).collect()
        };
        open(&output.join(file)).get_row_iter(None).unwrap().map(|row| columns(row.unwrap())).collect()
    };
    of_table.flat_map(read).collect()
}

/// The tables of a data set, with the names and the types of their columns.
pub fn schemas(trace: &Path, output: &Path) -> BTreeMap<String, Vec<(String, &'static str)>> {
    dyntrace(arguments(&[trace], &["--final"], output));
    let parquet = files(output).into_iter().filter(|file| file.extension().is_some_and(|end| end == "parquet"));
    let table = |file: PathBuf| {
        let schema = open(&output.join(&file)).metadata().file_metadata().schema_descr_ptr();
        let kind = |column: &Type| match (column.get_basic_info().logical_type_ref(), column) {
            (Some(LogicalType::Map), _) => "map",
            (Some(LogicalType::Integer(_)), _) => "unsigned integer",
            (Some(LogicalType::String), _) => "string",
            (None, Type::PrimitiveType { physical_type: Physical::INT64, .. }) => "integer",
            (None, Type::PrimitiveType { physical_type: Physical::BOOLEAN, .. }) => "boolean",
            (None, Type::PrimitiveType { physical_type: Physical::DOUBLE, .. }) => "number",
            other => panic!("{other:?}"),
        };
        let columns = schema.root_schema().get_fields().iter();
        let columns = columns.map(|column| (column.name().to_owned(), kind(column))).collect();
        (file.iter().next().unwrap().to_str().unwrap().to_owned(), columns)
    };
    parquet.map(table).collect()
}

/// A writer of a source of its own, on this host.
pub fn source(folder: PathBuf, number: u8, hostname: &str) -> Writer {
    let mut writer = Writer::new(folder);
    writer.uuid[0] = number;
    let escaped = hostname.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    let metadata = writer.metadata().replace("hostname = \"h\"", &format!("hostname = \"{escaped}\""));
    writer.write("metadata", metadata.as_bytes());
    writer
}

/// Operations of a thread in several hours, one of them in flight at the end; and a message in each hour.
pub fn operations(hours: u64, of_hour: u64) -> Vec<Fired> {
    let mut events = Vec::new();
    let mut tag = 0;
    for (hour, at) in (0..hours).flat_map(|hour| (0..of_hour).map(move |at| (hour, at))) {
        let time = hour * HOUR + at * 1_000_000;
        tag += 1;
        let user_tag = format!("req-{}", tag % 7);
        if at == 0 {
            let numbers = [Arg::U(8), 42.into(), 0.into(), (hour as i64 + 1).into()];
            events.push(fired("message-send", time, ["<0.1.0>".into(), "<0.2.0>".into()].into_iter().chain(numbers)));
        }
        events.push(entry(time + 1, 1, tag, &user_tag, 12, "/a"));
        if (hour, at) != (hours - 1, of_hour - 1) {
            events.push(returned(time + 100, 1, tag, &user_tag, 12, if tag % 10 == 0 { 2 } else { 0 }));
        }
    }
    events
}

fn ended(writer: &Writer, time: u64) {
    writer.process(&[fired("recorder:end", time, [Arg::U(0)])]);
}

/// The tags of operations with a row; each must have one row.
pub fn tags(output: &Path) -> BTreeSet<i64> {
    let rows = rows(output, "operations");
    let tags = rows.iter().map(|row| match row["tag"] {
        Field::Long(tag) => tag,
        ref other => panic!("{other:?}"),
    });
    let tags: Vec<i64> = tags.collect();
    let set: BTreeSet<i64> = tags.iter().copied().collect();
    assert_eq!(set.len(), tags.len(), "a row is there twice");
    set
}

#[test]
fn rows_are_in_folders_by_host_date_and_hour() {
    let folder = tempfile::tempdir().unwrap();
    let (trace, output) = (folder.path().join("trace"), folder.path().join("fleet"));
    let writer = source(trace.join("shop-12"), 1, "web-1");
    writer.ring("ring-1", 7, &operations(3, 50));
    ended(&writer, 3 * HOUR);
    let said = convert(&[&trace], &[], &output, 0);
    assert!(said.contains("ranges: 1 new, 0 done before"), "{said}");
    // 1.7e18 ns are 2023-11-14 22:13:20 UTC.
    let hours = ["date=2023-11-14/hour=22", "date=2023-11-14/hour=23", "date=2023-11-15/hour=00"];
    for (hour, count) in hours.iter().zip([50, 50, 49]) {
        let rows = rows(&output, &format!("operations/host=web-1/{hour}"));
        assert_eq!(rows.len(), count, "{hour}");
        assert!(rows.is_sorted_by_key(|row| format!("{:?}", row["time_ns"])));
        assert!(
            rows.iter().all(|row| row["time_ns"] == row["return_ns"] && row["hostname"] == Field::Str("web-1".into()))
        );
    }
    // In flight at the end of the recording.
    let last = rows(&output, "operations/host=web-1/date=2023-11-15/hour=01");
    assert_eq!((last.len(), last[0].contains_key("return_ns")), (1, false));
    assert_eq!(tags(&output), (1..=150).collect());
    assert_eq!((rows(&output, "messages").len(), rows(&output, "events").len()), (3, 3 + 299 + 1));
    assert_eq!(rows(&output, "messages")[1]["token_current"], Field::Long(2));

    let file = files(&output).into_iter().find(|file| file.starts_with("operations")).unwrap();
    let name = file.file_name().unwrap().to_str().unwrap();
    assert!(name.ends_with("-000000-000.parquet") && name.starts_with("0104070a-0d10-"), "{name}");
    let reader = open(&output.join(file));
    let pairs = reader.metadata().file_metadata().key_value_metadata().unwrap();
    let value = |key: &str| pairs.iter().find(|pair| pair.key == key).unwrap().value.as_deref();
    assert_eq!((value("dyntrace.schema"), value("dyntrace.table")), (Some("1"), Some("operations")));
    let chunks = reader.metadata().row_group(0).columns();
    let chunk = |name: &str| chunks.iter().find(|chunk| chunk.column_path().string() == name).unwrap();
    assert!(chunk("user_tag").bloom_filter_offset().is_some() && chunk("s1").bloom_filter_offset().is_none());
    assert!(chunk("time_ns").statistics().is_some() && chunk("user_tag").dictionary_page_offset().is_some());

    let before = content(&output);
    let said = convert(&[&trace, &trace.join("shop-12")], &[], &output, 0);
    assert!(said.contains("ranges: 0 new, 2 done before"), "{said}");
    assert!(content(&output) == before);
}

#[test]
fn a_later_run_adds_what_is_new() {
    let folder = tempfile::tempdir().unwrap();
    let (trace, output) = (folder.path().join("trace"), folder.path().join("fleet"));
    let writer = source(trace.join("shop-12"), 1, "web-1");
    let events = operations(2, 40);
    let mut at_once = Vec::new();
    // Cut between entries and returns, within packets.
    for (step, upto) in [10, 11, 12, 80, 81, 150, events.len()].into_iter().enumerate() {
        writer.ring("ring-1", 7, &events[..upto]);
        // A thread that is late.
        writer.ring("ring-2", 8, &vec![fired("user_trace-s1", 5, ["late".into()]); step]);
        let said = convert(&[&trace], &[], &output, 0);
        assert!(said.contains(&format!("ranges: 1 new, {step} done before")), "{said}");
        assert!(said.contains("the recording has not ended"), "{said}");
        let said = convert(&[&trace], &[], &output, 0);
        assert!(said.contains(&format!("ranges: 0 new, {} done before", step + 1)), "{said}");
        let done = events[..upto].iter().filter(|event| event.name == "efile_drv-return").count() as i64;
        assert_eq!(tags(&output), (1..=done).collect());
        assert_eq!(rows(&output, "events").len(), upto + step);
        at_once.push(upto + step);
    }
    // The program was killed: its last operation never returned.
    let said = convert(&[&trace], &["--final"], &output, 0);
    assert!(said.contains("ranges: 1 new") && !said.contains("has not ended"), "{said}");
    assert_eq!(tags(&output), (1..=80).collect());
    assert_eq!(rows(&output, "events").len(), *at_once.last().unwrap());
    let said = convert(&[&trace], &["--final"], &output, 0);
    assert!(said.contains("ranges: 0 new, 8 done before"), "{said}");
}

/// A later run would find other events at the offsets of an earlier one.
#[test]
fn circular_files_have_rows_when_they_change_no_more() {
    let folder = tempfile::tempdir().unwrap();
    let (trace, output) = (folder.path().join("trace"), folder.path().join("fleet"));
    let writer = source(trace.join("shop-12"), 1, "web-1");
    let all = writer.packets(0, 7, SUB_BUFFER, &operations(2, 900));
    let ring = |newest: usize| {
        let held = |place: usize| (0..newest).rev().find(|number| number % 4 == place);
        let bytes: Vec<u8> = (0..4).flat_map(|place| all[held(place).unwrap()].clone()).collect();
        writer.write(".rings/ring-1", &bytes);
    };
    assert!(all.len() > 5, "{}", all.len());
    for newest in [4, 5] {
        ring(newest);
        let said = convert(&[&trace], &[], &output, 0);
        assert!(said.contains("circular files change") && said.contains("--final writes them"), "{said}");
        assert_eq!(rows(&output, "events"), Rows::new());
    }
    ring(all.len());
    let said = convert(&[&trace], &["--final"], &output, 0);
    assert!(said.contains("ranges: 1 new") && !said.contains("circular"), "{said}");
    let tags = tags(&output);
    assert_eq!((tags.len() as i64, tags.last()), (1801 - tags.first().unwrap(), Some(&1800)));
    let before = content(&output);
    assert!(convert(&[&trace], &["--final"], &output, 0).contains("ranges: 0 new"));
    assert!(content(&output) == before);

    ended(&writer, 2 * HOUR);
    let other = folder.path().join("ended");
    convert(&[&trace], &[], &other, 0);
    assert_eq!(rows(&other, "operations").len(), tags.len());
}

/// Three sources on two hosts. Returns the folder of the trace.
fn three(folder: &Path) -> PathBuf {
    let trace = folder.join("trace");
    for (number, host) in [(1, "web-1"), (2, "web-2"), (3, "web-2")] {
        let writer = source(trace.join(format!("shop-{number}")), number, host);
        writer.ring("ring-1", 7, &operations(3, 30));
        writer.ring(
            "ring-2",
            8,
            &[fired("user_trace-s1", 5, ["hello".into()]), fired("user_trace-s1", 6, ["you".into()])],
        );
        ended(&writer, 3 * HOUR);
    }
    trace
}

#[test]
fn a_converter_killed_at_50_instants_and_started_again() {
    let folder = tempfile::tempdir().unwrap();
    let trace = three(folder.path());
    let whole = folder.path().join("whole");
    convert(&[&trace], &[], &whole, 0);
    let expected = content(&whole);
    let (mut killed, mut states) = (0, BTreeSet::new());
    for instant in 0..50 {
        let output = folder.path().join(format!("fleet-{instant}"));
        let mut child = start(&[&trace], &output);
        // Each instant is another step of the conversion: a number of files, whole or partial.
        let step = instant * (expected.len() + 1) / 50;
        while files(&output).len() < step && child.try_wait().unwrap().is_none() {
            thread::yield_now();
        }
        child.kill().unwrap();
        killed += usize::from(child.wait().unwrap().code().is_none());
        states.insert(files(&output));
        // A file under its own name is whole.
        for (file, bytes) in content(&output) {
            let is_partial = file.file_name().unwrap().to_str().unwrap().starts_with('.');
            assert!(is_partial || expected.get(&file) == Some(&bytes), "{}", file.display());
        }
        convert(&[&trace], &[], &output, 0);
        let now = content(&output);
        assert!(now == expected, "instant {instant}: {:?}", now.keys().collect::<Vec<_>>());
    }
    assert!(killed >= 20 && states.len() >= 10, "{killed} of 50 were killed, in {} states", states.len());
}

#[test]
fn converters_at_once_write_each_row_once() {
    let folder = tempfile::tempdir().unwrap();
    let trace = three(folder.path());
    let whole = folder.path().join("whole");
    convert(&[&trace], &[], &whole, 0);
    let expected = content(&whole);
    for round in 0..10 {
        let output = folder.path().join(format!("fleet-{round}"));
        let converters: Vec<Child> = (0..3).map(|_| start(&[&trace], &output)).collect();
        for mut converter in converters {
            assert!(converter.wait().unwrap().success());
        }
        // One of them may have been late with a file that it then removed.
        assert!(content(&output) == expected, "{:?}", files(&output));
    }
}

#[test]
fn hostile_names_stay_in_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let (trace, output) = (folder.path().join("trace"), folder.path().join("a/fleet"));
    let longest = "x".repeat(64);
    // Each with the name of its folder.
    let hosts = [
        ("../../../escaped", "..%2F..%2F..%2Fescaped"),
        ("a/b=c%\"'\\ \n", "a%2Fb%3Dc%25%22%27%5C%20%0A"),
        ("", "__HIVE_DEFAULT_PARTITION__"),
        ("__HIVE_DEFAULT_PARTITION__", "%5F_HIVE_DEFAULT_PARTITION__"),
        ("null", "%6Eull"),
        ("ä\u{202e}", "%C3%A4%E2%80%AE"),
        (".", "."),
        ("..", ".."),
        (".hidden", ".hidden"),
        ("a=b", "a%3Db"),
        ("a/b", "a%2Fb"),
        ("%2F", "%252F"),
        (&longest, &longest),
    ];
    for (number, (host, _)) in (1..).zip(hosts) {
        let writer = source(trace.join(format!("shop-{number}")), number, host);
        writer.ring("ring-1", 7, &[entry(1, 1, 1, "../x/'\u{1}", 12, "/../y"), returned(2, 1, 1, "", 12, 0)]);
        // A name that no recorder makes.
        writer.ring("ring %\n2", 8, &[entry(3, 2, 2, "", 12, "/z"), returned(4, 2, 2, "", 12, 0)]);
        ended(&writer, 5);
    }
    convert(&[&trace], &[], &output, 0);
    let in_place: BTreeSet<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(in_place, ["a".into(), "trace".into()].into());
    let folders: BTreeSet<String> = fs::read_dir(output.join("operations"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(folders, hosts.map(|(_, folder)| format!("host={folder}")).into());
    for (host, folder) in hosts {
        let of_host = rows(&output, &format!("operations/host={folder}"));
        let is_of_host = |row: &BTreeMap<String, Field>| match row.get("hostname") {
            Some(Field::Str(name)) => name == host,
            _ => host.is_empty(),
        };
        assert!(of_host.len() == 2 && of_host.iter().all(is_of_host), "{host}: {of_host:?}");
    }
    convert(&[&trace], &[], &output, 0);
    assert_eq!(rows(&output, "operations").len(), 2 * hosts.len());
}

#[test]
fn a_damaged_trace_among_good_ones() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("fleet");
    let [good, damaged, gone] = ["good", "damaged", "gone"].map(|name| folder.path().join(name));
    for (number, trace) in [(1, &good), (2, &damaged), (3, &gone)] {
        let writer = source(trace.join("shop-12"), number, "web-1");
        writer.ring("ring-1", 7, &operations(1, 2_000));
        let lost = fired("recorder:lost", 7, [Arg::U(5), "a test".into()]);
        writer.process(&[lost, fired("recorder:end", HOUR, [Arg::U(0)])]);
    }
    let ring = damaged.join("shop-12/ring-1");
    let mut bytes = fs::read(&ring).unwrap();
    bytes[SUB_BUFFER + HEADER..][..2].fill(0xff);
    fs::write(&ring, bytes).unwrap();
    fs::write(gone.join("shop-12/metadata"), "/* CTF 1.8 */ trace {").unwrap();
    let said = convert(&[&gone, &damaged, &good], &[], &output, 4);
    assert!(said.contains("skipped: ") && said.contains("gone/shop-12/metadata"), "{said}");
    assert!(said.contains("damaged/shop-12/ring-1 at byte") && said.contains("ranges: 2 new"), "{said}");
    assert_eq!(tags_of(&output, "good"), 2_000);
    let of_damaged = tags_of(&output, "damaged");
    assert!((1_000..2_000).contains(&of_damaged), "{of_damaged}");
    let losses = rows(&output, "losses");
    let kinds: BTreeSet<String> = losses.iter().map(|row| row["kind"].to_string()).collect();
    assert!(kinds.contains("\"damaged\"") && kinds.contains("\"lost\""), "{losses:?}");
    let lost: Vec<_> = losses.iter().filter(|row| row["kind"] == Field::Str("lost".into())).collect();
    assert_eq!(
        (lost.len(), &lost[0]["count"], &lost[0]["reason"]),
        (2, &Field::ULong(5), &Field::Str("a test".into()))
    );
    let skipped = losses.iter().find(|row| row.contains_key("bytes")).unwrap();
    assert_eq!(skipped["file"], Field::Str("ring-1".into()));
    // The same status again, and no loss twice.
    convert(&[&gone, &damaged, &good], &[], &output, 4);
    assert_eq!(rows(&output, "losses").len(), losses.len());
    convert(&[&gone], &[], &output, 66);
    convert(&[&good], &[], &output, 3);
}

/// How many operations of a source have rows.
fn tags_of(output: &Path, trace: &str) -> usize {
    let start = if trace == "good" { "0104070a" } else { "0204070a" };
    let file = |file: &PathBuf| file.file_name().unwrap().to_str().unwrap().starts_with(start);
    let files: Vec<_> = files(output).into_iter().filter(|path| path.starts_with("operations") && file(path)).collect();
    files.iter().map(|file| open(&output.join(file)).metadata().file_metadata().num_rows() as usize).sum()
}

#[test]
fn the_same_operations_as_in_one_table() {
    let folder = tempfile::tempdir().unwrap();
    let (trace, output) = (folder.path().join("trace"), folder.path().join("fleet"));
    storm::write(&trace, 2_000, 40);
    convert(&[&trace], &["--final"], &output, 0);
    let (events, operations) = crate::parquet::converted(&[&trace]);
    let of_fleet = rows(&output, "operations");
    assert_eq!((of_fleet.len(), rows(&output, "events").len()), (2_001, events.len()));
    let by_tag = |rows: Rows| -> BTreeMap<String, BTreeMap<String, Field>> {
        let without_time = |mut row: BTreeMap<String, Field>| {
            row.remove("time_ns");
            row
        };
        rows.into_iter().map(|row| (row["tag"].to_string(), without_time(row))).collect()
    };
    assert!(by_tag(of_fleet) == by_tag(operations));
}

#[test]
fn wrong_use() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    for (options, what) in [
        (&["--to", "csv", "--partition", "host,date,hour"][..], "--partition is for --to parquet"),
        (&["--to", "parquet", "--final"], "--partition"),
        (&["--to", "parquet", "--partition", "day"], "host,date,hour"),
        (&["--to", "parquet", "--partition", "host,date,hour", "--every", "5s"], "--follow"),
    ] {
        let ended = dyntrace(["convert", path, "-o", path].into_iter().chain(options.iter().copied()));
        let said = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(ended.status.code(), Some(2), "{said}");
        assert!(said.contains(what), "{said}");
    }
}
