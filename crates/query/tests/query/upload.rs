//! Uploads data sets, and asks them where they are.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::data::{doubles, numbers, texts, two_hosts, write};
use super::s3::{Server, clean};

const UPLOAD: &str = env!("CARGO_BIN_EXE_dyntrace-upload");
const QUERY: &str = env!("CARGO_BIN_EXE_dyntrace-query");
const URL: &str = "s3://traces/all/a%20b ü";
const SQL: &str = "SELECT * FROM operations ORDER BY duration_ns";

fn text(output: &[u8]) -> &str {
    std::str::from_utf8(output).unwrap()
}

/// Returns what the program prints, if it succeeds.
fn printed(program: &mut Command) -> String {
    let output = program.output().unwrap();
    assert!(output.status.success(), "{program:?}: {}", text(&output.stderr));
    text(&output.stdout).to_owned()
}

fn upload(server: &Server, folder: &Path) -> Command {
    let mut program = server.program(UPLOAD);
    program.arg(folder).arg(URL);
    program
}

fn asked(program: &mut Command, place: impl AsRef<Path>) -> String {
    printed(program.arg(place.as_ref()).args([SQL, "--json"]))
}

/// Returns the files below a folder, by their paths there.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push((path.strip_prefix(folder).unwrap().to_owned(), fs::read(&path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

/// Returns the files of the data set in the bucket. The server keeps files of its own beside the buckets' files.
fn stored(server: &Server) -> Vec<(PathBuf, Vec<u8>)> {
    files(&server.bucket().join("all/a%20b ü"))
}

/// Adds hosts whose folders have names that something may decode, or encode once more.
fn add_odd_names(set: &Path) {
    for (at, host) in ["a b", "%25", "a=b", "ü", "x+y&z", "..%2F%2E", "'q'~!#7"].into_iter().enumerate() {
        let path = set.join(format!("operations/host={host}/date=2026-11-26/hour=02/one=%20 ü.parquet"));
        let columns =
            vec![("hostname", texts([host])), ("duration_ns", numbers([1000 + at as i64])), ("later", doubles([1.0]))];
        write(&path, columns);
    }
}

