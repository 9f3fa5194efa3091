//! Runs the program as its users do.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

fn log_indexer(directory: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_log_indexer")).current_dir(directory).args(arguments).output().unwrap()
}

fn stdout(output: &Output) -> &str {
    str::from_utf8(&output.stdout).unwrap()
}

fn stderr(output: &Output) -> &str {
    str::from_utf8(&output.stderr).unwrap()
}

fn logs() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    for (path, text) in [
        ("a/app.log", "Error: disk full\nerror again\n".to_owned()),
        ("a/below/old.log", "disk full\n".to_owned()),
        // Longer than one read.
        ("b/long.log", "disk 17\n".repeat(100_000)),
    ] {
        let path = directory.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    directory
}

#[test]
fn a_table_of_the_terms_in_most_files() {
    let logs = logs();
    let output = log_indexer(logs.path(), &["--top", "2", "a"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let table = "\
TERM    FILES      COUNT
disk        2          2
full        2          2
2 files, 3 lines, 4 terms
";
    assert_eq!(stdout(&output), table);
    // Without a terminal there is no progress bar.
    assert_eq!(stderr(&output), "");
}

#[test]
fn a_report_and_an_index_in_json() {
    let logs = logs();
    let output = log_indexer(logs.path(), &["--json", "--top", "1", "-o", "index.json", "a", "b"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let report: Value = serde_json::from_str(stdout(&output)).unwrap();
    let expected = json!({
        "files": 3, "bytes": 800_039, "lines": 100_003, "terms": 4, "index": "index.json",
        "top": [{ "term": "disk", "files": 3, "count": 100_002 }],
        "requests": [
            { "request": "req-1", "directory": "a", "files": 2, "failed": [] },
            { "request": "req-2", "directory": "b", "files": 1, "failed": [] },
        ],
    });
    assert_eq!(report, expected);

    let index: Value = serde_json::from_slice(&fs::read(logs.path().join("index.json")).unwrap()).unwrap();
    let paths: Vec<_> = index["files"].as_array().unwrap().iter().map(|file| &file["path"]).collect();
    assert_eq!(paths, ["a/app.log", "a/below/old.log", "b/long.log"]);
    assert_eq!(index["files"][2]["request"], "req-2");
    let terms = json!({ "again": [[0, 1]], "disk": [[0, 1], [1, 1], [2, 100_000]], "error": [[0, 2]], "full": [[0, 1], [1, 1]] });
    assert_eq!(index["terms"], terms);
    let names: Vec<_> = fs::read_dir(logs.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 3, "only the index was added: {names:?}");
}

#[test]
fn unreadable_files_are_named_and_the_others_indexed() {
    let logs = logs();
    let output = log_indexer(logs.path(), &["a", "no-such-directory"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).ends_with("2 files, 3 lines, 4 terms\n"), "{}", stdout(&output));
    let error = "log_indexer: cannot read \"no-such-directory\": No such file or directory (os error 2)\n";
    assert_eq!(stderr(&output), error);
}

#[test]
fn an_index_that_cannot_be_written_leaves_nothing_behind() {
    let logs = logs();
    let output = log_indexer(logs.path(), &["-o", "a", "b"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("cannot write the index to \"a\""), "{}", stderr(&output));
    assert_eq!(fs::read_dir(logs.path()).unwrap().count(), 2);
}

/// Interrupts it during the read of a file that is far too long to be read in that time.
#[cfg(target_os = "linux")]
#[test]
fn an_interrupt_ends_it() {
    let logs = tempfile::tempdir().unwrap();
    fs::create_dir(logs.path().join("a")).unwrap();
    fs::File::create(logs.path().join("a/holes.log")).unwrap().set_len(1 << 40).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_log_indexer"));
    command.current_dir(logs.path()).args(["-o", "index.json", "a"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut program = command.spawn().unwrap();
    // Waits until it handles SIGINT, the second bit.
    let handles = |status: &str| {
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
        u64::from_str_radix(caught.trim(), 16).unwrap() & 2 != 0
    };
    while !handles(&fs::read_to_string(format!("/proc/{}/status", program.id())).unwrap()) {
        assert!(program.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::yield_now();
    }
    let kill = Command::new("sh").arg("-c").arg(format!("kill -INT {}", program.id())).status().unwrap();
    assert!(kill.success());
    let output = program.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    assert!(stderr(&output).starts_with("log_indexer: interrupted after 0 of "), "{}", stderr(&output));
    assert_eq!(fs::read_dir(logs.path()).unwrap().count(), 1, "something was written");
}

#[cfg(target_os = "linux")]
mod recorded {
    use std::collections::BTreeMap;

    use dyntrace::efile::Command;
    use dyntrace_reader::{Trace, Value};

    use super::logs;

    /// Each file is opened, read and closed with the user tag of its directory's request.
    #[test]
    fn every_operation_has_the_tag_of_its_request() {
        let logs = logs();
        let trace = logs.path().join("trace");
        let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_log_indexer"));
        let program = program
            .current_dir(logs.path())
            .args(["-o", "index.json", "a", "b"])
            .env("DYNTRACE", format!("record:{}", trace.display()));
        assert!(program.output().unwrap().status.success());

        let trace = Trace::open(&trace).unwrap();
        let mut opened = BTreeMap::new();
        let (mut entries, mut returns) = (0, 0);
        for event in trace.events() {
            match event.class.probe() {
                "efile_drv-entry" => {
                    entries += 1;
                    let text = |field| match event.field(field) {
                        Some(Value::Text(text)) => String::from_utf8_lossy(&text).into_owned(),
                        other => panic!("{field}: {other:?}"),
                    };
                    let is = |command: Command| event.field("command") == Some(Value::Signed(command.number().into()));
                    // An I/O thread that is the last user of a file closes it without a tag.
                    assert!(is(Command::Close) || !text("user_tag").is_empty(), "{event:?}");
                    if is(Command::Open) {
                        // The index has a temporary name until it is complete.
                        let path = text("s1").split_inclusive(".json").next().unwrap_or_default().to_owned();
                        opened.insert(path, text("user_tag"));
                    }
                }
                "efile_drv-return" => returns += 1,
                _ => {}
            }
        }
        let expected =
            [("a/app.log", "req-1"), ("a/below/old.log", "req-1"), ("b/long.log", "req-2"), ("index.json", "index")];
        assert_eq!(opened, BTreeMap::from(expected.map(|(path, tag)| (path.to_owned(), tag.to_owned()))));
        assert_eq!(entries, returns);
    }
}
