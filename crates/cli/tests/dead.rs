//! `dyntrace ps --dead`: a program that knows its tasks is killed, and its table has the same.
#![cfg(target_os = "linux")]

#[path = "common/page.rs"]
mod page;

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::future::pending;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::rc::Rc;
use std::sync::mpsc;

use dyntrace::process;
use serde_json::Value;
use tokio::runtime::Builder;
use tokio::task::{LocalSet, yield_now};

const VICTIM: &str = "DYNTRACE_TEST_VICTIM";
const REQUESTS: u64 = 20;

/// Polls of a request, as it counts them itself.
type Polls = Rc<std::cell::Cell<u64>>;

async fn request(number: u64, polls: Polls) {
    let polled = || polls.set(polls.get() + 1);
    polled();
    dyntrace::put_tag(format!("request {number}")).unwrap();
    for _ in 0..number {
        yield_now().await;
        polled();
    }
    println!("task {} {} {number}", process::current(), polls.get());
    dyntrace::wait("the lock", pending::<()>()).await;
}

async fn hanging() {
    println!("hangs {}", process::current());
    loop {
        std::thread::park();
    }
}

/// The program to kill.
#[test]
fn victim() {
    if env::var_os(VICTIM).is_none() {
        return;
    }
    if let Ok(count) = env::var(VICTIM).unwrap().parse() {
        return many(count);
    }
    let runtime = Builder::new_current_thread().build().unwrap();
    let (sender, receiver) = mpsc::channel();
    LocalSet::new().block_on(&runtime, async {
        dyntrace::spawn_blocking(move || {
            sender.send(process::current()).unwrap();
            loop {
                std::thread::park();
            }
        });
        println!("job {}", receiver.recv().unwrap());
        for _ in 0..100 {
            dyntrace::spawn_local(yield_now()).await.unwrap();
        }
        let polls: Vec<Polls> = (0..REQUESTS).map(|_| Polls::default()).collect();
        for (number, polls) in (0..).zip(&polls) {
            dyntrace::spawn_local(request(number, Rc::clone(polls)));
        }
        while (0..).zip(&polls).any(|(number, polls)| polls.get() <= number) {
            yield_now().await;
        }
        let hanging = dyntrace::spawn_local(hanging());
        dyntrace::spawn_local(request(99, Polls::default()));
        hanging.await.unwrap();
    });
}

fn many(count: usize) {
    LocalSet::new().block_on(&Builder::new_current_thread().build().unwrap(), async {
        for _ in 0..count {
            dyntrace::spawn_local(pending::<()>());
        }
        hanging().await
    });
}

/// Killed when this is dropped.
struct Program(Child);

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn dead(table: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dyntrace"));
    command.args(["ps", "--dead"]).arg(table).args(arguments).env("TZ", "UTC").output().unwrap()
}

