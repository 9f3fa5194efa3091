//! `dyntrace record` and its kin, on this test's own program: started again with `ROLE` set it is the program that records itself.
#![cfg(target_os = "linux")]

#[path = "common/interrupts.rs"]
mod interrupts;
#[path = "../../../tests/common/missing.rs"]
mod missing;

use std::env;
use std::fs::{self, Permissions};
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::fs::{PermissionsExt as _, chown, lchown, symlink};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use dyntrace::recorder::control::protocol::Request;
use dyntrace::recorder::control::{Connection, ControlError};
use nix::sys::signal::{Signal, kill, raise};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use serde_json::Value;
use tempfile::TempDir;

const NOBODY: u32 = 65534;

/// The part of the program that this test is when `ROLE` says so.
#[test]
#[expect(clippy::zombie_processes, reason = "one role is to leave a child")]
fn role() {
    let Ok(role) = env::var("ROLE") else { return };
    let (name, argument) = role.split_once(' ').unwrap_or((&role, ""));
    match name {
        // So many events in each of three threads.
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
        // Events until the input ends; a line for each piece of input after which some more were fired.
        "serve" => {
            println!("ready");
            let mut piece = [0; 1];
            while std::io::stdin().read(&mut piece).unwrap() > 0 {
                fire(0, 100);
                println!("fired");
            }
        }
        "leave" => {
            let child = program("serve").stdin(Stdio::inherit()).stderr(Stdio::null()).spawn().unwrap();
            let is_childs = |folder: &Path| folder.to_str().unwrap().ends_with(&format!("-{}", child.id()));
            let folders = || fs::read_dir("trace").unwrap().map(|entry| entry.unwrap().path());
            while !folders().any(|folder| is_childs(&folder) && folder.join("metadata").exists()) {}
        }
        _ => panic!("no role {role}"),
    }
}

fn fire(number: i64, count: i64) {
    dyntrace::put_tag(format!("req-{number}")).unwrap();
    for i in 0..count {
        dyntrace::p!(number, i);
    }
}

/// This program in a role.
fn program(role: &str) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", "role", "--nocapture"]).env("ROLE", role);
    command
}

/// A folder to be in, with a runtime folder of its own.
struct Place(TempDir);

