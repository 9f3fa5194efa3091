//! The chapter *Why is my service slow?*: its service is the example file_server. For the recordings in docs/demo each command prints the
//! lines that the chapter shows. For recordings made as the chapter tells it prints the same rows; their times differ from run to run, and
//! are not compared.
#![cfg(target_os = "linux")]

#[path = "../../../tests/common/example.rs"]
mod example;
#[path = "common/interrupts.rs"]
mod interrupts;

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use example::example;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn chapter() -> String {
    fs::read_to_string(root().join("docs/slow_service.md")).unwrap()
}

fn blocks<'c>(chapter: &'c str, language: &str) -> Vec<&'c str> {
    let code = chapter.split("```").skip(1).step_by(2);
    code.filter_map(|block| block.strip_prefix(language)?.strip_prefix('\n')).collect()
}

/// The folder of the chapter, and where its service listens.
struct Place {
    folder: tempfile::TempDir,
    address: String,
}

impl Place {
    fn new() -> Place {
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = free.local_addr().unwrap().to_string();
        Place { folder: tempfile::tempdir().unwrap(), address }
    }

    fn sh(&self, script: &str) {
        let script = script.replace("127.0.0.1:8080", &self.address);
        let status = Command::new("sh").args(["-ec", &script]).current_dir(&self.folder).status().unwrap();
        assert!(status.success(), "{script}");
    }

    /// Has copies of the recordings in docs/demo.
    fn with_demo() -> Place {
        let place = Place::new();
        for day in ["yesterday", "today"] {
            let copied = Command::new("cp")
                .arg("-r")
                .arg(root().join("docs/demo").join(day))
                .arg(place.folder.path().join(day))
                .status();
            assert!(copied.unwrap().success());
        }
        place
    }

    /// Records the service as the trace `name`, under the load.
    fn record(&self, name: &str, load: &str) {
        let mut record = Command::new(env!("CARGO_BIN_EXE_dyntrace"));
        record.args(["record", "-o", name, "--"]).arg(example("file_server")).args(["public", &self.address]);
        let mut record =
            interrupts::heed(&mut record).current_dir(&self.folder).stdout(Stdio::piped()).spawn().unwrap();
        let mut said = String::new();
        BufReader::new(record.stdout.take().unwrap()).read_line(&mut said).unwrap();
        assert!(said.starts_with("serves public on http://127.0.0.1:"), "{said}");
        self.sh(load);
        // The last client has its answer before the service has closed the file.
        for _ in 0..500 {
            if self.has_answers(name) {
                break;
            }
            thread::sleep(Duration::from_millis(20));
        }
        // As Ctrl-C does, to both.
        let service = fs::read_to_string(format!("/proc/{0}/task/{0}/children", record.id())).unwrap();
        for process in service.split_whitespace().map(|pid| pid.parse().unwrap()).chain([record.id().cast_signed()]) {
            kill(Pid::from_raw(process), Signal::SIGINT).unwrap();
        }
        record.wait().unwrap();
    }

    /// Whether all operations in the trace have ended.
    fn has_answers(&self, name: &str) -> bool {
        let events = self.dyntrace(&format!("view {name} --json"));
        let count = |probe: &str| events.matches(&format!("\"dyntrace:efile_drv-{probe}\"")).count();
        count("entry") == count("return")
    }

