//! The chapter *A server is stuck*: each fault of the example stuck_server is found by one command, which prints what the chapter shows
//! and what is true.
#![cfg(target_os = "linux")]

#[path = "common/interrupts.rs"]
mod interrupts;

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::sys::stat::Mode;
use nix::unistd::{Pid, mkfifo};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The example with all debug information, which only the dev profile gives it.
fn stuck_server() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let target = test.ancestors().nth(3).unwrap();
    // Beside an example of the workspace: with the features of its tests, for others Cargo would build the library again.
    let build = ["build", "--quiet", "--workspace", "--bin", "stuck_server", "--example", "file_server"];
    assert!(Command::new(env!("CARGO")).args(build).current_dir(root()).status().unwrap().success());
    target.join("debug/stuck_server")
}

/// A running server, killed when this is dropped.
struct Server {
    child: Child,
    address: SocketAddr,
    folder: tempfile::TempDir,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The output of a command, once it is right; a reason to skip the test if the kernel refuses.
enum Printed {
    Text(String),
    Refused(String),
}

impl Server {
    fn start() -> Server {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("archive")).unwrap();
        mkfifo(&folder.path().join("archive/march"), Mode::S_IRUSR | Mode::S_IWUSR).unwrap();
        let mut command = Command::new(stuck_server());
        command.arg("archive").current_dir(&folder).stdout(Stdio::piped());
        let mut child = interrupts::heed(&mut command).spawn().unwrap();
        let mut said = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut said).unwrap();
        let address = said.trim_end().strip_prefix("listens on http://").expect(&said).parse().unwrap();
        Server { child, address, folder }
    }

    /// Sends a request. Its answer can be read from the connection.
    fn ask(&self, path: &str, id: &str) -> TcpStream {
        let mut connection = TcpStream::connect(self.address).unwrap();
        write!(connection, "GET {path} HTTP/1.1\r\nhost: bank\r\nconnection: close\r\nx-request-id: {id}\r\n\r\n")
            .unwrap();
        connection
    }

    /// Runs the command until its output is `right`. The requests need time to get stuck.
    fn dyntrace(&self, command: &str, mut right: impl FnMut(&str) -> bool) -> Printed {
        let pid = self.child.id().to_string();
        let arguments = command.split(' ').map(|argument| if argument == "PID" { &pid } else { argument });
        let arguments: Vec<&str> = arguments.collect();
        let mut printed = String::new();
        for _ in 0..100 {
            let output = Command::new(env!("CARGO_BIN_EXE_dyntrace")).args(&arguments).output().unwrap();
            let error = String::from_utf8(output.stderr).unwrap();
            if error.contains("ptrace_scope") {
                return Printed::Refused(error);
            }
            // Part of the tasks may be unknown.
            assert!(matches!(output.status.code(), Some(0 | 5)), "dyntrace {command}: {error}");
            printed = String::from_utf8(output.stdout).unwrap();
            if right(&printed) {
                return Printed::Text(printed);
            }
            sleep(Duration::from_millis(100));
        }
        panic!("dyntrace {command} printed at last\n{printed}");
    }
}

fn answer(mut connection: TcpStream) -> String {
    let mut text = String::new();
    connection.read_to_string(&mut text).unwrap();
    text
}

fn source(file: &str) -> String {
    fs::read_to_string(root().join("examples/stuck_server/src").join(file)).unwrap()
}

/// The place of the only line of a file that has `code`, as the commands print it.
fn place(file: &str, code: &str) -> String {
    let source = source(file);
    let lines: Vec<usize> = (1..).zip(source.lines()).filter(|(_, line)| line.contains(code)).map(|(n, _)| n).collect();
    assert_eq!(lines.len(), 1, "lines with {code}");
    format!("examples/stuck_server/src/{file}:{}", lines[0])
}

/// The words behind `begin` in the lines of a text.
fn words_after<'t>(text: &'t str, begin: &str) -> Vec<&'t str> {
    let rests = text.lines().filter_map(|line| Some(line.split_once(begin)?.1));
    rests.map(|rest| rest.split([' ', ',', ':']).next().unwrap()).collect()
}

