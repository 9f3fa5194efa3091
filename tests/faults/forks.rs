//! Forks of a recorded program: each event is once in the trace of its own process, or counted as lost there.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::thread;

use dyntrace::recorder::control::Connection;
use dyntrace::recorder::control::protocol::Request;
use dyntrace::recorder::{Session, control, trigger};

use crate::forked::in_child;
use crate::support::{Lines, alone, fire, inside_of, options, program, read, read_counted, run, stop, times};

const EVENTS: i32 = 1000;

/// Runs the rest of a test in its own program, which no other test forks.
fn apart(test: &str) -> Option<PathBuf> {
    if let Some(directory) = inside_of() {
        return Some(directory);
    }
    let _alone = alone();
    let directory = tempfile::tempdir().unwrap();
    run(&format!("forks::{test}"), directory.path(), &[]);
    None
}

fn fire_all(line: i32) {
    (1..=EVENTS).for_each(|number| fire(line, number));
}

/// Checks that the trace has the events of these lines and of no other, each once, except for `lost` of them.
fn assert_holds(trace: &Path, lines: &[i32], lost: u64) {
    let found = read(trace);
    assert_complete(&found, lines, lost, trace);
}

fn assert_complete(found: &Lines, lines: &[i32], lost: u64, trace: &Path) {
    assert!(found.keys().all(|line| lines.contains(&(*line as i32))), "{}: {:?}", trace.display(), found.keys());
    for (line, numbers) in found {
        assert!(numbers.is_sorted_by(|before, next| before < next), "{}: {line}: {numbers:?}", trace.display());
    }
    let events: usize = found.values().map(Vec::len).sum();
    let fired = lines.len() * EVENTS as usize;
    assert_eq!(events + lost as usize, fired, "{}: {lost} counted as lost", trace.display());
}

/// The recording of a process.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Recorded {
    Not,
    ByCode,
    BySocket,
}

const ALL: [Recorded; 3] = [Recorded::Not, Recorded::ByCode, Recorded::BySocket];

enum Running {
    Not,
    ByCode(Session),
    BySocket(Connection, u32),
}

impl Running {
    /// Starts it. Any threads that it has have started when it returns.
    fn start(how: Recorded, trace: &Path) -> Running {
        let running = Running::begin(how, trace);
        if how != Recorded::Not {
            keeper_is_there();
        }
        running
    }

    fn begin(how: Recorded, trace: &Path) -> Running {
        match how {
            Recorded::Not => Running::Not,
            Recorded::ByCode => Running::ByCode(Session::start(options(trace, ",size=1M")).unwrap()),
            Recorded::BySocket => {
                control::control().unwrap();
                let mut connection = Connection::open(std::process::id()).unwrap();
                let started = connection.request(&Request::Start(options(trace, ",size=1M"))).unwrap();
                let session = started[0].get("session").unwrap().parse().unwrap();
                Running::BySocket(connection, session)
            }
        }
    }

    /// Ends it, and checks that the trace has the events of these lines.
    fn end(self, trace: &Path, lines: &[i32]) {
        let lost = match self {
            Running::Not => return assert!(!trace.exists()),
            Running::ByCode(session) => stop(session).status.discarded,
            Running::BySocket(mut connection, session) => {
                let stopped = connection.request(&Request::Stop(session)).unwrap();
                assert_eq!(stopped[0].get("errors"), Some(""));
                stopped[0].get("lost").unwrap().parse().unwrap()
            }
        };
        assert_holds(trace, lines, lost);
    }
}

/// The child's program: it fires before its session, in its session on two threads, and after it. Its threads have ended when it returns.
fn be_a_child(how: Recorded, trace: &Path) {
    fire_all(10);
    let running = Running::start(how, trace);
    fire_all(11);
    thread::spawn(|| fire_all(12)).join().unwrap();
    running.end(trace, &[11, 12]);
    fire_all(13);
    keeper_is_gone();
}

#[test]
fn each_process_has_its_own_events() {
    let Some(directory) = apart("each_process_has_its_own_events") else { return };
    for round in 0..times(1, 20) {
        for parent in ALL {
            for is_before in [true, false] {
                for child in ALL {
                    let name = format!("{round}-{parent:?}-{is_before}-{child:?}");
                    scenario(&directory.join(name), parent, is_before, child);
                }
            }
        }
    }
}

