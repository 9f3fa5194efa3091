//! The census of programs that know their own count.
#![cfg(target_os = "linux")]

mod layouts;
mod truth;

use std::collections::HashSet;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::process::Command;
use std::time::{Duration, Instant};

use dyntrace_tasks::census::{Census, CensusTask};
use dyntrace_tasks::error::Error;
use dyntrace_tasks::layout::Other;
use dyntrace_tasks::listing::Name;
use dyntrace_tasks::memory::Memory;
use dyntrace_tasks::program::{Options, Program};
use dyntrace_tasks::reading::DebugInformation;
use truth::Truth;

fn attach(truth: &Truth) -> Program {
    Program::attach(truth.pid(), Options::default()).unwrap()
}

fn ids(census: &Census) -> HashSet<u64> {
    census.tasks.iter().map(|task| task.id).collect()
}

fn by_id(census: &Census, id: u64) -> &CensusTask {
    let mut tasks = census.tasks.iter().filter(|task| task.id == id);
    let task = tasks.next().unwrap_or_else(|| panic!("no task {id}"));
    assert_eq!(tasks.next(), None, "two tasks have id {id}");
    task
}

/// Asserts that the census of a program at rest has its tasks and no others.
fn assert_exact(census: &Census, truth: &Truth) {
    let [runtime] = &census.runtimes[..] else { panic!("{:?}", census.runtimes) };
    assert_eq!((runtime.counted, runtime.found), (Some(truth.count), truth.count));
    let live = census.tasks.iter().filter(|task| task.owner == runtime.owner && !task.state().complete);
    assert!(live.clone().all(|task| task.linked == Some(true)));
    assert_eq!(live.count() as u64, truth.count);
    let complete = by_id(census, truth.complete);
    assert_eq!((complete.state().complete, complete.linked), (true, Some(false)));
    let job = by_id(census, truth.job);
    assert_eq!((job.owner, job.linked, job.state().running), (0, None, true));
    // Each worker's own job, and this one.
    assert_eq!(census.tasks.iter().filter(|task| task.owner == 0).count(), 3);
    assert_eq!(ids(census).len(), census.tasks.len());
    assert_eq!(census.notes, [""; 0]);
}

#[test]
fn a_forked_child_has_none_of_its_parents_tasks() {
    let (mut parent, line) = truth::run(&truth::example(), &["7", "fork"]);
    let [count, child] = line.split_whitespace().map(|word| word.parse().unwrap()).collect::<Vec<u32>>()[..] else {
        panic!("{line}")
    };
    let of = |pid| Program::attach(pid, Options::default()).unwrap().census(None).unwrap();
    let (own, parents) = (of(child), of(parent.id()));
    drop(parent.stdin.take());
    // The locks that the parent's threads had may keep the child from its end.
    let child = rustix::process::Pid::from_raw(child as i32).unwrap();
    rustix::process::kill_process(child, rustix::process::Signal::KILL).unwrap();
    parent.wait().unwrap();
    let counts = |census: &Census| {
        let jobs = census.tasks.iter().filter(|task| task.owner == 0).count();
        let runtimes: Vec<_> = census.runtimes.iter().map(|runtime| (runtime.counted, runtime.found)).collect();
        (jobs, runtimes)
    };
    // The worker's own job, and the one that waits for the end.
    assert_eq!(counts(&own), (2, vec![(Some(u64::from(count)), u64::from(count))]), "{own:?}");
    assert!(own.notes[0].contains("of 8 tasks and 3 jobs in its memory"), "{:?}", own.notes);
    assert_eq!((counts(&parents), parents.notes.len()), ((3, vec![(Some(7), 7)]), 0));
    assert_eq!((own.gaps.len(), parents.gaps.len()), (0, 0));
}

#[test]
fn is_exact_at_rest() {
    for tasks in ["1", "1000", "100000"] {
        let truth = Truth::start(&[tasks]);
        assert_eq!(truth.count.to_string(), tasks);
        let begun = Instant::now();
        let program = attach(&truth);
        let attached = begun.elapsed();
        let census = program.census(None).unwrap();
        println!(
            "{tasks} tasks: attached in {attached:?}, {} MiB scanned, all in {:?}",
            census.scanned >> 20,
            begun.elapsed()
        );
        assert_exact(&census, &truth);
        assert_eq!(by_id(&census, truth.first).owner, census.runtimes[0].owner);
    }
}