/// Blocks of the chapter in a language.
fn blocks(language: &str) -> Vec<String> {
    let chapter = fs::read_to_string(root().join("docs/stuck_server.md")).unwrap();
    let blocks = chapter.split("```").skip(1).step_by(2);
    blocks.filter_map(|block| Some(block.strip_prefix(language)?.strip_prefix('\n')?.to_owned())).collect()
}

/// Lines without what differs from run to run: times, and numbers but those of lines of source. The report is at any line of `seal`, and
/// either transfer may be the first.
fn general(text: &str) -> Vec<String> {
    let word = |word: &str| match word {
        _ if word.contains(".rs:") => word.to_owned(),
        _ if word.starts_with("0x") => "address".to_owned(),
        "\"alice\"" | "\"bob\"" => "name".to_owned(),
        _ => word.replace(|digit: char| digit.is_ascii_digit(), ""),
    };
    let line = |line: &str| {
        let line = line.split(", CPU time").next().unwrap();
        let line = if line.contains("report::seal at") { line.split(".rs:").next().unwrap() } else { line };
        let indent = line.len() - line.trim_start().len();
        " ".repeat(indent) + &line.split_whitespace().map(word).collect::<Vec<_>>().join(" ")
    };
    text.lines().map(line).collect()
}

/// The chapter's command of this number prints some lines in a row, or all.
fn the_chapter_shows(number: usize, command: &str, printed: &str) {
    let block = &blocks("console")[number];
    let shown = block.strip_prefix(&format!("$ dyntrace {command}\n")).expect("the chapter has this command");
    let shown = general(shown.strip_suffix("...\n").unwrap_or(shown));
    let printed = general(printed);
    assert!(shown.len() > 2, "{shown:?}");
    assert!(printed.windows(shown.len()).any(|lines| lines == shown), "\n{printed:#?}\nhas no\n{shown:#?}");
}

#[test]
fn why_names_the_deadlock_with_the_second_locks_and_their_holders() {
    let server = Server::start();
    let pair = || [server.ask("/transfer/alice/bob", "pay-1"), server.ask("/transfer/bob/alice", "pay-2")];
    let mut asked = pair();
    let is_stuck = |printed: &str| {
        // On a busy machine one transfer may have ended before the other began.
        if asked.iter_mut().all(has_answer) {
            asked = pair();
        }
        printed.contains("deadlock: 2 tasks") && words_after(printed, "join of task ").len() >= 2
    };
    let printed = match server.dyntrace("why -p PID", is_stuck) {
        Printed::Text(printed) => printed,
        Printed::Refused(error) => return eprintln!("SKIPPED: {error}"),
    };
    let (deadlock, rest) = printed.split_once("\n\n").unwrap();
    let second = format!("  waits at {} for Mutex \"", place("accounts.rs", "payee.lock()"));
    let waited = words_after(deadlock, &second);
    assert!(waited.len() == 2 && waited[0] != waited[1], "{printed}");
    let tasks: Vec<&str> = deadlock.lines().filter_map(|line| line.strip_prefix("task ")?.split(',').next()).collect();
    let holders = words_after(deadlock, "  held by task ");
    assert_eq!(holders, [tasks[1], tasks[0]], "{printed}");
    let first = format!("(MutexGuard<i64> in source, taken at {})", place("accounts.rs", "payer.lock()"));
    assert_eq!(deadlock.matches(&first).count(), 2, "{printed}");
    assert!(deadlock.contains(" for Mutex \"alice\" ") && deadlock.contains(" for Mutex \"bob\" "), "{printed}");
    let mut joined = words_after(rest, "for join of task ");
    joined.sort_unstable_by_key(|task| task.parse::<u64>().unwrap());
    assert_eq!(joined, tasks, "{printed}");
    the_chapter_shows(0, "why -p PID", &printed);
}

fn has_answer(connection: &mut TcpStream) -> bool {
    connection.set_nonblocking(true).unwrap();
    let has = matches!(connection.peek(&mut [0]), Ok(1..));
    connection.set_nonblocking(false).unwrap();
    has
}