/// A parent with two threads that is recorded from before or after the fork, its children, and a grandchild.
fn scenario(directory: &Path, parent: Recorded, is_before: bool, child: Recorded) {
    let trace = directory.join("parent");
    let mut running = is_before.then(|| Running::start(parent, &trace));
    let (fired, end) = (&AtomicI32::new(0), &AtomicBool::new(false));
    thread::scope(|scope| {
        let at_end = AtEnd(end);
        // Fires before and after the fork, and lives throughout: if a thread starts or ends during a fork, the child cannot start
        // threads by the standard library. So each thread is also joined before the next fork: a scope alone does not wait until the
        // system has ended it.
        let firing = scope.spawn(move || {
            for number in 1..=EVENTS {
                fire(if is_before { 2 } else { 9 }, number);
                fired.store(number, Ordering::Release);
            }
            while !end.load(Ordering::Acquire) {
                thread::yield_now();
            }
        });
        while fired.load(Ordering::Acquire) == 0 {
            thread::yield_now();
        }
        in_child(|| {
            be_a_child(child, &directory.join("child"));
            in_child(|| be_a_child(child, &directory.join("grandchild")));
            be_a_child(child, &directory.join("child-again"));
        });
        in_child(|| fire(14, 1));
        // Otherwise its events after the fork would be in the later session.
        while fired.load(Ordering::Acquire) < EVENTS {
            thread::yield_now();
        }
        let running = running.get_or_insert_with(|| Running::start(parent, &trace));
        // A child that outlives its parent's session.
        in_child(|| {
            if let Running::ByCode(session) = &running {
                assert!(session.status().is_none());
            }
            fire(15, 1);
        });
        fire_all(1);
        drop(at_end);
        firing.join().unwrap();
    });
    running.unwrap().end(&trace, if is_before { &[1, 2] } else { &[1] });
    keeper_is_gone();
}

/// Waits until the recorder's thread has started, so that the next child can start threads.
fn keeper_is_there() {
    while !has_keeper() {
        thread::yield_now();
    }
}

/// Waits until it has ended, for the same reason.
fn keeper_is_gone() {
    while has_keeper() {
        thread::yield_now();
    }
}

/// Whether the recorder's thread runs. It has its name when it has started.
fn has_keeper() -> bool {
    let is_keeper = |task: fs::DirEntry| {
        fs::read_to_string(task.path().join("comm")).is_ok_and(|name| name.trim_end() == "dyntrace-keeper")
    };
    fs::read_dir("/proc/self/task").unwrap().flatten().any(is_keeper)
}

/// Ends the threads, also when the test fails.
struct AtEnd<'a>(&'a AtomicBool);

impl Drop for AtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

#[test]
fn a_child_of_a_program_that_the_environment_records() {
    let Some(directory) = inside_of() else {
        let _alone = alone();
        let directory = tempfile::tempdir().unwrap();
        let trace = directory.path().join("environment");
        let mut program = program("forks::a_child_of_a_program_that_the_environment_records", directory.path(), &[]);
        let output = program.env("DYNTRACE", format!("record:{},size=1M", trace.display())).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let (found, lost) = read_counted(&trace);
        return assert_complete(&found, &[1, 2], lost, &trace);
    };
    fire_all(1);
    keeper_is_there();
    in_child(|| be_a_child(Recorded::ByCode, &directory.join("by-code")));
    in_child(|| be_a_child(Recorded::BySocket, &directory.join("by-socket")));
    fire_all(2);
}

/// Each child takes snapshots of its own rings while the parent is taking one.
#[test]
fn forks_while_snapshots_are_taken() {
    let Some(directory) = apart("forks_while_snapshots_are_taken") else { return };
    let circle = |name: &str| options(&directory.join(name), ",mode=overwrite,size=1M,snapshots=1000");
    let session = Session::start(circle("parent")).unwrap();
    keeper_is_there();
    let end = &AtomicBool::new(false);
    thread::scope(|scope| {
        let _end = AtEnd(end);
        scope.spawn(|| {
            let mut number = 0;
            while !end.load(Ordering::Acquire) {
                number += 1;
                trigger();
                session.snapshot(directory.join(format!("snapshot-{number}"))).unwrap().unwrap();
            }
        });
        fire_all(1);
        for fork in 0..times(10, 200) {
            in_child(|| {
                trigger();
                assert!(session.snapshot(directory.join("none")).is_none());
                let own = Session::start(circle(&format!("child-{fork}"))).unwrap();
                fire_all(2);
                let taken = directory.join(format!("of-child-{fork}"));
                own.snapshot(&taken).unwrap().unwrap();
                let discarded = own.status().unwrap().discarded;
                assert_holds(&taken, &[2], discarded);
                stop(own);
            });
        }
    });
    let last = directory.join("last");
    session.snapshot(&last).unwrap().unwrap();
    assert_holds(&last, &[1], stop(session).status.discarded);
}

