//! `dyntrace why` follows tasks that wait for the ends of others, and for room in their mailboxes, by the table alone.
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::env;
use std::future::pending;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use dyntrace::mailbox::{Address, Mailbox, Options};
use dyntrace::process::Pid;
use dyntrace::task::JoinHandle;
use serde_json::Value;
use tokio::runtime::Builder;
use tokio::sync::oneshot;
use tokio::task::yield_now;

const VICTIM: &str = "DYNTRACE_TEST_VICTIM";

async fn joins(other: JoinHandle<()>) {
    other.await.unwrap();
}

async fn sends(address: Address<u32>) {
    for number in 0.. {
        address.send(number).await.unwrap();
    }
}

async fn serves(mailbox: Mailbox<u32>) {
    dyntrace::wait("the disk", pending::<()>()).await;
    drop(mailbox);
}

async fn listens(mut mailbox: Mailbox<u32>) {
    mailbox.recv().await;
}

/// Waits for the end of a task that it is told.
async fn ends_after(told: oneshot::Receiver<JoinHandle<()>>) {
    told.await.unwrap().await.unwrap();
}

/// Sends to the mailbox that it is told, and does not look into its own one.
async fn answers(own: Mailbox<u32>, told: oneshot::Receiver<Address<u32>>) {
    sends(told.await.unwrap()).await;
    drop(own);
}