#[test]
fn the_store_has_the_same_names_and_gives_the_same_rows() {
    let (server, set) = (Server::start(), two_hosts());
    add_odd_names(set.path());
    let summary = printed(&mut upload(&server, set.path()));
    assert!(
        summary.starts_with("uploaded: 9 files, ") && summary.ends_with("; already there: 0 files, 0 bytes\n"),
        "{summary}"
    );
    assert_eq!(stored(&server), files(set.path()));
    let local = asked(&mut clean(QUERY), set.path());
    assert_eq!(local.matches("\"hostname\"").count(), 11, "{local}");
    assert_eq!(asked(&mut server.program(QUERY), URL), local);
    let again = printed(upload(&server, set.path()).arg("--json"));
    assert!(again.starts_with(r#"{"version":1,"uploaded_files":0,"uploaded_bytes":0,"present_files":9,"#), "{again}");
}

#[test]
fn a_folder_is_a_store_too() {
    let (set, target) = (two_hosts(), tempfile::tempdir().unwrap());
    add_odd_names(set.path());
    let url = format!("file://{}/new%20one", target.path().display());
    printed(clean(UPLOAD).arg(set.path()).arg(&url));
    assert_eq!(files(&target.path().join("new one")), files(set.path()));
    assert_eq!(asked(&mut clean(QUERY), url), asked(&mut clean(QUERY), set.path()));
}

#[test]
fn a_query_of_a_store_reads_what_it_needs() {
    let (server, set) = (Server::start(), two_hosts());
    printed(&mut upload(&server, set.path()));
    let sql = "SELECT count(*) AS n FROM operations WHERE host = 'a b'";
    let output = server.program(QUERY).args([URL, sql, "--stats"]).output().unwrap();
    assert_eq!(text(&output.stdout), "n\n2\n");
    assert!(text(&output.stderr).starts_with("read: ") && text(&output.stderr).contains(" in 2 files "));
    let empty = printed(server.program(QUERY).args([URL, "SELECT hostname FROM clocks", "--json"]));
    assert_eq!(empty, "[\n]\n");
}

/// Waits until the condition holds.
fn wait(condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < Duration::from_secs(60), "60 s are not enough");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn uploads_that_are_killed_or_meet_leave_one_copy() {
    let (server, set) = (Server::start(), two_hosts());
    // By parts.
    fs::write(
        set.path().join("operations/large.parquet"),
        (0..20_u32 << 18).flat_map(u32::to_le_bytes).collect::<Vec<_>>(),
    )
    .unwrap();
    for number in 0..40 {
        fs::write(set.path().join(format!("operations/{number}.parquet")), vec![number; 70_000]).unwrap();
    }
    for after in [1, 4, 16, 64] {
        let mut first = upload(&server, set.path()).stdout(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(after * 5));
        first.kill().unwrap();
        first.wait().unwrap();
    }
    let run = || upload(&server, set.path()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let ended = [run(), run()].map(|running| running.wait_with_output().unwrap());
    assert!(ended.iter().all(|ended| ended.status.success()), "{ended:?}");
    assert!(stored(&server) == files(set.path()));
}

/// A program that is killed with a test that fails.
struct Running(Option<Child>);

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(program) = &mut self.0 {
            let _ = program.kill();
            let _ = program.wait();
        }
    }
}

#[test]
fn an_upload_follows_until_it_is_interrupted() {
    let (server, set) = (Server::start(), two_hosts());
    let said = tempfile::NamedTempFile::new().unwrap();
    let mut program = upload(&server, set.path());
    program.args(["--follow", "--every", "20ms", "--json"]).stdout(Stdio::piped()).stderr(said.reopen().unwrap());
    let mut running = Running(Some(program.spawn().unwrap()));
    let id = running.0.as_ref().unwrap().id().to_string();
    let has = |count: usize| {
        let folder = server.bucket().join("all/a%20b ü/operations");
        folder.exists() && files(&folder).len() == count
    };
    wait(|| has(2));
    // The server can neither read nor write the bucket.
    let away = server.bucket().with_file_name("away");
    fs::rename(server.bucket(), &away).unwrap();
    fs::write(server.bucket(), "no folder").unwrap();
    let new = set.path().join("operations/host=c/date=2026-11-26/hour=02/new.parquet");
    write(&new, vec![("duration_ns", numbers([5]))]);
    wait(|| fs::read_to_string(said.path()).unwrap().contains("dyntrace: "));
    fs::remove_file(server.bucket()).unwrap();
    fs::rename(&away, server.bucket()).unwrap();
    wait(|| has(3));
    let ended = Command::new("kill").args(["-TERM", &id]).status().unwrap();
    assert!(ended.success());
    let ended = running.0.take().unwrap().wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(0), "{ended:?}");
    assert!(text(&ended.stdout).starts_with(r#"{"version":1,"uploaded_files":3,"#), "{ended:?}");
    assert_eq!(stored(&server), files(set.path()));
}

/// Asserts that the program says each of these on standard error, and ends with the status.
fn assert_fails(program: &mut Command, status: i32, said: &[&str]) {
    let output = program.output().unwrap();
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{program:?}: {told}");
    assert!(said.iter().all(|part| told.contains(part)), "{program:?}: {told}");
}

#[test]
fn errors_tell_the_way_out() {
    let (server, set) = (Server::start(), two_hosts());
    let empty = tempfile::tempdir().unwrap();
    let none = ["s3://none/fleet", "SELECT 1"];
    assert_fails(
        server.program(QUERY).args(none),
        66,
        &["cannot read the data set s3://none/fleet", "check the name of the bucket"],
    );
    assert_fails(
        server.program(QUERY).args([URL, "SELECT 1"]),
        66,
        &["is no data set", "dyntrace upload FOLDER s3://traces/all"],
    );
    let wrong = ["s3://traces/fleet", "SELECT 1"];
    let wrong_key = [("AWS_SECRET_ACCESS_KEY", "other")];
    assert_fails(server.program(QUERY).envs(wrong_key).args(wrong), 66, &["check AWS_ACCESS_KEY_ID"]);
    // Nobody answers there.
    let nowhere = [("AWS_METADATA_ENDPOINT", "http://127.0.0.1:1")];
    assert_fails(
        clean(QUERY).envs(nowhere).args(wrong),
        66,
        &["no credentials in the environment: set AWS_ACCESS_KEY_ID"],
    );
    assert_fails(clean(UPLOAD).envs(nowhere).arg(set.path()).arg(URL), 1, &["no credentials in the environment"]);
    assert_fails(
        server.program(UPLOAD).arg(set.path()).arg("s3://none/fleet"),
        1,
        &["cannot read s3://none/fleet: ", "check the name of the bucket"],
    );
    assert_fails(clean(UPLOAD).arg(empty.path()).arg(URL), 66, &["is no data set", "dyntrace convert"]);
    assert_fails(clean(UPLOAD).arg("no/such").arg(URL), 66, &["no/such", "os error 2"]);
    assert_fails(clean(UPLOAD).arg(set.path()).arg("traces/fleet"), 2, &["write s3://BUCKET/PREFIX"]);
    assert_fails(clean(UPLOAD).arg(set.path()).arg("gs://traces"), 2, &["write s3://BUCKET/PREFIX"]);
    assert_fails(clean(UPLOAD).arg(set.path()).args([URL, "--every", "1s"]), 2, &["--follow"]);
}
