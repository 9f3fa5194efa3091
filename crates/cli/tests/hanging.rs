//! The chapter *A program hangs*: its programs are examples, and each command prints what the chapter shows.
#![cfg(target_os = "linux")]

#[path = "../../tasks/tests/program/core_file.rs"]
#[allow(dead_code)] // each test uses a part
mod core_file;

use std::collections::HashMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

use nix::sys::ptrace;
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::Pid;

/// The example, killed when this is dropped.
struct Program(Child);

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let profile = test.ancestors().nth(2).unwrap();
    let path = profile.join("examples").join(name);
    if !path.exists() {
        let release = if profile.ends_with("release") { &["--release"][..] } else { &[] };
        let build = ["build", "-p", "dyntrace-tasks", "--example", name];
        assert!(Command::new(env!("CARGO")).args(build).args(release).status().unwrap().success());
    }
    path
}

fn dyntrace(arguments: &str, pid: u32) -> Output {
    let pid = pid.to_string();
    let arguments = arguments.split(' ').map(|argument| if argument == "PID" { &pid } else { argument });
    Command::new(env!("CARGO_BIN_EXE_dyntrace")).args(arguments).output().unwrap()
}

/// The blocks of a language in the chapter, each with the example that was started before it.
fn blocks(language: &str) -> Vec<(String, String)> {
    let chapter = fs::read_to_string(root().join("docs/hanging.md")).unwrap();
    let mut program = "";
    let mut found = Vec::new();
    for block in chapter.split("```").skip(1).step_by(2) {
        let started = block.lines().find_map(|line| line.strip_prefix("$ target/debug/examples/")?.strip_suffix(" &"));
        program = started.unwrap_or(program);
        let shown = block.strip_prefix(language).and_then(|block| block.strip_prefix('\n'));
        found.extend(shown.map(|shown| (program.to_owned(), shown.to_owned())));
    }
    found
}

/// The text with what differs from run to run replaced: addresses by their order, times, versions, and widths of columns; of
/// threads also their ids, their order, and the numbers of functions.
fn general(text: &str) -> String {
    if text.starts_with("thread") {
        let mut threads: Vec<String> = text.split("\n\n").map(general_thread).collect();
        threads.sort();
        return threads.join("\n\n");
    }
    let mut addresses: Vec<&str> = Vec::new();
    let mut lines = Vec::new();
    for line in text.lines() {
        // The runtime's own jobs have the name that its crate's debug information gives them.
        if line.contains("job running") {
            lines.push("the runtime's jobs".to_owned());
            continue;
        }
        let mut words: Vec<String> = Vec::new();
        for word in line.split_whitespace() {
            let is_time = words.len() >= 2 && words.ends_with(&["timer".to_owned(), "in".to_owned()]);
            words.push(if word.starts_with("0x") {
                let known = addresses.iter().position(|address| *address == word).unwrap_or(addresses.len());
                addresses.extend((known == addresses.len()).then_some(word));
                format!("address{known}")
            } else if word.starts_with("tokio-") {
                "tokio".to_owned()
            } else if is_time {
                "time".to_owned()
            } else {
                word.to_owned()
            });
        }
        lines.push(words.join(" "));
    }
    lines.join("\n")
}