/// The program to read. Its runtime is blocked at the end, so that no task changes while it is read.
#[test]
fn victim() {
    if env::var_os(VICTIM).is_none() {
        return;
    }
    Builder::new_current_thread().build().unwrap().block_on(async {
        let say = |name: &str, pid: Pid| println!("process {name} {pid}");
        let (address, server) = Options::new().bounded(2).spawn(serves);
        say("server", server.pid());
        let sender = dyntrace::spawn(sends(address));
        say("sender", sender.pid());
        say("joiner", dyntrace::spawn(joins(sender)).pid());
        let (_address, listener) = Options::new().bounded(2).spawn(listens);
        say("listener", listener.pid());
        say("waits for listener", dyntrace::spawn(joins(listener)).pid());

        let (tell, told) = oneshot::channel();
        let one = dyntrace::spawn(ends_after(told));
        say("one", one.pid());
        let other = dyntrace::spawn(joins(one));
        say("other", other.pid());
        tell.send(other).unwrap();

        let ((tell_left, told_left), (tell_right, told_right)) = (oneshot::channel(), oneshot::channel());
        let mailbox = || Options::new().bounded(1);
        let (to_left, left) = mailbox().spawn(|own| answers(own, told_left));
        let (to_right, right) = mailbox().spawn(|own| answers(own, told_right));
        say("left", left.pid());
        say("right", right.pid());
        tell_left.send(to_right).unwrap();
        tell_right.send(to_left).unwrap();
        say("behind", dyntrace::spawn(joins(left)).pid());
        // Each task runs until it waits for another one.
        for _ in 0..20 {
            yield_now().await;
        }
        println!("process ready -");
        loop {
            std::thread::park();
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

/// Starts the program, and returns it with the pids that it told.
fn start(runtime: &Path) -> (Killed, BTreeMap<String, String>) {
    let mut victim = Command::new(env::current_exe().unwrap());
    victim.args(["--exact", "victim", "--nocapture"]).env(VICTIM, "tasks").env("DYNTRACE", "tasks");
    let mut program = Killed(victim.env("XDG_RUNTIME_DIR", runtime).stdout(Stdio::piped()).spawn().unwrap());
    let mut pids = BTreeMap::new();
    for line in BufReader::new(program.0.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        // The test harness writes the beginning of the first line.
        let Some((_, said)) = line.split_once("process ") else { continue };
        let (name, pid) = said.rsplit_once(' ').unwrap();
        if name == "ready" {
            break;
        }
        pids.insert(name.to_owned(), pid.to_owned());
    }
    assert_eq!(pids.len(), 10);
    (program, pids)
}

fn why(arguments: &[&str]) -> (String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dyntrace"));
    let Output { status, stdout, stderr } = command.arg("why").args(arguments).output().unwrap();
    let error = String::from_utf8(stderr).unwrap();
    assert!(matches!(status.code(), Some(0 | 5)) || error.contains("ptrace_scope"), "{arguments:?}: {error}");
    (String::from_utf8(stdout).unwrap(), error)
}

/// The cycles of a JSON object, each as its pids.
fn cycles(json: &str) -> Vec<Vec<String>> {
    let listed: Value = serde_json::from_str(json).unwrap();
    let cycles = listed["table_deadlocks"].as_array().unwrap();
    let pids =
        |cycle: &Value| cycle["pids"].as_array().unwrap().iter().map(|pid| pid.as_str().unwrap().to_owned()).collect();
    cycles.iter().map(pids).collect()
}

#[test]
fn a_chain_is_followed_from_task_to_task_after_the_end_of_the_program() {
    let runtime = tempfile::tempdir().unwrap();
    let (program, pids) = start(runtime.path());
    let pid = |name: &str| &*pids[name];
    let table = runtime.path().join(format!("dyntrace/{}.tasks", program.0.id()));
    drop(program);
    let table = table.to_str().unwrap();

    let (told, _) = why(&["--dead", table]);
    let part = |of: &str| {
        let parts: Vec<&str> = told.split("\n\n").filter(|part| part.contains(&format!("\n{of}, "))).collect();
        let [part] = parts[..] else { panic!("{of}: {told}") };
        part.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let joins = part(pid("joiner"));
    let [head, own, sender, sends, server, serves] = &joins[..] else { panic!("{joins:#?}") };
    assert!(head.contains(&format!(" in task::JoinHandle {} ", pid("sender"))), "{head}");
    assert!(own.contains("chain::joins spawned at ") && own.contains("tests/chain.rs:"), "{own}");
    assert!(sender.starts_with(&format!("└─ {}, chain::sends spawned at ", pid("sender"))), "{sender}");
    assert!(sends.starts_with("   waits at ") && sends.contains("tests/chain.rs:"), "{sends}");
    assert!(sends.contains(&format!(" in mailbox::Sender::send {} for ", pid("server"))), "{sends}");
    assert!(server.starts_with(&format!("   └─ {}, ", pid("server"))), "{server}");
    assert!(serves.starts_with("      waits at ") && serves.contains(" in wait the disk for "), "{serves}");

    let listens = part(pid("waits for listener"));
    let last = listens.last().unwrap();
    assert!(last.contains(&format!(" in mailbox::Receiver::recv {} ", pid("listener"))), "{last}");
    assert!(last.ends_with(", its own mailbox"), "{last}");

    let behind = part(pid("behind"));
    assert_eq!(behind.last().unwrap(), &format!("└─ {}, in the deadlock above", pid("left")));

    for [one, other] in [["one", "other"], ["left", "right"]] {
        let head =
            "deadlock: 2 tasks wait for each other, by the table, unless one of them waits also for something else\n";
        assert_eq!(told.matches(head).count(), 2, "{told}");
        let cycle = told.split(head).find(|part| part.starts_with(&format!("{}, ", pid(one)))).unwrap();
        assert!(cycle.contains(&format!("\n{}, ", pid(other))), "{told}");
    }
    let (told, _) = why(&["--dead", table, "--cycles"]);
    assert!(told.starts_with("deadlock: ") && !told.contains(" by the table\n"), "{told}");
    let expected = [["one", "other"], ["left", "right"]].map(|cycle| cycle.map(|name| pid(name).to_owned()).to_vec());
    assert_eq!(cycles(&why(&["--dead", table, "--json"]).0), expected);

    // One process alone.
    let (one, _) = why(&["--dead", table, pid("joiner")]);
    assert!(one.contains(&joins[4..].join("\n")) && !one.contains("deadlock"), "{one}");
}

/// Memory with types tells the tasks that join each other; the table tells those that fill each other's mailboxes.
#[test]
fn a_running_program_has_the_same_deadlocks() {
    let runtime = tempfile::tempdir().unwrap();
    let (program, pids) = start(runtime.path());
    let number = program.0.id().to_string();
    let (json, error) = why(&["-p", &number, "--cycles", "--json"]);
    if error.contains("ptrace_scope") || json.contains("ptrace_scope") {
        return eprintln!("SKIPPED: {error}{json}");
    }
    let listed: Value = serde_json::from_str(&json).unwrap();
    let by_table = cycles(&json);
    assert_eq!(listed["deadlocks"].as_array().unwrap().len() + by_table.len(), 2, "{json}");
    assert!(by_table.contains(&vec![pids["left"].clone(), pids["right"].clone()]), "{by_table:?}");
    let (told, _) = why(&["-p", &number, &pids["joiner"]]);
    for name in ["joiner", "sender", "server"] {
        assert!(told.contains(&pids[name]), "{name}: {told}");
    }
    assert!(told.contains(" in wait the disk for "), "{told}");
}