/// The C library runs no fork handlers in the children of these calls.
#[test]
#[cfg_attr(dyntrace_portable, ignore = "children are found there by handlers of pthread_atfork")]
fn a_child_of_the_bare_system_call_fires_into_nothing() {
    let Some(directory) = apart("a_child_of_the_bare_system_call_fires_into_nothing") else { return };
    let trace = directory.join("parent");
    let session = Session::start(options(&trace, ",size=1M")).unwrap();
    fire_all(1);
    // SAFETY: the child shares no memory; it fires, which takes no lock, and ends by `_exit`.
    let child = unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) };
    if child == 0 {
        fire_all(2);
        // SAFETY: ends this process.
        unsafe { libc::_exit(0) };
    }
    assert_eq!(status_of(child as libc::pid_t), 0);
    assert_holds(&trace, &[1], stop(session).status.discarded);
}

fn status_of(child: libc::pid_t) -> i32 {
    let mut status = 0;
    // SAFETY: the status is written to a variable that is there.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    status
}

/// Other programs, by `posix_spawn` and by a fork with an exec: events of the child before the exec are not in the trace.
#[test]
fn programs_that_are_started() {
    let Some(directory) = apart("programs_that_are_started") else { return };
    let trace = directory.join("parent");
    let session = Session::start(options(&trace, ",size=1M")).unwrap();
    for line in 1..=10 {
        fire_all(line);
        assert!(Command::new("true").status().unwrap().success());
        let mut forked = Command::new("true");
        // SAFETY: firing takes no lock and does not allocate.
        unsafe {
            forked.pre_exec(|| {
                fire_all(11);
                Ok(())
            });
        }
        assert!(forked.status().unwrap().success());
    }
    assert_holds(&trace, &(1..=10).collect::<Vec<_>>(), stop(session).status.discarded);
}

/// The remaining number of forks in the signal handler.
static LEFT: AtomicI32 = AtomicI32::new(0);

extern "C" fn fork_here(_: libc::c_int) {
    if LEFT.load(Ordering::Relaxed) > 0 {
        LEFT.fetch_sub(1, Ordering::Relaxed);
        // SAFETY: the interrupted thread only fires; it holds no lock of the C library.
        let child = unsafe { libc::fork() };
        if child > 0 && status_of(child) != 0 {
            // SAFETY: ends the program, as a handler must not panic.
            unsafe { libc::abort() };
        }
    }
}

fn end_child(parent: u32) {
    if std::process::id() != parent {
        // SAFETY: ends this process.
        unsafe { libc::_exit(0) };
    }
}

/// The child returns into the interrupted firing, and completes it.
#[test]
fn forks_in_the_middle_of_a_firing() {
    let Some(directory) = apart("forks_in_the_middle_of_a_firing") else { return };
    let own = std::process::id();

    LEFT.store(times(50, 2_000) as i32, Ordering::Relaxed);
    let trace = directory.join("parent");
    let session = Session::start(options(&trace, "")).unwrap();
    fire(1, 1);
    // SAFETY: the handler lives as long as the program; plain data; the thread's own handle.
    let target = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = fork_here as extern "C" fn(libc::c_int) as usize;
        action.sa_flags = libc::SA_RESTART;
        assert_eq!(libc::sigaction(libc::SIGUSR1, &action, std::ptr::null_mut()), 0);
        libc::pthread_self()
    };
    let mut number = 1;
    thread::scope(|scope| {
        scope.spawn(move || {
            while LEFT.load(Ordering::Relaxed) > 0 {
                // SAFETY: the thread waits for this one.
                unsafe { libc::pthread_kill(target, libc::SIGUSR1) };
                thread::sleep(std::time::Duration::from_micros(500));
            }
        });
        while LEFT.load(Ordering::Relaxed) > 0 {
            number += 1;
            fire(1, number);
            end_child(own);
        }
        // The last one.
        end_child(own);
    });
    let summary = stop(session);
    let found = read(&trace).remove(&1).unwrap();
    assert!(found.is_sorted_by(|before, next| before < next));
    assert_eq!(found.len() as u64 + summary.status.discarded, number as u64);
}
