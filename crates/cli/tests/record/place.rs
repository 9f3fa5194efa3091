//! A folder for recordings, `dyntrace` in it, and programs that it records.

use std::env;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use tempfile::TempDir;

use crate::{interrupts, program};

/// A current directory, with its own runtime folder.
pub struct Place(pub TempDir);

impl Place {
    pub fn new() -> Place {
        let place = Place(tempfile::tempdir().unwrap());
        fs::create_dir(place.path("run")).unwrap();
        place
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn put(&self, command: &mut Command) {
        command.current_dir(self.0.path()).env("XDG_RUNTIME_DIR", self.path("run"));
    }

    pub fn dyntrace(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dyntrace"));
        self.put(interrupts::heed(&mut command).args(arguments));
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Ran {
        Ran::of(self.dyntrace(arguments).output().unwrap())
    }

    /// `dyntrace record` with options, on this program in a role.
    pub fn recording(&self, options: &[&str], role: &str) -> Command {
        let own = env::current_exe().unwrap();
        let mut command = self.dyntrace(&["record"]);
        command.args(options).arg("--").arg(own).args(["--exact", "role", "--nocapture"]).env("ROLE", role);
        command
    }

    pub fn record(&self, options: &[&str], role: &str) -> Ran {
        Ran::of(self.recording(options, role).output().unwrap())
    }

    /// A running program that allows control of its recorder.
    pub fn controlled(&self) -> Firing {
        let mut command = program("serve");
        self.put(command.env("DYNTRACE", "control"));
        Firing::start(&mut command)
    }

    /// The names of the files of a trace's one process, in order.
    pub fn files(&self, trace: &str) -> Vec<String> {
        let process = fs::read_dir(self.path(trace)).unwrap().next().unwrap().unwrap().path();
        let mut names: Vec<_> =
            fs::read_dir(process).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// The events of a trace, from `dyntrace view --json`.
    pub fn events(&self, trace: &str) -> Vec<Value> {
        let ran = self.run(&["view", "--json", trace]);
        if ran.out.is_empty() {
            // 5 if the recording was not ended.
            assert!(matches!(ran.status, Some(0 | 5)) && ran.err.contains(" has no event: "), "{ran:?}");
        } else {
            assert_eq!((ran.status, ran.err.as_str()), (Some(0), ""));
        }
        ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

#[derive(Debug)]
pub struct Ran {
    pub status: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Ran {
    pub fn of(output: Output) -> Ran {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Ran { status: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }

    #[track_caller]
    pub fn says(&self, status: i32, what: &str) {
        assert_eq!(self.status, Some(status), "{self:?}");
        assert!(self.err.contains(what), "{self:?}");
    }

    /// The summary from `--json`.
    pub fn summary(&self) -> Value {
        assert_eq!(self.status, Some(0), "{self:?}");
        let text = if self.err.is_empty() { &self.out } else { &self.err };
        serde_json::from_str(text.lines().last().unwrap()).unwrap()
    }
}

/// A program that fires events on request.
pub struct Firing {
    pub child: Child,
    lines: BufReader<std::process::ChildStdout>,
}

impl Firing {
    pub fn start(command: &mut Command) -> Firing {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        let mut firing = Firing { child, lines };
        firing.wait_for("ready");
        firing
    }

    pub fn pid(&self) -> String {
        self.child.id().to_string()
    }

    pub fn wait_for(&mut self, expected: &str) {
        let mut line = String::new();
        while line.trim_end() != expected {
            line.clear();
            assert!(self.lines.read_line(&mut line).unwrap() > 0, "it has ended");
        }
    }

    /// Makes it fire a hundred events.
    pub fn fire(&mut self) {
        use std::io::Write as _;
        self.child.stdin.as_mut().unwrap().write_all(b".").unwrap();
        self.wait_for("fired");
    }
}

impl Drop for Firing {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn send(child: &Child, signal: Signal) {
    kill(Pid::from_raw(child.id().cast_signed()), signal).unwrap();
}

/// Waits for the session that another `dyntrace` starts.
pub fn wait_for_session(place: &Place, pid: &str) {
    loop {
        let ran = place.run(&["status", "-p", pid, "--json"]);
        let status: Value = serde_json::from_str(&ran.out).unwrap();
        if status[0]["sessions"].as_array().is_some_and(|sessions| !sessions.is_empty()) {
            return;
        }
    }
}
