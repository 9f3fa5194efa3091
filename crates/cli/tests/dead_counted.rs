//! `dyntrace ps --dead` tells how many tasks a runtime of `dyntrace::runtime` has that are not in the table, also after kill -9.
#![cfg(target_os = "linux")]

use std::env;
use std::future::pending;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use dyntrace::runtime::Builder;
use serde_json::Value;

const VICTIM: &str = "DYNTRACE_TEST_VICTIM";
const OTHERS: u64 = 30;
const OWN: u64 = 5;

/// The program to kill.
#[test]
fn victim() {
    let Some(kept_by) = env::var_os(VICTIM) else { return };
    // Runtimes that have ended do not count.
    for _ in 0..3 {
        let ended = Builder::new_multi_thread().worker_threads(2).build().unwrap();
        ended.spawn(pending::<()>());
        ended.block_on(async { dyntrace::spawn(async {}).await.unwrap() });
    }
    let mut builder = match kept_by.to_str() {
        Some("environment") => Builder::new_multi_thread(),
        _ => Builder::new_current_thread(),
    };
    let runtime = builder.tasks(kept_by == "builder").build().unwrap();
    runtime.block_on(async {
        for _ in 0..OTHERS {
            tokio::spawn(pending::<()>());
        }
        // In the table, and no task of the runtime.
        dyntrace::spawn_blocking(std::thread::park);
        let part = dyntrace::process::child(pending::<()>());
        for _ in 0..OWN {
            dyntrace::spawn(pending::<()>());
        }
        println!("ready");
        if kept_by == "builder" {
            // The runtime's only thread never sleeps in the runtime.
            std::thread::park();
        }
        part.await;
    });
}

fn dead(table: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dyntrace"));
    let output = command.args(["ps", "--dead"]).arg(table).args(arguments).env("TZ", "UTC").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn others_are_counted() {
    others_are_counted_in("environment");
}

#[test]
fn others_of_a_blocked_runtime_are_counted() {
    others_are_counted_in("builder");
}

fn others_are_counted_in(kept_by: &str) {
    let folder = tempfile::tempdir().unwrap();
    let mut victim = Command::new(env::current_exe().unwrap());
    victim.args(["--exact", "victim", "--nocapture"]).env(VICTIM, kept_by);
    if kept_by == "environment" {
        victim.env("DYNTRACE", "tasks");
    }
    let mut program = victim.env("XDG_RUNTIME_DIR", folder.path()).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(program.stdout.take().unwrap()).lines();
    let is_ready = lines.any(|line| line.unwrap().contains("ready"));
    program.kill().unwrap();
    program.wait().unwrap();
    assert!(is_ready, "the program has ended");
    let table = folder.path().join(format!("dyntrace/{}.tasks", program.id()));
    let text = dead(&table, &[]);
    let counted = OTHERS + OWN;
    let told =
        format!("\nothers: not seen; the runtimes counted {counted} tasks, of which {OWN} are in the table (as of 20");
    assert!(text.contains(&told), "{text}");
    let listed: Value = serde_json::from_str(&dead(&table, &["--json"])).unwrap();
    assert_eq!(
        (&listed["runtimes"], &listed["counted"], &listed["counted_with_slot"]),
        (&1.into(), &counted.into(), &OWN.into())
    );
    assert_eq!(listed["tasks"].as_array().unwrap().len() as u64, OWN + 2);
    let spawned = listed["tasks"].as_array().unwrap().iter().map(|task| task["spawned_ns"].as_i64().unwrap());
    assert!(listed["counted_ns"].as_i64().unwrap() >= spawned.max().unwrap());
}
