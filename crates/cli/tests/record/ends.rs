//! Every command that lasts ends on a signal and when its terminal is gone; it ends its recording and removes its files.

use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{SigHandler, Signal, signal};

use crate::place::{Firing, Place, Ran, send, wait_for_session};
use crate::screen::Screen;
use crate::top::{is_clean, start};

/// How a command shows that it has begun.
enum Begun {
    /// The process records.
    Session,
    /// It writes this.
    Writes(&'static str),
    /// It makes this folder.
    Makes(&'static str),
}

use Begun::{Makes, Session, Writes};

/// The commands that last. `PID` is a process that records to `trace`, `PROGRAM` starts this program.
const LASTING: [(&str, Begun); 12] = [
    ("top -p PID", Writes("operation")),
    ("top -p PID --json --for 1h", Session),
    ("top -r trace", Writes("PAUSED")),
    ("record -p PID -o own", Session),
    ("record -o own -- PROGRAM", Writes("ready")),
    ("run --tracer recorder efile_drv -- PROGRAM", Writes("ready")),
    ("export -p PID --to http://127.0.0.1:9", Session),
    ("metrics -p PID --listen 127.0.0.1:0", Writes("serving")),
    ("monitor -p PID", Writes("monitors")),
    ("view --follow trace --probe process-spawn", Writes("turns")),
    ("convert --follow trace --to parquet --partition host,date,hour -o fleet", Makes("fleet")),
    ("ps -p PID --table --watch 1000", Writes("stays")),
];

/// The others. Also `polls`, which lasts as long as its tracer, and ends as `run` does; and `trace` and `diagnose`, whose tests have programs
/// for them.
const OTHERS: [&str; 20] = [
    "demo", "diagnose", "list", "doctor", "snapshot", "filter", "recover", "status", "report", "diff", "clocks",
    "query", "upload", "code", "tree", "why", "leaks", "threads", "polls", "trace",
];

/// The ways in which a command is told to end.
#[derive(Clone, Copy, Debug)]
enum Way {
    Sent(Signal),
    TerminalGone,
    /// Under nohup, or in the background.
    TerminalGoneUnnoticed,
}

#[test]
fn each_command_lasts_or_does_not() {
    let help = Place::new().run(&["--help"]).out;
    let (_, commands) = help.split_once("Commands:\n").unwrap();
    let commands = commands.lines().map_while(|line| line.strip_prefix("  ")).filter(|line| !line.starts_with(' '));
    let names: Vec<&str> =
        commands.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help").collect();
    assert!(names.len() > 20, "{help}");
    for name in names {
        let lasts = LASTING.iter().any(|(line, _)| line.split(' ').next() == Some(name));
        assert!(lasts || OTHERS.contains(&name), "{name} is new: put it into a list of this test");
    }
}

#[test]
fn signals_end_all_commands_that_last() {
    thread::scope(|scope| {
        for signal in [Signal::SIGHUP, Signal::SIGTERM, Signal::SIGINT] {
            scope.spawn(move || all_end_by(Way::Sent(signal)));
        }
    });
}

#[test]
fn all_commands_that_last_end_with_their_terminal() {
    thread::scope(|scope| {
        scope.spawn(|| all_end_by(Way::TerminalGone));
        // Others that write nothing to it go on, as asked.
        scope.spawn(|| end_by(&recorded(), &LASTING[0], Way::TerminalGoneUnnoticed));
        scope.spawn(|| end_by(&recorded(), &LASTING[2], Way::TerminalGoneUnnoticed));
    });
}

/// A program, and a recording of it that goes on.
struct Recorded {
    place: Place,
    recording: Child,
    firing: Firing,
}

fn recorded() -> Recorded {
    let place = Place::new();
    let mut firing = start(&place, "everything");
    let arguments = ["record", "--probes", "*", "-o", "trace", "-p", &firing.pid()];
    let recording = place.dyntrace(&arguments).stderr(Stdio::null()).spawn().unwrap();
    wait_for_session(&place, &firing.pid());
    firing.fire();
    Recorded { place, recording, firing }
}

fn all_end_by(way: Way) {
    let mut recorded = recorded();
    for command in &LASTING {
        end_by(&recorded, command, way);
        recorded.firing.fire();
    }
    send(&recorded.recording, Signal::SIGINT);
    assert!(recorded.recording.wait().unwrap().success(), "the other recording went on");
}

fn end_by(Recorded { place, firing, .. }: &Recorded, (line, begun): &(&str, Begun), way: Way) {
    let (pid, own) = (firing.pid(), std::env::current_exe().unwrap());
    let words = line.replace("PID", &pid).replace("PROGRAM", &format!("{} --exact role --nocapture", own.display()));
    let mut command = place.dyntrace(&words.split(' ').collect::<Vec<_>>());
    command.env("TMPDIR", place.0.path()).env("ROLE", "serve");
    let mut screen = Screen::new();
    screen.control(&mut command);
    if let Way::TerminalGoneUnnoticed = way {
        // SAFETY: one system call, which is safe after fork.
        unsafe {
            use std::os::unix::process::CommandExt as _;
            command.pre_exec(|| Ok(signal(Signal::SIGHUP, SigHandler::SigIgn).map(|_| ())?));
        }
    }
    let mut child = command.spawn().unwrap();
    match begun {
        Session => while sessions(place, &pid) < 2 {},
        Writes(what) => screen.until_written(what.as_bytes()),
        Makes(folder) => while !place.path(folder).exists() {},
    }
    match way {
        Way::Sent(signal) => send(&child, signal),
        Way::TerminalGone | Way::TerminalGoneUnnoticed => drop(screen),
    }
    ended(&mut child, &format!("{line} by {way:?}"));
    while sessions(place, &pid) > 1 {}
    is_clean(place);
    for folder in ["own", "fleet"] {
        let _ = std::fs::remove_dir_all(place.path(folder));
    }
}

fn sessions(place: &Place, pid: &str) -> usize {
    let Ran { out, .. } = place.run(&["status", "-p", pid, "--json"]);
    let status: serde_json::Value = serde_json::from_str(&out).unwrap();
    status[0]["sessions"].as_array().map_or(0, Vec::len)
}

#[track_caller]
fn ended(child: &mut Child, which: &str) {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(30) {
        if child.try_wait().unwrap().is_some() {
            return;
        }
        thread::sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    panic!("it goes on: {which}");
}