impl Place {
    fn new() -> Place {
        let place = Place(tempfile::tempdir().unwrap());
        fs::create_dir(place.path("run")).unwrap();
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn put(&self, command: &mut Command) {
        command.current_dir(self.0.path()).env("XDG_RUNTIME_DIR", self.path("run"));
    }

    fn dyntrace(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dyntrace"));
        self.put(interrupts::heed(&mut command).args(arguments));
        command
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        Ran::of(self.dyntrace(arguments).output().unwrap())
    }

    /// `dyntrace record` with options, on this program in a role.
    fn recording(&self, options: &[&str], role: &str) -> Command {
        let own = env::current_exe().unwrap();
        let mut command = self.dyntrace(&["record"]);
        command.args(options).arg("--").arg(own).args(["--exact", "role", "--nocapture"]).env("ROLE", role);
        command
    }

    fn record(&self, options: &[&str], role: &str) -> Ran {
        Ran::of(self.recording(options, role).output().unwrap())
    }

    /// A program that goes on and lets its recorder be controlled.
    fn controlled(&self) -> Firing {
        let mut command = program("serve");
        self.put(command.env("DYNTRACE", "control"));
        Firing::start(&mut command)
    }

    /// The events of a trace, as `dyntrace view --json` gives them.
    fn events(&self, trace: &str) -> Vec<Value> {
        let ran = self.run(&["view", "--json", trace]);
        assert_eq!((ran.status, ran.err.as_str()), (Some(0), ""));
        ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

#[derive(Debug)]
struct Ran {
    status: Option<i32>,
    out: String,
    err: String,
}

impl Ran {
    fn of(output: Output) -> Ran {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Ran { status: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }

    #[track_caller]
    fn says(&self, status: i32, what: &str) {
        assert_eq!(self.status, Some(status), "{self:?}");
        assert!(self.err.contains(what), "{self:?}");
    }

    /// The summary that was asked for as JSON.
    fn summary(&self) -> Value {
        assert_eq!(self.status, Some(0), "{self:?}");
        let text = if self.err.is_empty() { &self.out } else { &self.err };
        serde_json::from_str(text.lines().last().unwrap()).unwrap()
    }
}

/// A program that fires when it is told to.
struct Firing {
    child: Child,
    lines: BufReader<std::process::ChildStdout>,
}

impl Firing {
    fn start(command: &mut Command) -> Firing {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        let mut firing = Firing { child, lines };
        firing.wait_for("ready");
        firing
    }

    fn pid(&self) -> String {
        self.child.id().to_string()
    }

    fn wait_for(&mut self, expected: &str) {
        let mut line = String::new();
        while line.trim_end() != expected {
            line.clear();
            assert!(self.lines.read_line(&mut line).unwrap() > 0, "it has ended");
        }
    }

    /// Has it fire a hundred events.
    fn fire(&mut self) {
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

fn send(child: &Child, signal: Signal) {
    kill(Pid::from_raw(child.id().cast_signed()), signal).unwrap();
}

/// Waits until the session that another `dyntrace` starts is there.
fn wait_for_session(place: &Place, pid: &str) {
    loop {
        let ran = place.run(&["status", "-p", pid, "--json"]);
        let status: Value = serde_json::from_str(&ran.out).unwrap();
        if status[0]["sessions"].as_array().is_some_and(|sessions| !sessions.is_empty()) {
            return;
        }
    }
}

#[test]
fn a_command_from_its_beginning_to_its_end() {
    let place = Place::new();
    let ran = place.record(&["-o", "trace", "--probes", "user_trace*"], "fire 100");
    ran.says(0, "recording 3 threads, 300 events, 0 lost ... done: trace (");
    assert_eq!(place.events("trace").len(), 300);
    let files = fs::read_dir(fs::read_dir(place.path("trace")).unwrap().next().unwrap().unwrap().path()).unwrap();
    // A thread that begins when another one has ended may go on in that one's file.
    assert!((2 + 1..=2 + 3).contains(&files.count()), "metadata, the process, one of each thread");
    assert_eq!(place.path("trace").metadata().unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn babeltrace_reads_it() {
    let place = Place::new();
    place.record(&["-o", "trace", "--probes", "user_trace*"], "fire 100").says(0, "done");
    let Ok(output) = Command::new("babeltrace2").arg(place.path("trace")).output() else {
        missing::skip("babeltrace2", "not installed");
        return;
    };
    let ran = Ran::of(output);
    assert_eq!((ran.status, ran.err.as_str()), (Some(0), ""));
    assert_eq!(ran.out.lines().filter(|line| line.contains("user_trace-i4s4")).count(), 300);
}

#[test]
fn either_format_is_recorded_and_converted_to_the_other() {
    let place = Place::new();
    let probes = ["--probes", "user_trace*"];
    place.record(&[&["-o", "two", "--format", "ctf2"][..], &probes].concat(), "fire 100").says(0, "done");
    let is_ctf2 = |trace: &str| {
        let process = fs::read_dir(place.path(trace)).unwrap().next().unwrap().unwrap().path();
        fs::read_to_string(process.join("metadata")).unwrap().starts_with('\u{1e}')
    };
    for (from, to, format) in [("two", "one", "ctf1.8"), ("one", "again", "ctf2"), ("again", "same", "ctf2")] {
        place.run(&["convert", from, "--to", format, "-o", to]).says(0, "");
        assert_eq!(is_ctf2(to), format == "ctf2", "{to}");
        assert_eq!(place.events(to), place.events("two"), "{to}");
    }
    assert!(is_ctf2("two") && place.events("two").len() == 300);
    if let Ok(output) = Command::new("babeltrace2").arg(place.path("one")).output() {
        let ran = Ran::of(output);
        assert_eq!((ran.status, ran.err.as_str()), (Some(0), ""));
        assert_eq!(ran.out.lines().filter(|line| line.contains("user_trace-i4s4")).count(), 300);
    } else {
        missing::skip("babeltrace2", "not installed");
    }
    place.run(&["convert", "one", "two", "--to", "ctf2", "-o", "both"]).says(2, "one at a time");
    place.run(&["convert", "one", "--to", "ctf2", "-o", "two"]).says(1, "cannot write two");
}

#[test]
fn only_what_is_asked_for() {
    let place = Place::new();
    let ran = place.record(&["--json", "--tag", "req-1", "--probes", "dyntrace:user_trace-*"], "fire 50");
    let summary = ran.summary();
    assert_eq!((&summary["trace"], &summary["events"], &summary["threads"]), (&"trace".into(), &50.into(), &1.into()));
    assert!(place.events("trace").iter().all(|event| event["user_tag"] == "req-1"));
    let again = place.record(&["--json", "--probes", "efile*"], "fire 50").summary();
    assert_eq!((&again["trace"], &again["events"]), (&"trace-2".into(), &0.into()));
}

#[test]
fn programs_that_the_command_starts() {
    let place = Place::new();
    let own = env::current_exe().unwrap();
    let script = "\"$0\" --exact role; \"$0\" --exact role";
    let mut command = place.dyntrace(&["record", "--json", "--", "sh", "-c", script]);
    let summary = Ran::of(command.arg(own).env("ROLE", "fire 10").output().unwrap()).summary();
    assert_eq!((&summary["processes"], &summary["events"]), (&2.into(), &60.into()));
}

#[test]
fn the_exit_status_is_the_commands() {
    let place = Place::new();
    place.record(&[], "exit 7").says(7, "recording 0 threads, 0 events");
    place.record(&[], "die").says(128 + 9, "done: trace-2");
    place.run(&["record", "--", "no-such-command"]).says(127, "no such command in PATH");
    place.run(&["record", "--", "/"]).says(126, "it is a directory");
    place
        .run(&["record", "--", "/bin/true"])
        .says(65, "nothing was recorded: no program that was run has dyntrace's recorder");
    place.run(&["record", "--", "sh", "-c", "exit 5"]).says(5, "nothing was recorded");
    assert!(!place.path("trace-4").exists(), "what was made for nothing is removed");
}

#[test]
fn wrong_use() {
    let place = Place::new();
    fs::create_dir_all(place.path("there/already")).unwrap();
    for (arguments, what) in [
        (&["-o", "there", "--", "true"][..], "there is there already: remove it"),
        (&["--size", "1K", "--", "true"], "from 64K to 64G"),
        (&["--on-panic", "--", "true"], "--overwrite"),
        (&["--overwrite", "--slower", "1s", "--probes", "aio*", "--", "true"], "have them among the probes"),
        (&["--command", "MOVE", "--", "true"], "the commands are OPEN"),
        (&["-p", "1", "--", "true"], "cannot be used with"),
        (&[], "COMMAND"),
    ] {
        let ran = place.run(&[&["record"], arguments].concat());
        ran.says(2, what);
    }
    if !nix::unistd::geteuid().is_root() {
        place.run(&["record", "-o", "/proc/trace", "--", "true"]).says(1, "cannot make the folder /proc/trace");
    }
}

#[test]
fn a_signal_to_dyntrace_is_for_the_command() {
    let place = Place::new();
    let mut command = place.recording(&["--json"], "serve");
    let mut firing = Firing::start(command.stderr(Stdio::piped()));
    firing.fire();
    send(&firing.child, Signal::SIGTERM);
    let mut err = String::new();
    firing.child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    assert_eq!(firing.child.wait().unwrap().code(), Some(128 + Signal::SIGTERM as i32));
    let summary: Value = serde_json::from_str(&err).unwrap();
    assert_eq!(summary["events"], 100, "{err}");
}

#[test]
fn a_trace_that_goes_on_is_not_cut() {
    let place = Place::new();
    let mut command = place.recording(&["-o", "trace"], "leave");
    let mut firing = Firing::start(command.stderr(Stdio::piped()));
    let mut err = String::new();
    firing.child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    assert!(err.contains(" goes on, and so does its trace"), "{err}");
    assert_eq!(place.events("trace").len(), 0);
    firing.fire();
    assert_eq!(place.events("trace").len(), 100);
}

#[test]
fn a_running_process_until_an_interrupt() {
    let place = Place::new();
    let mut firing = place.controlled();
    firing.fire();
    let pid = firing.pid();
    let recording =
        place.dyntrace(&["record", "--json", "-o", "trace", "-p", &pid]).stderr(Stdio::piped()).spawn().unwrap();
    wait_for_session(&place, &pid);
    firing.fire();
    send(&recording, Signal::SIGINT);
    let summary = Ran::of(recording.wait_with_output().unwrap()).summary();
    assert_eq!((&summary["events"], &summary["threads"]), (&100.into(), &1.into()));
    firing.fire();
    assert_eq!(place.events("trace").len(), 100, "the session has ended");
}

#[test]
fn a_running_process_until_it_is_killed() {
    let place = Place::new();
    let mut firing = place.controlled();
    let pid = firing.pid();
    let recording = place.dyntrace(&["record", "--json", "-p", &pid]).stderr(Stdio::piped()).spawn().unwrap();
    wait_for_session(&place, &pid);
    firing.fire();
    drop(firing);
    let summary = Ran::of(recording.wait_with_output().unwrap()).summary();
    assert_eq!((&summary["events"], &summary["lost"]), (&100.into(), &0.into()));
}

#[test]
fn a_killed_dyntrace_leaves_no_session() {
    let place = Place::new();
    let firing = place.controlled();
    let pid = firing.pid();
    let mut recording = place.dyntrace(&["record", "-p", &pid]).stderr(Stdio::null()).spawn().unwrap();
    wait_for_session(&place, &pid);
    recording.kill().unwrap();
    assert_eq!(recording.wait().unwrap().signal(), Some(9));
    while !place.run(&["status", "-p", &pid]).out.contains("records nothing") {}
}

#[test]
fn the_last_events_meanwhile_and_after_a_crash() {
    let place = Place::new();
    let mut command = place.recording(&["--overwrite", "--size", "64K", "-o", "trace"], "serve");
    let mut firing = Firing::start(command.stderr(Stdio::piped()));
    for _ in 0..50 {
        firing.fire();
    }
    let status = place.run(&["status", "--json"]);
    let status: Value = serde_json::from_str(&status.out).unwrap();
    let pid = status[0]["pid"].to_string();
    let summary = place.run(&["snapshot", "-p", &pid, "-o", "last", "--json"]).summary();
    let kept = summary["events"].as_u64().unwrap();
    assert!(kept > 100 && kept < 5000, "{summary}");
    assert_eq!(place.events("last").last().unwrap()["i2"], 99);

    kill(Pid::from_raw(pid.parse().unwrap()), Signal::SIGSTOP).unwrap();
    let recovered = place.run(&["recover", "trace", "-o", "recovered", "--json"]).summary();
    assert_eq!(recovered["events"], kept);
    place.run(&["recover", "trace", "-o", "recovered"]).says(2, "there already");
    place.run(&["recover", "run", "-o", "more"]).says(66, "no trace in");
    kill(Pid::from_raw(pid.parse().unwrap()), Signal::SIGKILL).unwrap();

    assert_eq!(firing.child.wait().unwrap().code(), Some(128 + 9));
    assert_eq!(place.events("trace").len() as u64, kept, "record has made a plain trace of it");
}

#[test]
fn the_last_events_before_a_panic() {
    let place = Place::new();
    let ran = place.record(&["--overwrite", "--slower", "1h"], "exit 0");
    ran.says(2, "expected a time in ns, us, ms or s");
    let ran = place.record(&["--overwrite", "--on-panic", "--slower", "600s", "-o", "trace"], "panic");
    // The test harness catches the panic, and says so.
    ran.says(101, "\n1 snapshot: trace-snapshots/record-");
    let snapshot = ran.err.trim_end().rsplit(' ').next().unwrap().to_owned();
    assert!(snapshot.ends_with("-1-panic"), "{ran:?}");
    assert_eq!(place.events(&snapshot).last().unwrap()["i2"], 99);
    assert!(!place.record(&["--overwrite", "--on-panic", "-o", "another"], "exit 0").err.contains("snapshot"));
    assert!(!place.path("another-snapshots").exists(), "what was made for nothing is removed");
}

#[test]
fn a_filter_that_changes() {
    let place = Place::new();
    let mut firing = place.controlled();
    let pid = firing.pid();
    place.run(&["filter", "-p", &pid]).says(65, "records nothing: start dyntrace record -p");
    let recording =
        place.dyntrace(&["record", "--json", "-o", "trace", "-p", &pid]).stderr(Stdio::piped()).spawn().unwrap();
    wait_for_session(&place, &pid);
    for (filter, is_recorded) in [
        (&["--tag", "other-*"][..], false),
        (&["--tag", "req-?", "--failed"], true),
        (&["--probes", "efile_drv__*,aio_pool-add"], false),
        (&[], true),
    ] {
        place.run(&[&["filter", "-p", &pid], filter].concat()).says(0, "");
        let before = place.events("trace").len();
        firing.fire();
        let recorded = place.events("trace").len() - before;
        assert_eq!(recorded, if is_recorded { 100 } else { 0 }, "{filter:?}");
    }
    let second = place.dyntrace(&["record", "-p", &pid]).stderr(Stdio::piped()).spawn().unwrap();
    while !place.run(&["status", "-p", &pid]).out.contains("2 sessions") {}
    place.run(&["filter", "-p", &pid]).says(2, "several such sessions: choose one of [");
    place.run(&["filter", "-p", &pid, "--session", "4711"]).says(1, "there is no session 4711");
    place.run(&["filter", "-p", &pid, "--session", "1", "--failed"]).says(0, "");
    for recording in [recording, second] {
        send(&recording, Signal::SIGINT);
        assert!(recording.wait_with_output().unwrap().status.success());
    }
}

#[test]
fn processes_that_cannot_be_controlled() {
    let place = Place::new();
    let pid = std::process::id().to_string();
    for arguments in [
        &["record", "-p", &pid][..],
        &["snapshot", "-p", &pid],
        &["filter", "-p", &pid],
        &["status", "-p", &pid],
        &["trace", "-p", &pid, "**"],
    ] {
        place.run(arguments).says(65, "has no control socket: start it with DYNTRACE=control");
    }
    place.run(&["status", "-p", "4194305"]).says(65, "there is no process 4194305");
    assert!(place.run(&["status"]).out.starts_with("no process of this user lets its recorder be controlled"));
    let mut firing = place.controlled();
    place.run(&["snapshot", "-p", &firing.pid()]).says(65, "keeps no last events");
    place
        .run(&["trace", "-p", &firing.pid(), "**"])
        .says(65, "no function of it can be traced: give those that matter");
    place.run(&["snapshot", "-p", &firing.pid(), "--session", "7"]).says(1, "there is no session 7");
    firing.fire();
    let mut greeted = Connection::open(firing.child.id()).unwrap();
    send(&firing.child, Signal::SIGSTOP);
    // Its threads stop later than the signal is sent.
    let stopped = waitpid(Pid::from_raw(firing.child.id().cast_signed()), Some(WaitPidFlag::WUNTRACED)).unwrap();
    assert!(matches!(stopped, WaitStatus::Stopped(_, Signal::SIGSTOP)), "{stopped:?}");
    place.run(&["status", "-p", &firing.pid()]).says(1, "does not answer: see whether it is stopped");
    let error = greeted.request_within(&Request::Status, Duration::from_millis(100)).unwrap_err();
    assert!(matches!(error, ControlError::Silent(_)), "{error}");
}

#[test]
fn a_bad_environment_is_one_line_and_no_failure() {
    let place = Place::new();
    for (value, what) in [("on", "does not begin with record:DIRECTORY"), ("record:/proc/x", "/proc/x")] {
        let mut command = program("exit 0");
        place.put(command.env("DYNTRACE", value));
        let ran = Ran::of(command.output().unwrap());
        ran.says(0, what);
        assert_eq!(ran.err.lines().count(), 1, "{ran:?}");
    }
}

#[test]
fn a_program_with_raised_privileges_does_not_listen() {
    if !nix::unistd::geteuid().is_root() {
        return missing::skip("root", "only root can give a program the rights of another user");
    }
    let place = Place::new();
    let program = place.path("program");
    // By a process of its own: what another test starts meanwhile would inherit the open copy, which then cannot be executed.
    assert!(Command::new("cp").arg(env::current_exe().unwrap()).arg(&program).status().unwrap().success());
    chown(&program, Some(NOBODY), None).unwrap();
    for path in [place.0.path(), &place.path("run")] {
        fs::set_permissions(path, Permissions::from_mode(0o777)).unwrap();
    }
    let recorded = |mode: u32, folder: &str| {
        fs::set_permissions(&program, Permissions::from_mode(mode)).unwrap();
        let mut command = Command::new(&program);
        place.put(command.env("DYNTRACE", format!("record:{}", place.path(folder).display())).env("ROLE", "exit 0"));
        Ran::of(command.args(["--exact", "role"]).output().unwrap()).says(0, "");
        place.path(folder).exists()
    };
    assert!(recorded(0o755, "plain"));
    if is_without_setuid(place.0.path()) {
        let why = format!("no program has the rights of its file's owner in {}", place.0.path().display());
        return missing::skip("set-uid", &why);
    }
    assert!(!recorded(0o4755, "raised"));

    // Its other variables are somebody else's, too: where it has its control socket.
    let run = place.path("run");
    chown(&run, Some(NOBODY), None).unwrap();
    fs::set_permissions(&run, Permissions::from_mode(0o755)).unwrap();
    let controlled = |mode: u32, uid: u32| {
        fs::set_permissions(&program, Permissions::from_mode(mode)).unwrap();
        let _ = fs::remove_dir_all(run.join("dyntrace"));
        let mut command = Command::new(&program);
        place.put(command.env("DYNTRACE", "").env("ROLE", "control").uid(uid).current_dir("/"));
        Ran::of(command.args(["--exact", "role"]).output().unwrap()).says(0, "");
        run.join("dyntrace").exists()
    };
    assert!(controlled(0o755, NOBODY));
    assert!(!controlled(0o4755, 0));
}

/// All files below a folder with what is in them; links are not followed.
fn contents(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        match entry.file_type().unwrap() {
            kind if kind.is_dir() => found.extend(contents(&entry.path())),
            kind if kind.is_file() => found.push((entry.path(), fs::read(entry.path()).unwrap())),
            _ => {}
        }
    }
    found.sort();
    found
}

/// Root has nobody's process record into nobody's folder: to a regular end, until the process is killed, and until it is killed while
/// nobody has put a link to root's folder in the place of the process's.
#[test]
fn a_process_of_another_user() {
    if !nix::unistd::geteuid().is_root() {
        return missing::skip("root", "only root may control the processes of another user");
    }
    let place = Place::new();
    let [program, theirs, victim] = ["program", "theirs", "victim"].map(|name| place.path(name));
    fs::set_permissions(place.0.path(), Permissions::from_mode(0o755)).unwrap();
    assert!(Command::new("cp").arg(env::current_exe().unwrap()).arg(&program).status().unwrap().success());
    fs::create_dir(&theirs).unwrap();
    for path in [&theirs, &place.path("run")] {
        chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
    }
    let start = || {
        let mut command = Command::new(&program);
        command.args(["--exact", "role", "--nocapture"]).env("ROLE", "serve");
        place.put(command.env("DYNTRACE", "control").uid(NOBODY).gid(NOBODY));
        Firing::start(&mut command)
    };
    let record = |firing: &mut Firing, trace: &str| {
        let pid = firing.pid();
        let mut command = place.dyntrace(&["record", "--json", "-p", &pid, "-o", trace]);
        let recording = command.stderr(Stdio::piped()).spawn().unwrap();
        wait_for_session(&place, &pid);
        firing.fire();
        recording
    };

    let mut firing = start();
    let recording = record(&mut firing, "theirs/whole");
    send(&recording, Signal::SIGINT);
    let summary = Ran::of(recording.wait_with_output().unwrap()).summary();
    assert_eq!((&summary["events"], &summary["lost"]), (&100.into(), &0.into()));
    assert_eq!(place.events("theirs/whole").len(), 100);

    // Killed, it leaves what it wrote, which root does not touch and can read.
    let recording = record(&mut firing, "theirs/killed");
    drop(firing);
    Ran::of(recording.wait_with_output().unwrap()).says(1, "is left as it is");
    assert_eq!(place.events("theirs/killed").len(), 100);

    // What root would change if it went by the path: the trace of a process that was killed.
    let killed = place.recording(&["-o", "victim"], "die").output().unwrap();
    assert_eq!(Ran::of(killed).status, Some(128 + 9));
    let processes = fs::read_dir(&victim).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>();
    let [of_victim] = &processes[..] else { panic!("{processes:?}") };
    fs::write(of_victim.join("empty"), "").unwrap();
    let before = contents(&victim);
    let mut firing = start();
    let recording = record(&mut firing, "theirs/link");
    let mut folders = fs::read_dir(theirs.join("link")).unwrap().map(|entry| entry.unwrap().path());
    let folder = folders.next().unwrap();
    fs::rename(&folder, theirs.join("aside")).unwrap();
    symlink(of_victim, &folder).unwrap();
    lchown(&folder, Some(NOBODY), Some(NOBODY)).unwrap();
    drop(firing);
    let ran = Ran::of(recording.wait_with_output().unwrap());
    assert_eq!(contents(&victim), before, "{ran:?}");
}

fn is_without_setuid(path: &Path) -> bool {
    nix::sys::statvfs::statvfs(path).unwrap().flags().contains(nix::sys::statvfs::FsFlags::ST_NOSUID)
}
