//! A machine for tests: a folder as `PATH` with fake tracers, and a program with probes.
//!
//! The test's own program plays all roles: run with `ROLE` set, it is the traced program or the tracer. Like a real tracer, the fake one
//! increments semaphores in the program's memory and changes the first byte of each site.

mod interrupts;

use std::env;
use std::fs::{self, OpenOptions};
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use nix::sys::signal::{self, Signal};
use nix::unistd::Pid;
use tempfile::TempDir;

/// The command under test.
pub const DYNTRACE: &str = env!("CARGO_BIN_EXE_dyntrace");

/// The output of a fake tracer for `--version`.
pub const BPFTRACE: &str = "bpftrace v0.27.1";
/// A bpftrace that reads six arguments.
pub const OLD_BPFTRACE: &str = "bpftrace v0.17.0";
/// The real DTrace on Linux.
pub const DTRACE: &str = "dtrace: D 2.0.7";
/// SystemTap's program of the same name.
pub const HEADER_GENERATOR: &str = "Usage dtrace [--help] [-h | -G] [-C [-I<Path>]] -s File.d [-o <File>]";

/// Whether this user may trace; prints a note if not.
pub fn may_trace() -> bool {
    let may = nix::unistd::geteuid().is_root();
    if !may {
        crate::missing::skip("root", "tracing needs it");
    }
    may
}

/// A folder with tracers.
pub struct Machine {
    folder: TempDir,
}

impl Machine {
    /// A machine with an empty `PATH`.
    pub fn new() -> Machine {
        Machine { folder: tempfile::tempdir().unwrap() }
    }

    /// Adds a tracer that acts by `act`.
    pub fn with(self, name: &str, version: &str, act: &str) -> Machine {
        // bpftrace -q -p PID ..., dtrace -s SCRIPT
        let followed = if name == "bpftrace" { "PID=$3 TEXT=$4" } else { "SCRIPT=$2 TEXT=$2" };
        let program = env::current_exe().unwrap();
        let text = format!(
            "#!/bin/sh\ncase \"$1\" in --version|-V) echo '{version}'; exit;; esac\n\
             ROLE=tracer ACT={act} {followed} exec {} --exact role --nocapture\n",
            program.display()
        );
        // In a separate process, as in `copy_program`.
        let write = ["-c", "printf %s \"$1\" >\"$2\" && chmod 755 \"$2\"", "sh", &text];
        assert!(Command::new("sh").args(write).arg(self.path(name)).status().unwrap().success());
        self
    }

    /// A file in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// `dyntrace` with `PATH` set to the folder, and the traced program acting by `act`.
    pub fn dyntrace(&self, act: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(DYNTRACE);
        command.args(arguments).env("PATH", self.folder.path()).env("ROLE", "program").env("ACT", act);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        interrupts::heed(&mut command);
        command
    }

    /// Runs `user-probe` on the program that acts by `act`.
    pub fn run(&self, act: &str) -> Ran {
        self.run_with(act, &[])
    }

    /// The same, with a file `mark` that appears when the program starts.
    pub fn run_marked(&self, act: &str) -> Ran {
        let mark = self.path("mark");
        let _ = fs::remove_file(&mark);
        let mut command = self.dyntrace(act, &["run", "user-probe", "--"]);
        Ran::of(command.args(program()).env("MARK", &mark).output().unwrap())
    }

    /// The same as `run` with more options.
    pub fn run_with(&self, act: &str, options: &[&str]) -> Ran {
        Ran::of(self.start(act, options).wait_with_output().unwrap())
    }

    /// Starts the same without waiting.
    pub fn start(&self, act: &str, options: &[&str]) -> Child {
        let mut command = self.dyntrace(act, &["run"]);
        command.args(options).args(["user-probe", "--"]).args(program());
        command.spawn().unwrap()
    }
}

/// Copies a program in a separate process: a child that another test starts meanwhile would inherit the descriptor that is open for
/// writing, and the copy could not be executed.
pub fn copy_program(from: &Path, to: &Path) {
    assert!(Command::new("cp").arg(from).arg(to).status().unwrap().success());
}

/// The command line of the traced program.
pub fn program() -> [String; 4] {
    let path = env::current_exe().unwrap().to_str().unwrap().to_owned();
    [path, "--exact".to_owned(), "role".to_owned(), "--nocapture".to_owned()]
}