fn general_thread(text: &str) -> String {
    let line = |line: &str| {
        let line = line.split(", CPU time").next().unwrap();
        let is_counted = line.starts_with("thread ") || line.contains("functions of the runtime");
        if is_counted { line.replace(|digit: char| digit.is_ascii_digit(), "") } else { line.to_owned() }
    };
    text.trim_end().lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_chapter_shows_the_examples() {
    let shown = blocks("rust");
    assert!(shown.len() > 1);
    for (program, code) in shown {
        let example = root().join(format!("crates/tasks/examples/{program}.rs"));
        let example = fs::read_to_string(example).unwrap();
        assert!(example.contains(&code), "the example has no\n{code}");
    }
}

#[test]
fn each_command_prints_what_the_chapter_shows() {
    let mut programs: HashMap<String, Program> = HashMap::new();
    let start = |name: &String| Program(Command::new(example(name)).spawn().unwrap());
    let mut commands = 0;
    for (program, block) in blocks("console") {
        let pid = programs.entry(program).or_insert_with_key(start).0.id();
        for shown in block.split("$ dyntrace ").skip(1) {
            let (command, expected) = shown.split_once('\n').unwrap();
            let command = command.split(" #").next().unwrap().trim_end();
            let expected = general(expected);
            let mut printed = String::new();
            // The program needs a moment to get stuck.
            for _ in 0..50 {
                let output = dyntrace(command, pid);
                let error = String::from_utf8(output.stderr).unwrap();
                if error.contains("ptrace_scope") {
                    eprintln!("SKIPPED: {error}");
                    return;
                }
                // Before it reaches main, the program is no tokio program that could be read.
                printed = error;
                if output.status.success() {
                    printed = general(&String::from_utf8(output.stdout).unwrap());
                }
                if printed == expected {
                    break;
                }
                sleep(Duration::from_millis(200));
            }
            assert_eq!(printed, expected, "dyntrace {command}");
            commands += 1;
        }
    }
    assert!(commands >= 4, "only {commands} commands are shown");
}

#[test]
fn json_has_a_version_and_the_deadlock() {
    let program = Program(Command::new(example("deadlock")).spawn().unwrap());
    let mut deadlocks = serde_json::Value::Null;
    for _ in 0..50 {
        let output = dyntrace("why -p PID --json", program.0.id());
        if String::from_utf8_lossy(&output.stderr).contains("ptrace_scope") {
            return;
        }
        // Before it reaches main, the program is no tokio program that could be read.
        if output.status.success() {
            let mut listing: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!(listing["version"], 1);
            assert_eq!(listing["futurelocks"], serde_json::json!([]));
            assert_eq!(listing["coverage"]["unknown"], serde_json::Value::Null);
            assert!(listing["tasks"].is_array() && listing["runtimes"].is_array() && listing["notes"].is_array());
            deadlocks = listing["deadlocks"].take();
            if deadlocks[0]["steps"].as_array().is_some_and(|steps| steps.len() == 2) {
                assert_eq!(listing["answer"], "yes");
                return;
            }
        }
        sleep(Duration::from_millis(200));
    }
    panic!("no deadlock of two tasks: {deadlocks}");
}

/// The example deadlock without types, or stripped.
fn stripped(folder: &Path, option: &str) -> Option<PathBuf> {
    let path = folder.join("deadlock");
    fs::copy(example("deadlock"), &path).unwrap();
    match Command::new("strip").arg(option).arg(&path).status() {
        Ok(status) => assert!(status.success()),
        Err(error) => {
            eprintln!("SKIPPED: strip: {error}");
            return None;
        }
    }
    Some(path)
}

#[test]
fn a_deadlock_that_cannot_be_seen_is_not_denied() {
    for option in ["--strip-debug", "--strip-all"] {
        let folder = tempfile::tempdir().unwrap();
        let Some(path) = stripped(folder.path(), option) else { return };
        let program = Program(Command::new(path).spawn().unwrap());
        let pid = program.0.id();
        let unknown = "7 of 7 tasks without types: build with `debug = 2`, or name the debug file by --debug";
        // Before it reaches main, the program is no tokio program that could be read.
        while !String::from_utf8_lossy(&dyntrace("ps -p PID", pid).stdout).contains("\n7 tasks found") {
            let error = String::from_utf8(dyntrace("ps -p PID", pid).stderr).unwrap();
            if error.contains("ptrace_scope") {
                return eprintln!("SKIPPED: {error}");
            }
            sleep(Duration::from_millis(20));
        }
        for command in ["ps", "ps --all", "tree", "why", "why --cycles"] {
            let output = dyntrace(&format!("{command} -p PID"), pid);
            let told = String::from_utf8(output.stdout).unwrap();
            assert_eq!(output.status.code(), Some(5), "{command}: {told}");
            assert!(told.contains(&format!("unknown: {unknown}\n")), "{command}: {told}");
            assert!(!told.contains("no task waits") && !told.contains("no deadlock"), "{command}: {told}");
        }
        assert_eq!(dyntrace("why -p PID 3", pid).status.code(), Some(5));
        let threads = dyntrace("threads -p PID", pid);
        let (status, told) = (threads.status.code(), String::from_utf8(threads.stdout).unwrap());
        // Symbols tell the roles of threads.
        let nameless = "unknown: 3 of 3 threads have no names of functions that tell their roles";
        assert_eq!(
            (status == Some(5), told.contains(nameless)),
            [(false, false), (true, true)][usize::from(option == "--strip-all")],
            "{told}"
        );
        for command in ["ps --json", "why --json"] {
            let output = dyntrace(&format!("{command} -p PID"), pid);
            let listing: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!(
                (output.status.code(), &listing["coverage"]["unknown"]),
                (Some(5), &unknown.into()),
                "{listing}"
            );
            assert_eq!(listing.get("answer").is_some_and(|answer| answer == "unknown"), command.starts_with("why"));
        }
    }
}

#[test]
fn wrong_use_has_a_way_out() {
    let program = Program(Command::new(example("deadlock")).spawn().unwrap());
    let pid = program.0.id();
    sleep(Duration::from_millis(300));
    for (arguments, status, why) in [
        ("ps", 2, "--pid"),
        ("ps -p 0", 2, "--pid"),
        ("ps -p PID --watch 0", 2, "between 0.01 and 1000000"),
        ("tree -p PID a[", 2, "wrong pattern"),
        ("why -p PID 3 --cycles", 2, "cannot be used with"),
        ("ps -p 4294967295", 65, "4294967295"),
        ("why -p PID 99999999", 1, "--all lists the tasks"),
        ("tree -p PID nonexistent", 1, "lists the names"),
        ("ps -p PID --debug /nonexistent", 1, "/nonexistent"),
        ("threads -p PID --debug /nonexistent", 1, "/nonexistent"),
        ("threads -p 4294967295", 65, "4294967295"),
        ("threads -p PID --all --json", 2, "cannot be used with"),
    ] {
        let output = dyntrace(arguments, pid);
        let error = String::from_utf8(output.stderr).unwrap();
        if error.contains("ptrace_scope") {
            eprintln!("SKIPPED: {error}");
            return;
        }
        assert_eq!(output.status.code(), Some(status), "{arguments}: {error}");
        assert!(error.contains(why), "{arguments}: {error}");
    }
}

/// Where the header of a core file's segment with the heap says how many bytes of it the file has; and this number.
fn heap_in(core: &[u8], heap: u64) -> (usize, u64) {
    let word = |at: usize| u64::from_le_bytes(core[at..at + 8].try_into().unwrap());
    let segments = u16::from_le_bytes([core[56], core[57]]);
    let mut headers = (0..usize::from(segments)).map(|index| 64 + 56 * index);
    let header = headers.find(|header| word(header + 16) == heap).expect("a segment of the heap");
    (header + 32, word(header + 32))
}

#[test]
fn of_a_program_that_is_seen_by_half_nothing_is_denied() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(example("tasks_truth"));
    let mut program = Program(command.arg("200").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap());
    let mut line = String::new();
    BufReader::new(program.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let pid = program.0.id();
    let maps = fs::read_to_string(format!("/proc/{pid}/maps")).unwrap();
    let heap = maps.lines().find(|line| line.ends_with("[heap]")).and_then(|line| line.split('-').next()).unwrap();
    let heap = u64::from_str_radix(heap, 16).unwrap();
    let file = folder.path().join("core");
    core_file::write(pid, &file);
    drop(program);
    let whole = fs::read(&file).unwrap();
    let (at, dumped) = heap_in(&whole, heap);
    let with = |dumped: u64| {
        let mut core = whole.clone();
        core[at..at + 8].copy_from_slice(&dumped.to_le_bytes());
        core
    };
    let asked = |core: &[u8], command: &str| {
        // A file that is mapped must not be changed.
        let file = folder.path().join(command.replace(' ', ""));
        let _ = fs::remove_file(&file);
        fs::write(&file, core).unwrap();
        let mut asked = Command::new(env!("CARGO_BIN_EXE_dyntrace"));
        asked.args(command.split(' ')).arg("--core").arg(file).arg("--exe").arg(example("tasks_truth"));
        let output = asked.output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap())
    };
    let cut = whole[..whole.len() / 2].to_vec();
    for (command, core, status, told) in [
        ("why", whole.clone(), 0, "no task waits for a lock"),
        ("ps", with(dumped / 2), 5, "bytes of the program's anonymous memory"),
        ("why", with(dumped / 2), 5, "bytes of the program's anonymous memory"),
        ("why --cycles", cut, 5, "bytes are missing"),
    ] {
        let (ended, text) = asked(&core, command);
        assert!(ended == Some(status) && text.contains(told), "{command}, {told}: {ended:?}: {text}");
    }
}

