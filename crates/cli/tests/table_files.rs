//! `dyntrace why` tells which file operation a task waits for: by the table of tasks its name in probes, by memory its path.
#![cfg(target_os = "linux")]

use std::env;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;
use tokio::runtime::Builder;

const VICTIM: &str = "DYNTRACE_TEST_VICTIM";
const OPENS: usize = 3;

async fn opens(pipe: String) {
    // It has no writer.
    dyntrace::fs::File::open(pipe).await.unwrap();
}

/// The program to read.
#[test]
fn victim() {
    let Ok(pipe) = env::var(VICTIM) else { return };
    Builder::new_current_thread().build().unwrap().block_on(async {
        let tasks: Vec<_> = (0..OPENS).map(|_| dyntrace::spawn(opens(pipe.clone()))).collect();
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
        println!("process {}", tasks[0].pid());
        for task in tasks {
            task.await.unwrap();
        }
    });
}

/// Killed when this is dropped.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts the program, and returns it with the pid of its first task.
fn start(folder: &Path) -> (Killed, String) {
    let pipe = folder.join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut victim = Command::new(env::current_exe().unwrap());
    victim.args(["--exact", "victim", "--nocapture"]).env(VICTIM, &pipe).env("DYNTRACE", "tasks");
    let mut program = Killed(victim.env("XDG_RUNTIME_DIR", folder).stdout(Stdio::piped()).spawn().unwrap());
    let lines = BufReader::new(program.0.stdout.take().unwrap()).lines().map(Result::unwrap);
    // The test harness writes the beginning of the first line.
    let pid = lines.into_iter().find_map(|line| Some(line.split_once("process ")?.1.to_owned())).unwrap();
    (program, pid)
}

fn dyntrace(arguments: &[&str]) -> (String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dyntrace"));
    let Output { status, stdout, stderr } = command.args(arguments).output().unwrap();
    let error = String::from_utf8(stderr).unwrap();
    assert!(matches!(status.code(), Some(0 | 5)) || error.contains("ptrace_scope"), "{arguments:?}: {error}");
    (String::from_utf8(stdout).unwrap(), error)
}

#[test]
fn the_operation_of_a_task_has_one_name_in_all_listings() {
    let folder = tempfile::tempdir().unwrap();
    let (program, pid) = start(folder.path());
    let number = program.0.id().to_string();
    let table = folder.path().join(format!("dyntrace/{number}.tasks"));
    let table = table.to_str().unwrap();

    let listed: Value = serde_json::from_str(&dyntrace(&["ps", "--dead", table, "--json"]).0).unwrap();
    let task = listed["tasks"].as_array().unwrap().iter().find(|task| task["pid"] == *pid).unwrap();
    let wait = &task["waits_for"];
    assert_eq!((&wait["operation"], &wait["place"]), (&"OPEN".into(), &Value::Null));
    let operation = wait["resource"].as_str().unwrap().to_owned();
    assert!(operation.starts_with('{') && operation.ends_with('}') && operation.contains(','), "{operation}");

    let told = format!("table: {pid}, table_files::opens spawned at ");
    let (why, error) = dyntrace(&["why", "-p", &number, &pid]);
    if error.contains("ptrace_scope") || why.contains("ptrace_scope") {
        eprintln!("SKIPPED: {error}{why}");
    } else {
        let line = why.lines().find(|line| line.starts_with(&told)).unwrap_or_else(|| panic!("{why}"));
        assert!(line.contains(&format!(", waits in OPEN {operation} for ")), "{line}");
        // With types, memory tells the path.
        if why.contains(" for OPEN of ") {
            let path = folder.path().join("pipe");
            let by_memory = format!(" for OPEN of {}, operation {operation}\n", path.display());
            assert!(why.contains(&by_memory), "{why}");
        }
    }

    drop(program);
    let (why, _) = dyntrace(&["why", "--dead", table, &pid]);
    let head = format!("1 task waits in OPEN {operation} for ");
    assert!(why.starts_with(&head) && why.contains(&format!("\n{pid}, table_files::opens spawned at ")), "{why}");
    // Each has an operation of its own, so all are told together.
    let (all, _) = dyntrace(&["why", "--dead", table]);
    assert!(all.contains(&format!("{OPENS} tasks wait in OPEN ({OPENS} different) for ")), "{all}");
    let (lines, _) = dyntrace(&["ps", "--dead", table, "--all"]);
    let line = lines.lines().find(|line| line.contains(&format!("{pid} "))).unwrap();
    assert!(line.contains(&format!("OPEN {operation} since ")), "{line}");
}
