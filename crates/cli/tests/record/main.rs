//! `dyntrace record` and related commands on this test's own program: run with `ROLE` set, it is the recorded program.
#![cfg(target_os = "linux")]

#[path = "../reading/collector.rs"]
#[expect(dead_code, reason = "the tests of convert use the rest")]
mod collector;
mod command;
mod ends;
mod export;
#[path = "../common/interrupts.rs"]
mod interrupts;
#[path = "../../../../tests/common/missing.rs"]
mod missing;
mod others;
#[path = "../common/page.rs"]
mod page;
mod place;
mod running;
mod screen;
mod top;

use std::env;
use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use nix::sys::signal::{Signal, raise};
use tokio::runtime::{Builder, Runtime};

/// The program in its role.
#[test]
#[expect(clippy::zombie_processes, reason = "one role is to leave a child")]
fn role() {
    let Ok(role) = env::var("ROLE") else { return };
    let (name, argument) = role.split_once(' ').unwrap_or((&role, ""));
    match name {
        // That many events in each of three threads.
        "fire" => thread::scope(|scope| {
            for number in 0..3 {
                scope.spawn(move || fire(number, argument.parse().unwrap()));
            }
        }),
        "control" => dyntrace::recorder::control().unwrap(),
        "exit" => std::process::exit(argument.parse().unwrap()),
        "panic" => {
            fire(0, 100);
            panic!("a role");
        }
        "die" => raise(Signal::SIGKILL).unwrap(),
        "die-writing" => {
            for folder in fs::read_dir("trace").unwrap() {
                let folder = folder.unwrap().path();
                fs::write(folder.join(".metadata.new"), "/* CTF").unwrap();
                let snapshot = format!("trace-snapshots/.{}", folder.file_name().unwrap().to_str().unwrap());
                fs::create_dir_all(&snapshot).unwrap();
                fs::write(Path::new(&snapshot).join("metadata"), "/* CTF").unwrap();
            }
            raise(Signal::SIGKILL).unwrap();
        }
        // Fires events for each piece of input, then prints a line, until the input ends.
        "serve" => serve(|_| fire(0, 100)),
        // Runs a file operation, sends a message, or has a task polled, for each piece of input.
        "operate" => serve(|runtime| {
            runtime.block_on(dyntrace::fs::metadata("/")).unwrap();
        }),
        // Runs as many file operations in each of four tasks, on several threads, for each piece of input.
        "many" => {
            let runtime = Builder::new_multi_thread().worker_threads(4).build().unwrap();
            let count = argument.parse().unwrap();
            serve(|_| {
                let task = |number| dyntrace::with_tag(format!("task-{number}"), operate(count));
                let tasks: Vec<_> = (0..4).map(|number| runtime.spawn(task(number))).collect();
                tasks.into_iter().for_each(|task| runtime.block_on(task).unwrap());
            });
        }
        // Reads the file, which may be a FIFO, in a task for each piece of input. Does not wait for the end.
        "read" => {
            let runtime = Builder::new_multi_thread().worker_threads(1).build().unwrap();
            let path = std::path::PathBuf::from(argument);
            serve(|_| {
                runtime.spawn(dyntrace::with_tag("slow", dyntrace::fs::read(path.clone())));
            });
        }
        "send" => {
            let (sender, mut receiver) = dyntrace::mailbox::unbounded_channel();
            serve(|runtime| runtime.block_on(async { (sender.send(1).unwrap(), receiver.recv().await) }).0);
        }
        "poll" => serve(|runtime| runtime.block_on(async { dyntrace::spawn(async {}).await.unwrap() })),
        "everything" => serve(top::everything),
        "leave" => {
            let child = program("serve").stdin(Stdio::inherit()).stderr(Stdio::null()).spawn().unwrap();
            let is_childs = |folder: &Path| folder.to_str().unwrap().ends_with(&format!("-{}", child.id()));
            let folders = || fs::read_dir("trace").unwrap().map(|entry| entry.unwrap().path());
            while !folders().any(|folder| is_childs(&folder) && folder.join("metadata").exists()) {}
        }
        _ => panic!("no role {role}"),
    }
}

fn serve(mut act: impl FnMut(&Runtime)) {
    let runtime = Builder::new_current_thread().build().unwrap();
    println!("ready");
    let mut piece = [0; 1];
    while std::io::stdin().read(&mut piece).unwrap() > 0 {
        act(&runtime);
        println!("fired");
    }
}

async fn operate(count: usize) {
    for _ in 0..count {
        dyntrace::fs::metadata("/").await.unwrap();
    }
}

fn fire(number: i64, count: i64) {
    dyntrace::put_tag(format!("req-{number}")).unwrap();
    for i in 0..count {
        dyntrace::p!(number, i);
    }
}

/// This program in a role.
pub fn program(role: &str) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", "role", "--nocapture"]).env("ROLE", role);
    command
}