#[test]
fn invents_and_loses_none_under_load() {
    let truth = Truth::start(&["500", "churn"]);
    let program = attach(&truth);
    let begun = Instant::now();
    let mut censuses = 0;
    let mut most = 0;
    // The tasks that live all the time have the ids of the first census that are in all of them.
    let mut lasting: Option<HashSet<u64>> = None;
    while begun.elapsed() < Duration::from_secs(3) {
        let census = program.census(None).unwrap();
        let own: Vec<&CensusTask> = census.tasks.iter().filter(|task| task.owner != 0).collect();
        // 500, one complete, three that churn, and their tasks: at most 580 at one time, and as many that follow these.
        assert!((501..=504 + 2 * 580).contains(&own.len()), "{}", own.len());
        most = own.len().max(most);
        assert_eq!(census.tasks.len() - own.len(), 3);
        let found = ids(&census);
        assert_eq!(found.len(), census.tasks.len());
        lasting = Some(lasting.map_or(found.clone(), |lasting| &lasting & &found));
        let unlinked = own.iter().filter(|task| task.linked == Some(false) && !task.state().complete).count();
        assert_eq!(unlinked, 0);
        censuses += 1;
    }
    // 500, one complete, three jobs, three that churn.
    println!("{censuses} censuses, at most {most} tasks");
    assert_eq!(lasting.unwrap().len(), 507);
}

/// Writes to the memory of a program.
fn write(pid: u32, words: impl IntoIterator<Item = (u64, u64)>) {
    let memory = File::options().write(true).open(format!("/proc/{pid}/mem")).unwrap();
    words.into_iter().for_each(|(address, word)| memory.write_all_at(&word.to_le_bytes(), address).unwrap());
}

#[test]
fn vtables_and_headers_that_look_like_none_make_the_answer_unknown() {
    let truth = Truth::start(&["7"]);
    let program = attach(&truth);
    let census = program.census(None).unwrap();
    assert_eq!(program.other_layout().unwrap(), Other::default());
    // The pointer to the vtable and the owner's number change places.
    let swapped = census.tasks.iter().flat_map(|task| {
        let [vtable, owner] = [task.address + 0x10, task.address + 0x18];
        [(vtable, program.memory().word(owner).unwrap()), (owner, program.memory().word(vtable).unwrap())]
    });
    write(truth.pid(), swapped);
    let threads = program.threads(&DebugInformation::of(&program)).unwrap();
    for gaps in [program.other_layout().unwrap().gaps, threads.gaps.clone()] {
        assert!(gaps.len() == 1 && gaps[0].contains("`Header.vtable` at 0x18 and not at 0x10"), "{gaps:?}");
    }
    assert!(threads.unknown().unwrap().ends_with(&threads.gaps[0]));

    // Of each vtable, the offset of the trailer becomes odd.
    write(truth.pid(), program.vtables().iter().map(|vtable| (vtable.address + 0x38, 1)));
    let error = Program::attach(truth.pid(), Options::default()).unwrap_err();
    assert!(matches!(&error, Error::OtherLayout { gaps, .. } if gaps.len() == 1), "{error}");
    let told = error.to_string();
    assert!(told.contains("no `Vtable` of 7 functions before the offsets of trailer, scheduler and id; "), "{told}");
}

#[test]
fn is_one_instant_when_stopped() {
    let truth = Truth::start(&["500", "churn"]);
    let options = Options { stop: true, ..Options::default() };
    let program = Program::attach(truth.pid(), options).unwrap();
    for _ in 0..10 {
        let census = program.census(None).unwrap();
        let [runtime] = &census.runtimes[..] else { panic!("{:?}", census.runtimes) };
        // Each worker may be spawning or ending one.
        assert!(runtime.counted.unwrap().abs_diff(runtime.found) <= 2, "{runtime:?}");
        assert!(census.tasks.len() <= 504 + 580 + 3, "{}", census.tasks.len());
    }
}

#[test]
fn is_exact_when_stopped() {
    let truth = Truth::start(&["1000"]);
    let options = Options { stop: true, ..Options::default() };
    let program = Program::attach(truth.pid(), options).unwrap();
    assert_exact(&program.census(None).unwrap(), &truth);
    let state = || std::fs::read_to_string(format!("/proc/{}/stat", truth.pid())).unwrap();
    assert!(!state().contains(") T "), "{}", state());
}

