//! `dyntrace ps --dead` of a running program, beside its recording: tasks come and go while the table is read, and children are forked.
#![cfg(target_os = "linux")]

use std::collections::BTreeSet;
use std::env;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use nix::libc;
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{ForkResult, fork};
use serde_json::Value;
use tokio::runtime::Builder;
use tokio::task::yield_now;

const VICTIM: &str = "DYNTRACE_TEST_VICTIM";
const STANDING: usize = 100;
const READINGS: usize = 30;

async fn standing(number: usize) {
    for turn in 0_u64.. {
        // A tag's place in the texts is freed and taken by another while it is read.
        dyntrace::put_tag(format!("standing {number}, turn {}", turn % 7)).unwrap();
        tokio::time::sleep(Duration::from_micros(200)).await;
    }
}

async fn passing() {
    dyntrace::put_tag("passing").unwrap();
    yield_now().await;
}

/// Has tasks of its own, and no table to keep them in.
fn child() -> ! {
    let runtime = Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        for _ in 0..20 {
            dyntrace::spawn(passing()).await.unwrap();
        }
    });
    // SAFETY: nothing of the parent is to be dropped here.
    unsafe { libc::_exit(7) }
}

/// The program to read.
#[test]
fn victim() {
    if env::var_os(VICTIM).is_none() {
        return;
    }
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_time().build().unwrap();
    for number in 0..STANDING {
        runtime.spawn(async move { dyntrace::spawn(standing(number)).await });
    }
    for _ in 0..4 {
        runtime.spawn(async {
            loop {
                dyntrace::spawn(passing()).await.unwrap();
            }
        });
    }
    for number in 0.. {
        // SAFETY: the child takes no lock that another thread may have: those of the allocator and of dyntrace are free in it.
        match unsafe { fork() }.unwrap() {
            ForkResult::Child => child(),
            ForkResult::Parent { child } => {
                assert_eq!(waitpid(child, None).unwrap(), WaitStatus::Exited(child, 7));
            }
        }
        println!("child {number}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Killed when this is dropped.
struct Program(Child);

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn listed(table: &Path) -> Value {
    let output =
        Command::new(env!("CARGO_BIN_EXE_dyntrace")).args(["ps", "--json", "--dead"]).arg(table).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Each standing task once, with a tag that it had. A slot may be left out that changed at each reading, which is counted.
fn check(listed: &Value) {
    let tasks = listed["tasks"].as_array().unwrap();
    let pids: BTreeSet<_> = tasks.iter().map(|task| task["pid"].as_str().unwrap()).collect();
    assert_eq!(pids.len(), tasks.len(), "no task twice");
    let mut seen = BTreeSet::new();
    for task in tasks {
        let tag = task["tag"].as_str();
        match task["function"].as_str().unwrap() {
            "dead_changing::standing" => {
                // Before its first poll it has no tag.
                let Some(tag) = tag else { continue };
                let (number, turn) = tag.strip_prefix("standing ").and_then(|tag| tag.split_once(", turn ")).unwrap();
                assert!(turn.parse::<u8>().unwrap() < 7, "{tag}");
                assert!(seen.insert(number.parse::<usize>().unwrap()), "{tag}: twice");
            }
            "dead_changing::passing" => assert!(tag.is_none_or(|tag| tag == "passing"), "{tag:?}"),
            other => panic!("{other} in {task}"),
        }
    }
    let unsettled = usize::try_from(listed["unsettled"].as_u64().unwrap()).unwrap();
    assert!(seen.len() + unsettled >= STANDING, "{} and {unsettled}", seen.len());
    let none = ["without_slot", "without_space", "damaged_texts", "cut"];
    assert!(none.iter().all(|count| listed[count] == 0), "{listed}");
}

#[test]
fn a_changing_table_is_read_beside_a_recording() {
    let place = tempfile::tempdir().unwrap();
    let trace = place.path().join("trace");
    let mut victim = Command::new(env::current_exe().unwrap());
    victim.args(["--exact", "victim", "--nocapture"]).env(VICTIM, "1").env("XDG_RUNTIME_DIR", place.path());
    victim.env("DYNTRACE", format!("tasks,record:{}", trace.display())).stdout(Stdio::piped());
    let mut program = Program(victim.spawn().unwrap());
    let mut lines = BufReader::new(program.0.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.any(|line| line == "child 5"), "the program has ended");
    let table = place.path().join(format!("dyntrace/{}.tasks", program.0.id()));
    for _ in 0..READINGS {
        check(&listed(&table));
    }
    let after = lines.find_map(|line| line.strip_prefix("child ").map(str::to_owned)).unwrap();
    assert!(after.parse::<u32>().unwrap() > 5, "it goes on");
    program.0.kill().unwrap();
    program.0.wait().unwrap();
    check(&listed(&table));
    let view = Command::new(env!("CARGO_BIN_EXE_dyntrace")).arg("view").arg(&trace).output().unwrap();
    let said = String::from_utf8(view.stdout).unwrap();
    assert!(view.status.success() && said.contains("dead_changing::standing"), "{said:.1000}");
}
