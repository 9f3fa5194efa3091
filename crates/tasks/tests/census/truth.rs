//! Runs the example `tasks_truth` and reads the counts that it prints.
#![allow(dead_code)] // each test uses a part

use std::io::{BufRead, BufReader, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

/// The program, running.
pub struct Truth {
    program: Child,
    /// Its own count of tasks.
    pub count: u64,
    /// The id of the first of them.
    pub first: u64,
    /// The id of a task that has completed.
    pub complete: u64,
    /// The id of a job of the blocking pool.
    pub job: u64,
}

impl Truth {
    /// Starts it, and waits until it is at rest.
    pub fn start(arguments: &[&str]) -> Truth {
        Truth::start_file(&example(), arguments)
    }

    /// Starts a copy of it.
    pub fn start_file(file: &Path, arguments: &[&str]) -> Truth {
        let (program, line) = run(file, arguments);
        let mut words = line.split_whitespace().map(|word| word.parse().unwrap());
        let mut word = || words.next().expect("a count and three ids");
        Truth { program, count: word(), first: word(), complete: word(), job: word() }
    }

    pub fn pid(&self) -> u32 {
        self.program.id()
    }

    /// Ends it.
    pub fn end(&mut self) {
        drop(self.program.stdin.take());
        self.program.wait().unwrap();
    }
}

impl Drop for Truth {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

/// Starts a program and waits for a line of its output.
pub fn run(file: &Path, arguments: &[&str]) -> (Child, String) {
    let mut command = Command::new(file);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
    // A child that another test has just forked may hold the file open for writing, until it executes its program.
    let started = |_| match command.spawn() {
        Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => {
            sleep(Duration::from_millis(10));
            None
        }
        started => Some(started.unwrap()),
    };
    let mut program = (0..500).find_map(started).expect("the file is not busy any more");
    let mut line = String::new();
    BufReader::new(program.stdout.take().unwrap()).read_line(&mut line).unwrap();
    (program, line)
}

/// Returns the file of the example `tasks_truth`.
pub fn example() -> PathBuf {
    named("tasks_truth")
}

/// Returns the file of an example: of this build, or of the one that `ci/tasks` names.
pub fn named(name: &str) -> PathBuf {
    if let Some(programs) = std::env::var_os("DYNTRACE_TASKS_PROGRAMS") {
        return PathBuf::from(programs).join(name);
    }
    let test = std::env::current_exe().unwrap();
    let file = test.ancestors().nth(2).unwrap().join("examples").join(name);
    assert!(file.exists(), "{} is not there: `cargo build --examples` builds it", file.display());
    file
}
