//! Errors: each says what is wrong with the data set, the query or the arguments.

use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};

use super::data::two_hosts;
use super::query;

/// Asserts that the program says each of these, and ends with the status.
fn assert_fails(folder: &Path, arguments: &[&str], status: i32, said: &[&str]) {
    let output = query(folder, arguments);
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(status), "{arguments:?}: {text}");
    assert!(said.iter().all(|part| text.contains(part)), "{arguments:?}: {text}");
    assert!(output.stdout.is_empty(), "{arguments:?}");
}

#[test]
fn a_folder_that_is_no_data_set() {
    let folder = tempfile::tempdir().unwrap();
    let said =
        ["dyntrace: ", "is no data set", "dyntrace convert RECORDINGS --to parquet --partition host,date,hour -o "];
    assert_fails(folder.path(), &["SELECT 1"], 66, &said);
    assert_fails(&folder.path().join("none"), &["SELECT 1"], 66, &["cannot read the data set", "os error 2"]);
}

#[test]
fn wrong_sql() {
    let set = two_hosts();
    assert_fails(set.path(), &["SELEKT 1"], 2, &["dyntrace: SQL error", "SELEKT"]);
    assert_fails(set.path(), &["SELECT nothing FROM operations"], 2, &["nothing"]);
    assert_fails(set.path(), &["SELECT * FROM operation"], 2, &["operation"]);
    assert_fails(set.path(), &["SELECT 1; SELECT 2"], 2, &["single SQL statement"]);
    assert_fails(set.path(), &["SELECT regexp_extract(path, '(', 0) FROM operations"], 2, &["regexp_extract"]);
    assert_fails(set.path(), &["SELECT regexp_extract(path, 'a', 1) FROM operations"], 2, &["there is no group 1"]);
}

#[test]
fn queries_only_read() {
    let set = two_hosts();
    let target = set.path().join("copy");
    let copy = format!("COPY (SELECT 1) TO '{}' STORED AS CSV", target.display());
    for sql in ["CREATE TABLE t AS SELECT 1", "DROP TABLE operations", "SET datafusion.execution.batch_size = 1", &copy]
    {
        assert_fails(set.path(), &[sql], 2, &["not supported"]);
    }
    assert!(!target.exists());
}

#[test]
fn too_little_memory() {
    let set = two_hosts();
    let many = "SELECT count(DISTINCT value) FROM generate_series(1, 100000)";
    assert_fails(set.path(), &[many, "--memory", "100K"], 1, &["Resources exhausted", "allow more by --memory"]);
    assert_eq!(query(set.path(), &[many, "--memory", "100M"]).status.code(), Some(0));
    assert_fails(set.path(), &[many, "--memory", "much"], 2, &["512M or 2G"]);
}

#[test]
fn wrong_use() {
    let set = two_hosts();
    assert_fails(set.path(), &[], 2, &["Usage: dyntrace query"]);
    assert_fails(set.path(), &["SELECT 1", "--json", "--csv"], 2, &["--csv"]);
    assert_fails(set.path(), &["-f", "no/such.sql"], 2, &["no/such.sql", "os error 2"]);
}

#[test]
fn a_damaged_file() {
    let set = two_hosts();
    fs::write(set.path().join("operations/host=web-1/date=2026-11-26/hour=02/damaged.parquet"), "no table").unwrap();
    assert_fails(set.path(), &["SELECT max(duration_ns) FROM operations"], 66, &["dyntrace: "]);
    // A file is none of the table while a converter writes it.
    let set = two_hosts();
    fs::write(set.path().join("operations/host=web-1/date=2026-11-26/hour=02/.one.parquet.1-0.partial"), "no table")
        .unwrap();
    assert!(query(set.path(), &["SELECT max(duration_ns) FROM operations"]).status.success());
}

#[test]
fn a_reader_that_wants_no_more_is_no_error() {
    let set = two_hosts();
    let many = "SELECT a.path FROM operations a, operations b, operations c, operations d, operations e, operations f, operations g";
    for format in ["--json", "--csv"] {
        let mut program = Command::new(env!("CARGO_BIN_EXE_dyntrace-query"));
        let program = program.arg(set.path()).args([many, format]).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut running = program.spawn().unwrap();
        running.stdout.take().unwrap().read_exact(&mut [0]).unwrap();
        let ended = running.wait_with_output().unwrap();
        assert!(
            ended.status.success() && ended.stderr.is_empty(),
            "{format}: {}",
            String::from_utf8_lossy(&ended.stderr)
        );
    }
}