/// How a command ended.
#[derive(Debug)]
pub struct Ran {
    pub status: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Ran {
    pub fn of(output: Output) -> Ran {
        let text = |bytes| String::from_utf8(bytes).expect("what dyntrace prints is UTF-8");
        Ran { status: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }

    /// Checks the exit status, and that standard error contains `what`.
    #[track_caller]
    pub fn fails_with(&self, status: i32, what: &str) {
        assert_eq!(self.status, Some(status), "{self:?}");
        assert!(self.err.contains(what), "{what:?} is not in {self:?}");
    }
}

/// Reads the child's output up to a line that ends with `end`. Returns the rest.
#[track_caller]
pub fn read_until(child: &mut Child, end: &str) -> impl Read + use<> {
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut lines = String::new();
    while !lines.trim_end().ends_with(end) {
        if out.read_line(&mut lines).unwrap() == 0 {
            let error = child.stderr.take().map(io::read_to_string);
            panic!("{:?} before it said {end:?}: {lines:?} {error:?}", child.wait());
        }
    }
    out
}

/// Sends a signal to a child that was not waited for.
pub fn send(child: &Child, signal: Signal) {
    signal::kill(Pid::from_raw(child.id().cast_signed()), signal).unwrap();
}

/// Plays the role in `ROLE`, if it is set.
pub fn play() {
    let act = env::var("ACT").unwrap_or_default();
    match env::var("ROLE").as_deref() {
        Ok("program") => act_program(&act),
        Ok("tracer") => act_tracer(&act),
        _ => {}
    }
}

fn act_program(act: &str) -> ! {
    use dyntrace::probes::user_trace::s1;
    if let Some(mark) = env::var_os("MARK") {
        fs::write(mark, "").unwrap();
    }
    println!("program: traced {}", s1::is_enabled());
    s1(|| "hello");
    match act.split_once(' ') {
        Some(("exit", status)) => std::process::exit(status.parse().unwrap()),
        Some(("die", signal)) => signal::raise(Signal::try_from(signal.parse::<i32>().unwrap()).unwrap()).unwrap(),
        _ => println!("program: waits"),
    }
    loop {
        thread::park();
    }
}

fn act_tracer(act: &str) -> ! {
    let interrupted = Arc::new(AtomicBool::new(false));
    let asked = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(signal_hook::consts::SIGUSR1, Arc::clone(&asked)).unwrap();
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&interrupted)).unwrap();
    }
    if act == "refuse" {
        eprintln!("tracer: no \x1b[2J such probe");
        std::process::exit(1);
    }
    let script = env::var_os("SCRIPT").map(|path| fs::read_to_string(path).unwrap());
    let has_script = script.is_some();
    let pid = match &script {
        Some(script) => number_in(script),
        None => env::var("PID").unwrap().parse().unwrap(),
    };
    println!("tracer: process {pid}");
    if act != "idle" {
        arm(pid);
        println!("tracer: attached");
        if let Some(script) = script {
            println!("{}", printed_at_begin(&script));
        }
    }
    if act == "hostile" {
        use std::io::Write;
        std::io::stdout().write_all(b"tag \x1b]0;owned\x07 \xff\xfe caf\xc3\xa9\n").unwrap();
    }
    if act == "break" {
        // Only after the program has started.
        let mark = env::var_os("MARK").unwrap();
        while !Path::new(&mark).exists() {
            thread::yield_now();
        }
        std::process::exit(3);
    }
    let is_alive = || Path::new(&format!("/proc/{pid}")).exists();
    let is_told = || asked.load(Ordering::Relaxed) || interrupted.load(Ordering::Relaxed);
    while (is_alive() || has_script) && (act == "deaf" || !is_told()) {
        thread::sleep(Duration::from_millis(2));
    }
    println!("tracer: end");
    let Some(mark) = mark_in(&fs::read_to_string(env::var_os("TEXT").unwrap()).unwrap()) else {
        if act == "lose" {
            eprintln!("dtrace: 2 drops on CPU 0");
        }
        std::process::exit(0);
    };
    match act {
        // Like bpftrace: an interrupt discards the buffered events.
        "buffer" if interrupted.load(Ordering::Relaxed) => println!("{mark}=2;"),
        "buffer" => println!("{mark}+one{mark}>\n{mark}+two{mark}>\n{mark}=2;"),
        "lose" => {
            eprintln!("Lost 2 events");
            println!("{mark}+one{mark}>\n{mark}=5;");
        }
        "cut" => {}
        _ => println!("{mark}=0;"),
    }
    std::process::exit(0);
}

/// The mark of a script that counts: its end prints it with the count of lines.
fn mark_in(script: &str) -> Option<String> {
    let (before, _) = script.rsplit_once("=%ld;")?;
    Some(before[before.rfind('"')? + 1..].to_owned())
}

/// The process in a script for DTrace.
fn number_in(script: &str) -> i32 {
    let (_, number) = script.split_once("\ndyntrace").unwrap();
    number.split(':').next().unwrap().parse().unwrap()
}

/// The output of the last clause of a script for DTrace at its begin.
fn printed_at_begin(script: &str) -> &str {
    let (_, clause) = script.rsplit_once("BEGIN\n{\n\tprintf(\"").unwrap();
    clause.split('"').next().unwrap()
}

/// Changes the memory of a process as tracers do.
fn arm(pid: i32) {
    let list = Command::new(DYNTRACE).args(["list", "--json", "-p", &pid.to_string()]).output().unwrap();
    let list: serde_json::Value = serde_json::from_slice(&list.stdout).unwrap();
    let program = &list[0];
    let moved_by = program["moved_by"].as_u64().unwrap();
    let memory = OpenOptions::new().read(true).write(true).open(format!("/proc/{pid}/mem")).unwrap();
    // Another harmless instruction of the same length: clc, and yield.
    let byte = if cfg!(target_arch = "x86_64") { 0xf8 } else { 0x3f };
    for probe in program["probes"].as_array().unwrap() {
        for site in probe["sites"].as_array().unwrap() {
            memory.write_all_at(&[byte], moved_by + site["address"].as_u64().unwrap()).unwrap();
        }
        memory.write_all_at(&1_u16.to_ne_bytes(), moved_by + probe["semaphore"].as_u64().unwrap()).unwrap();
    }
}
