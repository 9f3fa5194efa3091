//! `dyntrace polls` counts as the program does.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Lines, Write};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use nix::sys::signal::{self, Signal};
use nix::unistd::Pid;
use serde_json::Value;

use crate::machine::{self, OLD_BPFTRACE, turn};
use crate::programs::example;

/// Rounds of each task.
const ROUNDS: u64 = 300;

/// The output of the program and of the tracer.
struct ToldPolls {
    program: Vec<String>,
    tracer: Value,
}

/// A process of the program, and its output.
struct Worker {
    process: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Worker {
    /// Starts the program. It is ready to work.
    fn start(program: &Path) -> Worker {
        let mut command = Command::new(program);
        let mut process = command.arg(ROUNDS.to_string()).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        assert_eq!(lines.next().unwrap().unwrap(), "ready");
        Worker { process, lines }
    }

    /// Has it work, and returns what it has counted.
    fn work(&mut self) -> Vec<String> {
        self.process.stdin.as_mut().unwrap().write_all(b"go\n").unwrap();
        self.lines.by_ref().map(Result::unwrap).take_while(|line| line != "done").collect()
    }

    fn end(&mut self) {
        drop(self.process.stdin.take());
        self.process.wait().unwrap();
    }
}

/// Runs the program under `dyntrace polls`, which begins before the program's work and ends after it. Another process of the program
/// works meanwhile.
fn told(tool: &str, program: &Path, options: &[&str]) -> ToldPolls {
    let polls = machine::command_for(tool, env!("CARGO_BIN_EXE_dyntrace"));
    told_by(polls, 0, program, options, |_, polls| {
        signal::kill(Pid::from_raw(polls.id().cast_signed()), Signal::SIGTERM).unwrap();
    })
}

/// The same by this `dyntrace`, which must end with `status` after `end` of the program or of itself.
fn told_by(
    mut polls: Command,
    status: i32,
    program: &Path,
    options: &[&str],
    end: impl Fn(&mut Worker, &Child),
) -> ToldPolls {
    let [mut other, mut program] = [program, program].map(Worker::start);
    polls.args(["polls", "--json", "--for", "10m", "-p", &program.process.id().to_string()]).args(options);
    let mut polls = polls.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(polls.stderr.take().unwrap()).lines().map(Result::unwrap);
    let mut before = Vec::new();
    for line in said.by_ref() {
        before.push(line);
        if before.last().unwrap().contains("counting polls") {
            break;
        }
    }
    // A tracer that has failed says so below.
    other.work();
    let told = program.work();
    end(&mut program, &polls);
    before.extend(said);
    let output = polls.wait_with_output().unwrap();
    [&mut other, &mut program].into_iter().for_each(Worker::end);
    assert_eq!(output.status.code(), Some(status), "{before:?}");
    ToldPolls { program: told, tracer: serde_json::from_slice(&output.stdout).unwrap() }
}

/// Whether a function of the tool's is the program's: symbols say `polls_truth::ping::{{closure}}`.
fn is(function: &str, name: &str) -> bool {
    let after = function.split_once(&format!("polls_truth::{name}")).map(|(_, after)| after);
    after.is_some_and(|after| !after.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
}

/// The tool's rows, by the program's names. Functions of the runtime have no row.
fn rows<'t>(told: &'t Value, names: &[&'t str]) -> BTreeMap<&'t str, &'t Value> {
    let rows = told["functions"].as_array().unwrap();
    let named = |row: &Value| *names.iter().find(|name| is(row["function"].as_str().unwrap(), name)).unwrap();
    rows.iter()
        .filter(|row| row["function"].as_str().unwrap().contains("polls_truth"))
        .map(|row| (named(row), row))
        .collect()
}

fn check(tool: &str) {
    let Some(_turn) = turn(tool, true) else { return };
    let ToldPolls { program, tracer } = told(tool, &example("polls_truth"), &["--slow", "20ms"]);
    let words: Vec<Vec<&str>> = program.iter().map(|line| line.split(' ').collect()).collect();
    let number = |text: &str| text.parse::<u64>().unwrap();
    let names: Vec<&str> = words.iter().filter(|words| words[0] == "polls").map(|words| words[1]).collect();
    let rows = rows(&tracer, &names);
    assert_eq!(rows.len(), names.len(), "{tracer}");
    let mut wakes = BTreeMap::new();
    for words in &words {
        match words[..] {
            ["polls", name, polls] => assert_eq!(rows[name]["polls"], number(polls), "{name}: {tracer}"),
            // The tracer's time begins before the program's own, and ends after it.
            ["busy", name, busy] => {
                assert!(rows[name]["poll"]["total"].as_u64() >= Some(number(busy)), "{name}: {tracer}")
            }
            ["wakes", by, woken, count] => drop(wakes.insert((by.to_owned(), woken.to_owned()), number(count))),
            _ => panic!("{words:?}"),
        }
    }
    let mut told = BTreeMap::new();
    for row in tracer["wakes"].as_array().unwrap() {
        let name = |field: &str| {
            let function = row[field].as_str();
            function.map_or(Some("-"), |function| names.iter().copied().find(|name| is(function, name)))
        };
        let (Some(by), Some(woken)) = (name("by"), name("woken")) else { panic!("{row}") };
        told.insert((by.to_owned(), woken.to_owned()), row["count"].as_u64().unwrap());
    }
    // The set of local tasks wakes itself when it has polled many of them.
    told.retain(|(_, woken), _| woken != "nest");
    assert_eq!(told, wakes);
    // Each poll but the first was woken.
    for name in ["ping", "restless", "restless_inside", "listener"] {
        assert_eq!(rows[name]["woken"], rows[name]["polls"].as_u64().unwrap() - 1, "{name}: {tracer}");
    }
    let slow = tracer["slow"].as_array().unwrap();
    assert_eq!(slow.iter().filter(|poll| is(poll["function"].as_str().unwrap(), "blocker")).count(), 3, "{tracer}");
    assert_eq!(tracer["running"], Value::Array(Vec::new()));
    assert_eq!(tracer["lost"], serde_json::json!({ "polls": 0, "waits": 0, "percentiles": 0, "wakes": 0, "slow": 0 }));
}

#[test]
fn polls_and_wakes() {
    check("bpftrace");
}

#[test]
fn polls_and_wakes_by_an_old_bpftrace() {
    check(OLD_BPFTRACE);
}

/// Without symbols, functions have no names, and a task's wakes while it is polled are not seen.
#[test]
fn a_stripped_program() {
    for tool in ["bpftrace", OLD_BPFTRACE] {
        let Some(_turn) = turn(tool, true) else { continue };
        let folder = tempfile::tempdir().unwrap();
        let stripped = folder.path().join("stripped");
        machine::run(machine::command("strip").arg("-o").arg(&stripped).arg(example("polls_truth")));
        let ToldPolls { program, tracer } = told(tool, &stripped, &[]);
        let mut expected: Vec<u64> =
            program.iter().filter_map(|line| line.strip_prefix("polls ")?.split_once(' ')?.1.parse().ok()).collect();
        let rows = tracer["functions"].as_array().unwrap();
        let mut polls: Vec<u64> =
            rows.iter().filter(|row| row["job"] == false).map(|row| row["polls"].as_u64().unwrap()).collect();
        expected.sort_unstable();
        polls.sort_unstable();
        assert_eq!(polls, expected, "{tracer}");
        assert!(tracer["notes"].to_string().contains("no symbols tell where tasks are woken"), "{tracer}");
    }
}

/// Maps with room for three keys, until the program ends: what they have no room for is counted, and makes no figure.
#[test]
fn more_than_the_maps_have_room_for() {
    let Some(_turn) = turn("bpftrace", true) else { return };
    let folder = tempfile::tempdir().unwrap();
    let bpftrace = folder.path().join("bpftrace");
    let variables = "BPFTRACE_MAP_KEYS_MAX=3 BPFTRACE_MAX_MAP_KEYS=3";
    let script = format!("#!/bin/sh\n{variables} exec {}/bpftrace \"$@\"\n", machine::tracers().display());
    std::fs::write(&bpftrace, script).unwrap();
    std::fs::set_permissions(&bpftrace, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut polls = machine::command(env!("CARGO_BIN_EXE_dyntrace"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::iter::once(folder.path().to_owned()).chain(std::env::split_paths(&path));
    polls.env("PATH", std::env::join_paths(path).unwrap());
    let ToldPolls { program, tracer } = told_by(polls, 3, &example("polls_truth"), &[], |program, _| program.end());
    let words: Vec<Vec<&str>> = program.iter().map(|line| line.split(' ').collect()).collect();
    let of = |kind: &str| -> BTreeMap<String, u64> {
        let counts = words.iter().filter(|words| words[0] == kind).map(|words| words[1..].split_last().unwrap());
        counts.map(|(count, names)| (names.join(" wakes "), count.parse().unwrap())).collect()
    };
    let (polls, wakes) = (of("polls"), of("wakes"));
    let names: Vec<&str> = polls.keys().map(String::as_str).collect();
    let lost = |field: &str| tracer["lost"][field].as_u64().unwrap();
    let rows = rows(&tracer, &names);
    let counted: u64 = rows.values().map(|row| row["polls"].as_u64().unwrap()).sum();
    assert_eq!(counted + lost("polls"), polls.values().sum::<u64>(), "{tracer}");
    assert!(rows.len() <= 3 && rows.iter().all(|(name, row)| row["polls"].as_u64() <= Some(polls[*name])), "{tracer}");
    let mut counted = 0;
    for row in tracer["wakes"].as_array().unwrap() {
        let name = |field: &str| names.iter().copied().find(|name| is(row[field].as_str().unwrap_or("-"), name));
        let (by, woken, count) = (name("by").unwrap_or("-"), name("woken").unwrap(), row["count"].as_u64().unwrap());
        // A waker of whose poll nothing is known is not taken for a thread outside of tasks.
        assert!(woken == "nest" || wakes.get(&format!("{by} wakes {woken}")) >= Some(&count), "{row}");
        counted += count;
    }
    assert!(counted + lost("wakes") >= wakes.values().sum(), "{tracer}");
}

/// The count ends by itself, and with the program.
#[test]
fn the_end_of_the_time_and_of_the_program() {
    // That of the new version with the program: see above.
    for (tool, ends) in [("bpftrace", false), (OLD_BPFTRACE, false), (OLD_BPFTRACE, true)] {
        let Some(_turn) = turn(tool, true) else { continue };
        let mut program = Command::new(example("polls_truth"));
        let mut program = program.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(program.stdout.take().unwrap()).lines();
        assert_eq!(lines.next().unwrap().unwrap(), "ready");
        let mut polls = machine::command_for(tool, env!("CARGO_BIN_EXE_dyntrace"));
        polls.args(["polls", "--for", if ends { "10m" } else { "100ms" }, "-p", &program.id().to_string()]);
        let mut polls = polls.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut said = BufReader::new(polls.stderr.take().unwrap()).lines().map(Result::unwrap);
        assert!(said.by_ref().any(|line| line.contains("counting polls")));
        if ends {
            drop(program.stdin.take());
            program.wait().unwrap();
        }
        let rest: Vec<String> = said.collect();
        let output = polls.wait_with_output().unwrap();
        drop(program.stdin.take());
        program.wait().unwrap();
        assert!(output.status.success(), "{}: {rest:?}", output.status);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.starts_with("no poll ended in "), "{text}");
    }
}

/// The functions of each row of a table. Builds differ in the ends of their names.
fn names(text: &str, title: &str) -> Vec<String> {
    let table = text.lines().skip_while(|line| !line.trim_start().starts_with(title)).skip(1);
    let rows = table.take_while(|line| !line.is_empty());
    let functions = |line: &str| {
        let cells: Vec<&str> = line.trim_start().split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect();
        let first = if title == "WAKES" { 1 } else { cells.len() - 1 };
        let plain: Vec<&str> = cells[first..].iter().filter_map(|name| name.split("::{").next()).collect();
        plain.join(" wakes ")
    };
    rows.map(functions).collect()
}

/// The chapter *A program is slow*: its program is the example, and each command prints the functions that the chapter shows.
#[test]
fn the_chapter_about_slow_polls() {
    let Some(_turn) = turn("bpftrace", true) else { return };
    let chapter = std::fs::read_to_string(machine::workspace().join("docs/slow_polls.md")).unwrap();
    let source = std::fs::read_to_string(machine::workspace().join("crates/tasks/examples/slow_poll.rs")).unwrap();
    let blocks = |language: &str| -> Vec<&str> {
        let code = chapter.split("```").skip(1).step_by(2);
        code.filter_map(|block| block.strip_prefix(language)?.strip_prefix('\n')).collect()
    };
    assert!(blocks("rust").iter().all(|code| source.contains(code)), "{source}");
    let shown = blocks("console");
    assert_eq!(shown.len(), 2);
    for block in shown {
        let (command, expected) = block.strip_prefix("$ dyntrace ").unwrap().split_once('\n').unwrap();
        let (command, argument) = command.split_once(" # ").unwrap_or((command, ""));
        let mut program = Command::new(example("slow_poll")).arg(argument).spawn().unwrap();
        let pid = program.id().to_string();
        // The chapter's counts are those of five seconds; this only looks for the functions.
        let mut polls = machine::command(env!("CARGO_BIN_EXE_dyntrace"));
        polls.args(command.split(' ').map(|word| if word == "PID" { &pid } else { word }));
        let output = polls.output().unwrap();
        program.kill().unwrap();
        program.wait().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let [told, chapters] = [&text, expected].map(|text| names(text, "POLLS"));
        assert_eq!(told[0], chapters[0], "the busiest of {text}");
        for title in ["POLLS", "WAKES"] {
            let told = names(&text, title);
            assert!(names(expected, title).iter().all(|name| told.contains(name)), "{expected}\n{text}");
        }
    }
}