/// The address of the semaphore that a future waits for.
fn semaphore(future: &serde_json::Value) -> Option<u64> {
    let own = &future["waits_for"];
    let inner = || future["awaits"].as_array()?.iter().find_map(semaphore);
    if own["kind"] == "semaphore" { own["address"].as_u64() } else { inner() }
}

/// Writes a word into the program, in place of those words in `range` that are `from`.
fn replace(pid: u32, range: std::ops::Range<u64>, from: impl Fn(u64) -> bool, to: u64) {
    let memory = fs::File::options().read(true).write(true).open(format!("/proc/{pid}/mem")).unwrap();
    for place in range.step_by(8) {
        let mut word = [0; 8];
        memory.read_exact_at(&mut word, place).unwrap();
        if from(u64::from_le_bytes(word)) {
            memory.write_all_at(&to.to_le_bytes(), place).unwrap();
        }
    }
}

#[test]
fn of_a_running_program_that_is_seen_by_half_nothing_is_denied() {
    for unseen in ["more counted by the runtimes and not found", "of 7 tasks in futures that the reader does not know"]
    {
        let program = Program(Command::new(example("deadlock")).spawn().unwrap());
        let pid = program.0.id();
        let deadlock = loop {
            let output = dyntrace("why -p PID --json", pid);
            let error = String::from_utf8_lossy(&output.stderr);
            if error.contains("ptrace_scope") {
                return eprintln!("SKIPPED: {error}");
            }
            let listing: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
            if listing["answer"] == "yes" {
                break listing;
            }
            sleep(Duration::from_millis(20));
        };
        let transfers = deadlock["deadlocks"][0]["steps"].as_array().unwrap();
        assert_eq!(transfers.len(), 2);
        for address in transfers.iter().map(|step| step["address"].as_u64().unwrap()) {
            let tasks = deadlock["tasks"].as_array().unwrap();
            let task = tasks.iter().find(|task| task["address"] == address).unwrap();
            let lock = semaphore(&task["chain"]["root"]).unwrap();
            let others = tasks.iter().filter_map(|other| other["address"].as_u64());
            let end = others.filter(|other| *other > address).min().unwrap_or(u64::MAX).min(address + 512);
            match unseen.starts_with("more") {
                // The header's pointer to the vtable: nothing leads to the task any more, but the runtime counts it.
                true => replace(pid, address + 0x10..address + 0x18, |_| true, 0),
                // Memory that cannot be read.
                false => replace(pid, address..end, |word| word == lock, 0x10),
            }
        }
        let unknown = format!("unknown: 2 {unseen}");
        // A single look at a program that runs on proves no missing task.
        let stop = if unseen.starts_with("more") { " --stop" } else { "" };
        for command in ["ps", "ps --all", "tree", "why", "why --cycles"] {
            let output = dyntrace(&format!("{command} -p PID{stop}"), pid);
            let told = String::from_utf8(output.stdout).unwrap();
            assert!(
                output.status.code() == Some(5) && told.contains(&unknown),
                "{command}: {:?}: {told}",
                output.status
            );
            assert!(
                !told.contains("no task waits for a lock\n") && !told.contains("futurelock found\n"),
                "{command}: {told}"
            );
        }
        for command in ["ps --json", "why --json"] {
            let output = dyntrace(&format!("{command} -p PID{stop}"), pid);
            let listing: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
            let told = listing["coverage"]["unknown"].as_str().unwrap_or_default();
            assert!(
                output.status.code() == Some(5) && told.contains(&unknown["unknown: ".len()..]),
                "{command}: {told}"
            );
            assert_eq!(listing["answer"] == "unknown", command.starts_with("why"));
        }
    }
}