#[test]
fn takes_no_remains_for_tasks() {
    let (mut remains, line) = truth::run(&truth::named("tasks_remains"), &[]);
    let program = Program::attach(remains.id(), Options::default()).unwrap();
    let censuses = [program.census(None), program.census(None)];
    remains.kill().unwrap();
    remains.wait().unwrap();
    assert_eq!(line, "15 7 4 1 1 5\n");
    for census in censuses {
        let census = census.unwrap();
        let mut found: Vec<(Option<u64>, u64)> =
            census.runtimes.iter().map(|runtime| (runtime.counted, runtime.found)).collect();
        found.sort_unstable();
        // The LocalSets do not count.
        assert_eq!(found, [(None, 1), (None, 4), (Some(1), 1), (Some(7), 7), (Some(15), 15)], "{census:#x?}");
        let jobs = census.tasks.iter().filter(|task| task.owner == 0);
        let (run, wait): (Vec<_>, Vec<_>) = jobs.partition(|job| job.state().running);
        // Each worker's own job, and the one that keeps others waiting.
        assert_eq!((census.tasks.len(), run.len(), wait.len()), (28 + 3 + 5, 3, 5), "{census:#x?}");
        assert!(census.tasks.iter().all(|task| task.owner == 0 || task.linked == Some(true)), "{census:#x?}");
    }
}

#[test]
fn names_futures_as_far_as_symbols_go() {
    let truth = Truth::start(&["10"]);
    let program = attach(&truth);
    let census = program.census(None).unwrap();
    let task = by_id(&census, truth.first);
    match &program.vtables()[task.vtable as usize].name {
        Name::Symbol { name } => assert!(name.contains("sleeper"), "{name}"),
        Name::Candidates { names } => assert!(names.iter().any(|name| name.contains("sleeper")), "{names:?}"),
        name => panic!("{name:?}"),
    }
}

#[test]
fn a_program_may_have_any_name_and_no_file_any_more() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a b\n(deleted) [heap]");
    std::fs::copy(truth::example(), &file).unwrap();
    let truth = Truth::start_file(&file, &["10"]);
    let census = attach(&truth).census(None).unwrap();
    assert_exact(&census, &truth);
    drop(folder);
    let program = attach(&truth);
    assert!(program.images()[0].path.to_string_lossy().ends_with(" (deleted)"));
    assert_exact(&program.census(None).unwrap(), &truth);
}

#[test]
fn finds_the_debug_file_of_a_stripped_program() {
    let folder = tempfile::tempdir().unwrap();
    let [stripped, debug] = ["stripped", "stripped.debug"].map(|name| folder.path().join(name));
    std::fs::copy(truth::example(), &stripped).unwrap();
    let objcopy = |arguments: &[&str]| {
        let done = Command::new("objcopy").current_dir(folder.path()).args(arguments).status();
        done.is_ok_and(|status| status.success())
    };
    if !objcopy(&["--only-keep-debug", "stripped", "stripped.debug"])
        || !objcopy(&["--strip-all", "--add-gnu-debuglink=stripped.debug", "stripped"])
    {
        println!("skipped: no objcopy");
        return;
    }
    let truth = Truth::start_file(&stripped, &["10"]);
    let program = attach(&truth);
    assert_eq!(program.images()[0].debug_file.as_ref().map(|file| &file.path), Some(&debug));
    let census = program.census(None).unwrap();
    assert_exact(&census, &truth);
    let vtable = &program.vtables()[by_id(&census, truth.first).vtable as usize];
    assert!(!matches!(vtable.name, Name::Address { .. }), "{:?}", vtable.name);

    std::fs::remove_file(&debug).unwrap();
    let program = attach(&truth);
    assert!(program.images()[0].debug_bytes().is_none());
    assert_exact(&program.census(None).unwrap(), &truth);
    assert!(program.vtables().iter().all(|vtable| matches!(vtable.name, Name::Address { .. })));
}

#[test]
fn a_program_that_has_ended_is_an_error() {
    let mut truth = Truth::start(&["1"]);
    let program = attach(&truth);
    truth.end();
    assert!(matches!(program.census(None), Err(Error::Ended { .. })));
    assert!(matches!(Program::attach(truth.pid(), Options::default()), Err(Error::NoProcess { .. })));
}

#[test]
fn a_program_without_tokio_is_an_error() {
    let mut sleep = Command::new("sleep").arg("60").spawn().unwrap();
    // Until it has executed its file.
    std::thread::sleep(Duration::from_millis(100));
    let error = Program::attach(sleep.id(), Options::default()).unwrap_err();
    sleep.kill().unwrap();
    sleep.wait().unwrap();
    assert!(error.to_string().contains("no task vtables in"), "{error}");
}

#[test]
fn a_debug_file_of_another_build_is_an_error() {
    let truth = Truth::start(&["1"]);
    let attach = |path: std::path::PathBuf| {
        Program::attach(truth.pid(), Options { debug_file: Some(path), ..Options::default() })
    };
    assert!(attach(truth::example()).is_ok());
    let error = attach(std::env::current_exe().unwrap()).unwrap_err();
    assert!(error.to_string().contains("different builds"), "{error}");
    assert!(matches!(attach("Cargo.toml".into()), Err(Error::NotElf { .. })));
    assert!(matches!(attach("no such file".into()), Err(Error::File { .. })));
}