fn json(table: &Path) -> Value {
    let output = dead(table, &["--json"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_killed_program_leaves_its_tasks() {
    let runtime = tempfile::tempdir().unwrap();
    let mut victim = Command::new(env::current_exe().unwrap());
    victim.args(["--exact", "victim", "--nocapture"]).env(VICTIM, "tasks").env("DYNTRACE", "tasks");
    let program = victim.env("XDG_RUNTIME_DIR", runtime.path()).stdout(Stdio::piped()).spawn().unwrap();
    let mut program = Program(program);
    let pid = program.0.id();
    let mut requests = BTreeMap::new();
    let mut job = String::new();
    let mut hangs = String::new();
    for line in BufReader::new(program.0.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        // The test harness writes the beginning of the first line.
        let words: Vec<_> = line.split(' ').skip_while(|word| !["task", "job", "hangs"].contains(word)).collect();
        match words[..] {
            ["task", pid, polls, number] => {
                requests.insert(pid.to_owned(), (polls.parse::<u64>().unwrap(), format!("request {number}")));
            }
            ["job", pid] => job = pid.to_owned(),
            ["hangs", pid] => {
                hangs = pid.to_owned();
                break;
            }
            _ => {}
        }
    }
    assert_eq!(requests.len() as u64, REQUESTS);
    let table = runtime.path().join(format!("dyntrace/{pid}.tasks"));
    let alive = json(&table);
    program.0.kill().unwrap();
    program.0.wait().unwrap();
    let listed = json(&table);
    assert_eq!(alive, listed, "the program's runtime is blocked, so nothing changes before it is killed");

    assert_eq!((&listed["process"], &listed["notes"]), (&pid.into(), &Value::Array(Vec::new())));
    let tasks = listed["tasks"].as_array().unwrap();
    let task =
        |pid: &str| tasks.iter().find(|task| task["pid"] == pid).unwrap_or_else(|| panic!("no {pid} in {tasks:?}"));
    // The requests, the job, the task that hangs, and the one that it keeps from its first poll. Ended ones are gone.
    assert_eq!(tasks.len(), requests.len() + 3);
    let mut since = Vec::new();
    for (pid, (polls, tag)) in &requests {
        let task = task(pid);
        assert_eq!((&task["polls"], &task["tag"]), (&Value::from(*polls), &Value::from(&**tag)));
        assert_eq!(
            (&task["state"], &task["kind"], &task["function"]),
            (&"idle".into(), &"future".into(), &"dead::request".into())
        );
        let wait = &task["waits_for"];
        assert_eq!((&wait["operation"], &wait["resource"]), (&"wait".into(), &"the lock".into()));
        assert!(
            [&task["place"], &wait["place"]].iter().all(|place| place.as_str().unwrap().contains("tests/dead.rs:"))
        );
        let time = |name: &str| task[name].as_i64().unwrap();
        assert!(time("spawned_ns") <= wait["since_ns"].as_i64().unwrap() && time("spawned_ns") <= time("since_ns"));
        assert!(
            time("longest_ns") <= time("busy_ns") + 1
                && time("busy_ns") <= time("since_ns") - time("spawned_ns") + 1_000_000
        );
        since.push(wait["since_ns"].as_i64().unwrap());
    }
    // Times count from 1970: the program ran after the table's folder was made, and before now.
    let changed = fs::metadata(runtime.path()).unwrap().modified().unwrap();
    let made = changed.duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos() as i64;
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos() as i64;
    let second = 1_000_000_000;
    assert!(since.iter().all(|since| (made - second..now + second).contains(since)), "{made} {since:?} {now}");

    let job = task(&job);
    assert_eq!((&job["kind"], &job["state"], &job["polls"]), (&"blocking".into(), &"running".into(), &1.into()));
    let hangs = task(&hangs);
    assert_eq!(
        (&hangs["state"], &hangs["function"], &hangs["polls"]),
        (&"running".into(), &"dead::hanging".into(), &1.into())
    );
    assert!(hangs["thread"].is_u64() && hangs["waits_for"].is_null());
    let new: Vec<_> = tasks.iter().filter(|task| task["state"] == "scheduled").collect();
    assert!(new.len() == 1 && new[0]["polls"] == 0 && new[0]["thread"].is_null(), "{new:?}");

    let text = String::from_utf8(dead(&table, &[]).stdout).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let [titles, _, in_one, .., foot] = lines[..] else { panic!("{text}") };
    assert!(titles.starts_with("TASKS  PID ") && lines.len() == 6, "{text}");
    let polls: u64 = requests.values().map(|(polls, _)| polls).sum();
    for part in [", ...  dead::request ", "  (20 different)  idle ", &format!("  {polls}  "), "wait the lock at "] {
        assert!(in_one.trim_start().starts_with("20  <0.") && in_one.contains(part), "{part}: {text}");
    }
    assert_eq!(foot, format!("{} tasks in the table of process {pid}", tasks.len()));
    let text = String::from_utf8(dead(&table, &["--all"]).stdout).unwrap();
    let line = text.lines().find(|line| line.contains(" request 7 ")).unwrap();
    assert!(line.contains(" dead::request ") && line.contains(" idle ") && line.contains("  8  "), "{text}");
    assert!(line.contains("wait the lock at ") && line.contains("tests/dead.rs:"), "{text}");
    assert!(text.ends_with(&format!("{} tasks in the table of process {pid}\n", tasks.len())), "{text}");

    let mut fields = page::Fields::new(&[]);
    fields.add(&listed);
    let damaged = damaged(&table);
    assert_eq!(damaged["tasks"].as_array().unwrap().len(), tasks.len());
    assert!(damaged["damaged_texts"].as_u64().unwrap() > 0 && damaged["notes"].as_array().unwrap().len() == 3);
    fields.add(&damaged);
    fields.add(&counted(&table));
    fields.are_those_below("dyntrace ps --dead --json");
}

/// The table without its texts, with a clock that was changing, and with 3 tasks that had no slot.
fn damaged(table: &Path) -> Value {
    let mut bytes = fs::read(table).unwrap();
    let word = |bytes: &[u8], word: usize| u64::from_ne_bytes(bytes[8 * word..][..8].try_into().unwrap());
    let slots = usize::try_from(word(&bytes, 3)).unwrap();
    bytes[4096..slots].fill(0xff);
    bytes[8 * 8..][..8].copy_from_slice(&1u64.to_ne_bytes());
    bytes[8 * 6..][..8].copy_from_slice(&3u64.to_ne_bytes());
    let copy = table.with_extension("damaged");
    fs::write(&copy, bytes).unwrap();
    let text = String::from_utf8(dead(&copy, &[]).stdout).unwrap();
    assert!(text.contains("note: 3 tasks are missing: they found no slot in the table, which has "), "{text}");
    json(&copy)
}

/// The table with a runtime that has counted 70 tasks.
fn counted(table: &Path) -> Value {
    let mut bytes = fs::read(table).unwrap();
    let copy = table.with_extension("counted");
    for (with_slot, told) in [
        (70, "\nothers: none; the runtimes counted 70 tasks, all of them in the table (as of "),
        (20, "\nothers: not seen; the runtimes counted 70 tasks, of which 20 are in the table (as of "),
    ] {
        for (word, value) in [(12, 1_u64), (13, 70), (14, with_slot)] {
            bytes[8 * word..][..8].copy_from_slice(&value.to_ne_bytes());
        }
        fs::write(&copy, &bytes).unwrap();
        let text = String::from_utf8(dead(&copy, &[]).stdout).unwrap();
        assert!(text.contains(told), "{text}");
    }
    json(&copy)
}

/// The file may grow to the first slots only.
#[test]
fn tasks_without_a_slot_are_counted_and_told() {
    const SLOTS: u64 = 1024;
    let runtime = tempfile::tempdir().unwrap();
    // In units of 512 bytes: the header, the texts, the first slots of 96 bytes, and less than as many again.
    let limit = (4096 + (16 << 20) + SLOTS * 96 * 3 / 2) / 512;
    let mut victim = Command::new("sh");
    victim.args(["-c", &format!("ulimit -f {limit}; exec \"$@\""), "sh"]).arg(env::current_exe().unwrap());
    victim.args(["--exact", "victim", "--nocapture"]).env(VICTIM, (SLOTS + 476).to_string()).env("DYNTRACE", "tasks");
    let program = victim.env("XDG_RUNTIME_DIR", runtime.path()).stdout(Stdio::piped()).spawn().unwrap();
    let mut program = Program(program);
    let mut lines = BufReader::new(program.0.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("hangs ")), "the program has ended");
    program.0.kill().unwrap();
    program.0.wait().unwrap();
    let table = runtime.path().join(format!("dyntrace/{}.tasks", program.0.id()));
    let listed = json(&table);
    assert_eq!((listed["tasks"].as_array().unwrap().len() as u64, &listed["without_slot"]), (SLOTS, &476.into()));
    let text = String::from_utf8(dead(&table, &[]).stdout).unwrap();
    assert!(text.contains("\nnote: 476 tasks are missing: they found no slot in the table"), "{text}");
}

#[test]
fn a_file_that_is_no_table_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let text = folder.path().join("text");
    fs::write(&text, "no table ".repeat(1000)).unwrap();
    let missing = folder.path().join("missing");
    for (file, expected) in [
        (&pipe, "it is not a regular file"),
        (&text, "it is no table of tasks of version 4"),
        (&missing, "No such file or directory"),
    ] {
        let output = dead(file, &[]);
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.contains("cannot read the table of tasks ") && error.contains(expected), "{error}");
        assert_eq!((output.status.code(), &output.stdout[..]), (Some(1), &b""[..]));
    }
}