#[test]
fn a_thread_that_another_tracer_has_is_unknown() {
    let mut program = Program(Command::new(example("deadlock")).spawn().unwrap());
    let pid = program.0.id();
    let threads = || fs::read_dir(format!("/proc/{pid}/task")).unwrap().map(|thread| thread.unwrap().file_name());
    while threads().count() < 3 {
        sleep(Duration::from_millis(5));
    }
    let worker = threads().map(|tid| tid.to_str().unwrap().parse().unwrap()).max().unwrap();
    let worker = Pid::from_raw(worker);
    if let Err(error) = ptrace::seize(worker, ptrace::Options::empty()) {
        return eprintln!("SKIPPED: ptrace: {error}");
    }
    let printed = ["threads -p PID", "threads -p PID --json"].map(|command| dyntrace(command, pid));
    // The program has ended when its tracer has seen the thread's end.
    program.0.kill().unwrap();
    waitpid(worker, Some(WaitPidFlag::__WALL)).unwrap();
    let [text, json] = printed;
    let told = String::from_utf8(text.stdout).unwrap();
    let unknown = "1 of 3 threads could not be held";
    assert!(text.status.code() == Some(5) && told.contains(&format!("unknown: {unknown}\n")), "{told}");
    let listing: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!((json.status.code(), &listing["unknown"]), (Some(5), &unknown.into()));
}