    /// Runs a command of the chapter.
    fn dyntrace(&self, command: &str) -> String {
        let output = self.output(command);
        assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn output(&self, command: &str) -> Output {
        let mut dyntrace = Command::new("sh");
        dyntrace.args(["-c", &format!("exec \"$0\" {command}"), env!("CARGO_BIN_EXE_dyntrace")]);
        dyntrace.current_dir(&self.folder).output().unwrap()
    }

    fn page(&self) -> String {
        fs::read_to_string(self.folder.path().join("today.html")).unwrap()
    }
}

/// Keeps the parts that are the same in each run: of an operation's line all but numbers; of a command's row its
/// name and its first numbers, which are counts.
fn general(line: &str) -> String {
    if line.contains(" | ") {
        return line.replace(|character: char| character.is_ascii_digit(), "");
    }
    let words: Vec<&str> = line.split_whitespace().collect();
    let is_number = |word: &&&str| word.bytes().all(|byte| byte.is_ascii_digit());
    let first = words.iter().take_while(|word| !is_number(word)).count();
    let name = words.last().filter(|word| !is_number(word));
    // A read may be short, if only a part is in the cache. Then one more read follows. So only counts of other commands are the same.
    // `A` and `B` are traces, whose counts have the reads, too.
    let is_command = |word: &&&str| word.len() > 1 && word.bytes().all(|byte| byte.is_ascii_uppercase());
    let command = words.first().filter(is_command).or(name.filter(is_command)).filter(|command| **command != "READ");
    let kept = command.map_or(0, |_| 1 + usize::from(first == 0));
    let counts = words[first..].iter().take(kept);
    words[..first].iter().chain(counts).chain(name).copied().collect::<Vec<_>>().join(" ")
}

/// The lines of the chapter that are compared.
fn compared(shown: &str) -> impl Iterator<Item = &str> {
    // Lines that begin with many spaces show figures that differ.
    shown.lines().filter(|line| !line.is_empty() && *line != "..." && !line.starts_with("         "))
}

/// The commands of the chapter, and what it shows of their output.
fn commands(chapter: &str) -> Vec<(&str, &str)> {
    let commands: Vec<_> = blocks(chapter, "console")
        .into_iter()
        .map(|block| block.strip_prefix("$ dyntrace ").unwrap().split_once('\n').unwrap())
        .collect();
    assert_eq!(commands.len(), 5);
    commands
}

/// The rows of the chapter's two tables, which the page has.
fn tables(chapter: &str) -> Vec<Vec<String>> {
    let tables = blocks(chapter, "table");
    assert_eq!(tables.len(), 2);
    let cells =
        |line: &str| line.split("  ").map(|cell| cell.trim().to_owned()).filter(|cell| !cell.is_empty()).collect();
    tables.into_iter().flat_map(str::lines).map(cells).collect()
}

/// Whether an output is what the chapter shows, where `...` stands for any lines.
fn is_shown(printed: &str, shown: &str) -> bool {
    if shown.is_empty() {
        return printed.is_empty();
    }
    let printed = format!("\n{printed}");
    let mut rest = &printed[..];
    for (number, part) in format!("\n{}", shown.trim_end()).split("\n...").enumerate() {
        let Some(place) = rest.find(&format!("{part}\n")) else { return false };
        if number == 0 && place > 0 {
            return false;
        }
        rest = &rest[place + part.len()..];
    }
    shown.ends_with("...\n") || rest == "\n"
}

/// The cells of all tables of a page.
fn rows(page: &str) -> Vec<Vec<String>> {
    let text =
        |cell: &str| cell.split('<').map(|part| part.rsplit('>').next().unwrap()).collect::<String>().trim().to_owned();
    let cells = |row: &str| row.replace("<td", "<th").split("<th").skip(1).map(text).collect();
    page.split("<tr").skip(1).map(cells).collect()
}

/// A cell without what differs from run to run: times, counts of many operations, and the number in a request's tag.
fn general_cell(cell: &str) -> String {
    let is_time = cell.starts_with(|first: char| first.is_ascii_digit()) && cell.ends_with('s');
    let name = cell.trim_end_matches(|last: char| last.is_ascii_digit());
    if is_time {
        "time".into()
    } else if cell.contains(',') && cell.bytes().all(|byte| byte == b',' || byte.is_ascii_digit()) {
        "many".into()
    } else if name.ends_with('-') {
        name.into()
    } else {
        cell.into()
    }
}

#[test]
fn the_chapter_shows_the_example() {
    let example = fs::read_to_string(root().join("crates/tower/examples/file_server.rs")).unwrap();
    let chapter = chapter();
    let shown = blocks(&chapter, "rust");
    assert_eq!(shown.len(), 4);
    for code in shown {
        assert!(example.contains(code), "the example has no\n{code}");
    }
}

#[test]
fn each_command_prints_what_the_chapter_shows() {
    if Command::new("curl").arg("--version").output().is_err() {
        eprintln!("SKIPPED: no curl");
        return;
    }
    let chapter = chapter();
    let [files, load, change] = blocks(&chapter, "sh")[..] else { panic!("three scripts") };
    let place = Place::new();
    place.sh(files);
    place.record("yesterday", load);
    place.sh(change);
    place.record("today", load);

    for (command, shown) in commands(&chapter) {
        let printed = place.dyntrace(command);
        let rows: Vec<String> = printed.lines().map(general).collect();
        for line in compared(shown) {
            assert!(rows.contains(&general(line)), "dyntrace {command} prints no {line:?}, but\n{printed}");
        }
    }

    let general_row = |row: &Vec<String>| -> Vec<String> { row.iter().map(|cell| general_cell(cell)).collect() };
    let page: Vec<_> = rows(&place.page()).iter().map(general_row).collect();
    for row in tables(&chapter).iter().map(general_row) {
        assert!(page.iter().any(|known| known.starts_with(&row)), "the page has no row {row:?}, but\n{page:#?}");
    }
}

#[test]
fn the_recordings_in_the_tree_are_those_of_the_chapter() {
    let chapter = chapter();
    let place = Place::with_demo();
    for (command, shown) in commands(&chapter) {
        let Output { status, stdout, stderr } = place.output(command);
        assert!(
            status.success(),
            "dyntrace {command} ended with {status} in docs/demo: {}\nIf the format of traces has changed, read the older one as \
             well, or record both again by docs/demo/record.",
            String::from_utf8_lossy(&stderr)
        );
        let printed = String::from_utf8(stdout).unwrap();
        assert!(
            is_shown(&printed, shown),
            "docs/slow_service.md does not show what dyntrace {command} prints in docs/demo:\n{printed}"
        );
    }

    let page = place.page();
    let page_rows = rows(&page);
    for row in tables(&chapter) {
        let has_row = page_rows.iter().any(|known| known.starts_with(&row));
        assert!(
            has_row,
            "the page of docs/demo/today has no row {row:?}, which docs/slow_service.md shows, but\n{page_rows:#?}"
        );
    }
    let fact = |name: &str| {
        let (_, facts) = page.split_once("<h2>Slowest requests</h2>").unwrap();
        let before = facts.split(&format!("</b> {name}</li>")).next().unwrap();
        before.rsplit("<b>").next().unwrap().to_owned()
    };
    let facts = format!("all {} (median {}, 90th percentile {})", fact("requests"), fact("p50"), fact("p90"));
    assert!(chapter.contains(&facts), "docs/slow_service.md does not say {facts:?}");
    assert!(page.contains("on web-1</li>"), "docs/demo/record gives the machine another name");
}

#[test]
fn dots_stand_for_any_lines() {
    let printed = "a\nb\nc\nd\n";
    for shown in ["a\nb\nc\nd\n", "a\n...\n", "a\n...\nd\n", "...\nb\nc\n...\n", "...\n", "a\n...\nb\n...\n"] {
        assert!(is_shown(printed, shown), "{shown}");
    }
    assert!(is_shown("", "") && !is_shown(printed, ""));
    for shown in
        ["a\nb\n", "b\n...\n", "a\n...\nc\n", "a\nc\n...\n", "a\n...\nd\n...\nb\n...\n", "e\n", "a\nb\nc\nd\ne\n"]
    {
        assert!(!is_shown(printed, shown), "{shown}");
    }
}
