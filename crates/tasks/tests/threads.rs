//! Threads: each name is true, and the program goes on as if nobody had looked.
#![cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]

mod program;

use std::fs;
use std::path::Path;
use std::time::Duration;

use dyntrace_tasks::error::Error;
use dyntrace_tasks::program::{Options, Program as Attached};
use dyntrace_tasks::reading::DebugInformation;
use dyntrace_tasks::threads::{Activity, Ending, Frame, Role, Thread, Threads};
use program::Program;

fn threads(pid: u32) -> Result<Threads, Error> {
    let attached = Attached::attach(pid, Options::default())?;
    let information = DebugInformation::of(&attached);
    attached.threads(&information)
}

/// The thread that printed `NAME TID ...`.
fn printed<'t>(program: &Program, threads: &'t Threads, name: &str) -> &'t Thread {
    let tid = program.printed(name)[0];
    threads.threads.iter().find(|thread| u64::from(thread.tid) == tid).unwrap()
}

fn is_in(thread: &Thread, function: &str) -> Option<Frame> {
    let named = |frame: &&Frame| frame.function.as_ref().is_some_and(|name| name.ends_with(function));
    thread.frames.iter().find(named).cloned()
}

/// The line of the example that contains `text`.
fn line(text: &str) -> u32 {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/threads_truth.rs");
    let source = fs::read_to_string(source).unwrap();
    1 + source.lines().position(|line| line.contains(text)).unwrap() as u32
}

fn has_line(frame: &Frame, text: &str) -> bool {
    let place = frame.place.as_ref().unwrap();
    place.file.ends_with("threads_truth.rs") && place.line == line(text)
}

/// Reads the threads until each has stood in time, at a place from which all its callers and its task are known. On a busy machine some
/// look misses that, and says so.
fn whole(program: &Program) -> Threads {
    for _ in 0..100 {
        let threads = threads(program.pid()).unwrap();
        assert!(threads.threads.iter().all(|thread| thread.at.is_some() == thread.held.is_some()));
        let task = printed(program, &threads, "spins").task;
        assert!(task.is_none() || task == Some(program.printed("spins")[1]), "{task:?}");
        if task.is_some() && threads.threads.iter().all(|thread| thread.ending == Ending::Complete) {
            return threads;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("each look missed something: {:#?}", threads(program.pid()));
}

#[test]
fn named_functions_are_those_of_the_threads() {
    let program = Program::run("threads_truth");
    // The job is in its system call soon after it has printed.
    std::thread::sleep(Duration::from_millis(100));
    let threads = whole(&program);
    for thread in &threads.threads {
        println!("{} {} held {:?} us", thread.tid, thread.name, thread.held.map(|held| held / 1000));
    }

    let sleeper = printed(&program, &threads, "sleeps");
    assert_eq!((sleeper.name.as_str(), sleeper.role, sleeper.task, sleeper.job), ("sleeper", Role::Other, None, None));
    assert_eq!(sleeper.state, 'S');
    // After a look the kernel restarts it.
    let call = sleeper.system_call.as_ref().unwrap().name;
    assert!(matches!(call, Some("clock_nanosleep" | "restart_syscall")), "{call:?}");
    assert!(has_line(&is_in(sleeper, "threads_truth::sleeps_for_long").unwrap(), "std::thread::sleep("));

    let spinner = printed(&program, &threads, "spins");
    assert_eq!((spinner.role, spinner.activity), (Role::Worker, Some(Activity::Polls)));
    assert_eq!(spinner.task, Some(program.printed("spins")[1]));
    assert_eq!((spinner.state, &spinner.system_call), ('R', &None));
    assert!(is_in(spinner, "threads_truth::spins").is_some());
    assert!(has_line(&is_in(spinner, "threads_truth::spinner::{closure}").unwrap(), "    spins();"));
    assert!(spinner.cpu_time.unwrap() > sleeper.cpu_time.unwrap());

    let reader = printed(&program, &threads, "reads");
    assert_eq!((reader.role, reader.activity), (Role::Blocking, Some(Activity::Runs)));
    assert_eq!((reader.task, reader.job), (None, Some(program.printed("reads")[1])));
    let call = reader.system_call.as_ref().unwrap();
    assert_eq!((call.name, call.descriptor, reader.state), (Some("read"), Some(0), 'S'));
    assert!(has_line(&is_in(reader, "threads_truth::reads_input").unwrap(), "stdin().read"));

    let main = threads.threads.iter().find(|thread| thread.tid == program.pid()).unwrap();
    assert_eq!((main.role, main.activity, main.task), (Role::BlockOn, Some(Activity::Idle), None));
    let idle = threads.threads.iter().filter(|thread| thread.role == Role::Worker && thread.task.is_none());
    assert_eq!(idle.map(|thread| thread.activity).collect::<Vec<_>>(), [Some(Activity::Idle)]);
}

#[test]
fn the_program_goes_on() {
    let program = Program::run("threads_truth");
    let spinner = program.printed("spins")[0];
    let mut cpu_time = 0;
    for _ in 0..2 {
        let threads = threads(program.pid()).unwrap();
        let now = threads.threads.iter().find(|thread| u64::from(thread.tid) == spinner).unwrap().cpu_time.unwrap();
        assert!(now > cpu_time, "{now}");
        cpu_time = now;
        for thread in fs::read_dir(format!("/proc/{}/task", program.pid())).unwrap() {
            let status = fs::read_to_string(thread.unwrap().path().join("status")).unwrap();
            assert!(status.contains("TracerPid:\t0\n"), "{status}");
            assert!(!status.contains("State:\tt") && !status.contains("State:\tT"), "{status}");
        }
    }
}

#[test]
fn threads_may_end_meanwhile() {
    let program = Program::run_with("threads_truth", &["churn"]);
    for _ in 0..2 {
        let threads = threads(program.pid()).unwrap();
        let task = printed(&program, &threads, "spins").task;
        assert!(task.is_none() || task == Some(program.printed("spins")[1]), "{task:?}");
    }
}

#[test]
fn a_thread_that_another_program_traces_is_left_alone() {
    let program = Program::run_with("threads_truth", &["quiet"]);
    let (pid, tid) = (program.pid(), i32::try_from(program.printed("sleeps")[0]).unwrap());
    // This thread is the tracer: the kernel ends the tracing with it.
    let tracer = std::thread::spawn(move || {
        // SAFETY: this request takes no address.
        let seized = unsafe { libc::ptrace(libc::PTRACE_SEIZE, tid, 0_usize, 0_usize) };
        assert_eq!(seized, 0);
        threads(pid).unwrap()
    });
    let threads = tracer.join().unwrap();
    let sleeper = printed(&program, &threads, "sleeps");
    assert_eq!((sleeper.ending, sleeper.frames.len(), sleeper.held), (Ending::Traced, 0, None));
}

#[test]
fn without_permission_there_is_a_way_out() {
    use rustix::thread::{Uid, set_thread_res_uid};

    let program = Program::run_with("threads_truth", &["quiet"]);
    let pid = program.pid();
    if !rustix::process::geteuid().is_root() {
        eprintln!("SKIPPED: only root can give up its rights");
        return;
    }
    let refused = std::thread::spawn(move || {
        // Of this thread only.
        let nobody = Uid::from_raw(65534);
        set_thread_res_uid(nobody, nobody, nobody).unwrap();
        let error = threads(pid).unwrap_err();
        assert!(matches!(error, Error::NotPermitted { .. }), "{error}");
        // The way out is that of the thread that tells it.
        error.to_string()
    });
    let error = refused.join().unwrap();
    assert!(error.contains("run as root"), "{error}");
}
