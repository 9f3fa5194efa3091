//! The traced program, and the command that traces it.

use std::env;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tempfile::TempDir;

use crate::interrupts;

/// The shop, which allows control, with its own runtime folder.
pub struct Shop {
    pub child: Child,
    lines: BufReader<ChildStdout>,
    place: TempDir,
}

impl Shop {
    pub fn open() -> Shop {
        Shop::start(Command::new(env::current_exe().unwrap()).env("ROLE", "shop").env("DYNTRACE", "control"))
    }

    /// One that has no control socket at its start, in a role.
    pub fn unprepared(role: &str) -> Shop {
        Shop::start(Command::new(env::current_exe().unwrap()).env("ROLE", role))
    }

    fn start(command: &mut Command) -> Shop {
        let place = tempfile::tempdir().unwrap();
        command.args(["--exact", "role", "--nocapture"]).env("XDG_RUNTIME_DIR", place.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        let mut shop = Shop { child, lines, place };
        shop.wait_for("open");
        shop
    }

    fn wait_for(&mut self, expected: &str) {
        let mut line = String::new();
        while line.trim_end() != expected {
            line.clear();
            assert!(self.lines.read_line(&mut line).unwrap() > 0, "it has ended");
        }
    }

    pub fn sell(&mut self, orders: u32) {
        writeln!(self.child.stdin.as_mut().unwrap(), "{orders}").unwrap();
        self.wait_for("sold");
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dyntrace"));
        interrupts::heed(&mut command).args(["trace", "-p", &self.child.id().to_string()]).args(arguments);
        command.env("XDG_RUNTIME_DIR", self.place.path());
        command
    }

    /// Starts a trace, and waits until it is set.
    pub fn trace(&self, arguments: &[&str]) -> Trace {
        let mut child = self.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut errors = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        errors.read_line(&mut line).unwrap();
        assert!(line.contains(" traced in session ") && line.ends_with("; an interrupt ends it\n"), "{line}");
        Trace { child, errors }
    }

    /// A trace that fails.
    #[track_caller]
    pub fn refuses(&self, arguments: &[&str], status: i32, what: &str) {
        let output = self.command(arguments).output().unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(status) && errors.contains(what), "{}: {errors}", output.status);
    }

    /// Whether it has a control socket.
    pub fn has_socket(&self) -> bool {
        self.place.path().join(format!("dyntrace/{}.sock", self.child.id())).exists()
    }

    /// A connection to its control socket.
    pub fn connect(&self) -> UnixStream {
        UnixStream::connect(self.place.path().join(format!("dyntrace/{}.sock", self.child.id()))).unwrap()
    }

    /// The number of its threads that serve traces or run tracers.
    pub fn tracing_threads(&self) -> usize {
        let tasks = fs::read_dir(format!("/proc/{}/task", self.child.id())).unwrap();
        let names = tasks.filter_map(|task| fs::read_to_string(task.ok()?.path().join("comm")).ok());
        names.filter(|name| name.starts_with("dyntrace-trace")).count()
    }
}

impl Drop for Shop {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A running `dyntrace trace`.
pub struct Trace {
    pub child: Child,
    errors: BufReader<ChildStderr>,
}

impl Trace {
    pub fn send(&self, signal: Signal) {
        kill(Pid::from_raw(self.child.id().cast_signed()), signal).unwrap();
    }

    /// Its exit status, its output, and its last line without the thread that held it up: on a busy machine any thread may lose its
    /// processor.
    pub fn wait(mut self) -> (i32, String, String) {
        let mut out = String::new();
        self.child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
        let mut last = self.errors.lines().last().unwrap_or_else(|| Ok("nothing".to_owned())).unwrap();
        if last.contains(" removed, ") {
            let waits = last.find(", no thread waited").or_else(|| last.find(", held up for "));
            last.truncate(waits.unwrap_or_else(|| panic!("{last}")));
        }
        (self.child.wait().unwrap().code().unwrap(), out, last)
    }

    pub fn interrupt(self) -> (i32, String, String) {
        self.send(Signal::SIGINT);
        self.wait()
    }
}