#[test]
fn threads_shows_the_report_that_keeps_its_thread() {
    let server = Server::start();
    // Longer than this test.
    let _asked = server.ask("/report/1000000", "report-1");
    let seal = place("report.rs", ".fold(0, seal)");
    let printed = match server.dyntrace("threads -p PID", |printed| printed.contains(&seal)) {
        Printed::Text(printed) => printed,
        Printed::Refused(error) => return eprintln!("SKIPPED: {error}"),
    };
    let thread = printed.split("\n\n").find(|thread| thread.contains(&seal)).unwrap();
    assert!(thread.contains("\non a CPU or ready for one"), "{thread}");
    assert!(thread.contains("\n  stuck_server::report::seal at examples/stuck_server/src/report.rs:"), "{thread}");
    let [task] = words_after(thread, ": worker, polls task ")[..] else { panic!("{thread}") };
    // It is the report's.
    let Printed::Text(tasks) = server.dyntrace("ps -p PID --all", |_| true) else { panic!("it was permitted before") };
    let line = tasks.lines().find(|line| line.split_whitespace().next() == Some(task)).unwrap();
    assert!(line.contains("running") && line.contains("stuck_server::report::sealed"), "{tasks}");
    assert!(line.ends_with(&format!(" {}?", place("main.rs", "dyntrace::spawn("))), "{tasks}");
    the_chapter_shows(1, "threads -p PID", thread);
}

#[test]
fn why_names_the_file_and_the_thread_that_wait_for_the_disk() {
    let server = Server::start();
    let asked = server.ask("/archive/march", "order-7");
    let printed = match server.dyntrace("why -p PID", |printed| printed.contains(": asleep in ")) {
        Printed::Text(printed) => printed,
        Printed::Refused(error) => return eprintln!("SKIPPED: {error}"),
    };
    let open = place("archive.rs", "File::open(");
    let wait = format!("waits at {open} for OPEN of archive/march, operation {{");
    let line = printed.lines().find(|line| line.contains(&wait)).unwrap_or_else(|| panic!("{printed}"));
    assert!(line.ends_with("}, user tag order-7"), "{line}");
    let [thread] = words_after(&printed, "run by thread ")[..] else { panic!("{printed}") };
    let kernel = |file: &str| fs::read_to_string(format!("/proc/{}/task/{thread}/{file}", server.child.id())).unwrap();
    assert!(printed.contains(&format!("run by thread {thread}, {}: asleep in openat\n", kernel("comm").trim_end())));
    assert!(kernel("syscall").starts_with(&format!("{} ", nix::libc::SYS_openat)), "{}", kernel("syscall"));
    the_chapter_shows(2, "why -p PID", &printed);

    // The disk comes back.
    let mut march = File::options().write(true).open(server.folder.path().join("archive/march")).unwrap();
    march.write_all(b"31 days\n").unwrap();
    drop(march);
    assert!(answer(asked).ends_with("\r\n31 days\n"));
    // The library's own task, which has no types here, stays.
    let is_none = |printed: &str| !printed.contains("waits at ");
    let Printed::Text(_) = server.dyntrace("why -p PID", is_none) else { panic!("it was permitted before") };
}

#[test]
fn the_server_is_well_otherwise() {
    let mut server = Server::start();
    let answers = |path, status: &str, body: &str| {
        let answer = answer(server.ask(path, "id-1"));
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")) && answer.ends_with(body), "{answer}");
        assert!(answer.contains("\r\nx-request-id: id-1\r\n"), "{answer}");
    };
    answers("/health", "200", "\r\n\r\nwell\n");
    answers("/transfer/alice/bob", "200", "\r\n\r\nalice 99, bob 101\n");
    answers("/transfer/alice/alice", "400", "a transfer needs two accounts\n");
    answers("/transfer/alice/mallory", "404", "\"mallory\" has no account\n");
    answers("/report/0", "200", "0 years sealed: 0000000000000000\n");
    answers("/archive/..%2FCargo.toml", "404", "is no name of the archive\n");
    answers("/archive/april", "404", "No such file or directory (os error 2)\n");
    kill(Pid::from_raw(server.child.id().cast_signed()), Signal::SIGINT).unwrap();
    assert!(server.child.wait().unwrap().success());
}

#[test]
fn the_chapter_shows_the_example() {
    let shown = blocks("rust");
    assert_eq!(shown.len(), 3);
    for (code, file) in shown.iter().zip(["accounts.rs", "report.rs", "archive.rs"]) {
        assert!(source(file).contains(code.as_str()), "{file} has no\n{code}");
    }
}
