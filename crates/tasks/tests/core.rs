//! A core file shows the same tasks as the program while it ran.
#![cfg(target_os = "linux")]

mod program;
#[path = "census/truth.rs"]
mod truth;

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use dyntrace_tasks::coverage::Coverage;
use dyntrace_tasks::error::Error;
use dyntrace_tasks::listing::{Await, Chain, Listing, SemaphoreOf, Task, WaitsFor};
use dyntrace_tasks::locks::{Cycle, Locks};
use dyntrace_tasks::memory::maps::{self, Mapping};
use dyntrace_tasks::program::{Options, Program};
use dyntrace_tasks::reading::{DebugInformation, Described};
use truth::Truth;

fn open(core: &Path, exe: &Path) -> Program {
    Program::open_core(core, exe, Options::default()).unwrap()
}

fn listing(program: &Program) -> Listing {
    let information = DebugInformation::of(program);
    let described = Described::of(program, &information);
    program.listing(&described).unwrap()
}

/// Removes facts that a core file does not have: the time, and the kernel's descriptions of descriptors.
fn as_in_core(mut task: Task) -> Task {
    fn forget(future: &mut Await) {
        match &mut future.waits_for {
            Some(WaitsFor::Descriptor { describes, .. }) => *describes = None,
            Some(timer @ WaitsFor::Timer { .. }) => *timer = WaitsFor::UnknownLeaf,
            _ => {}
        }
        future.awaits.iter_mut().for_each(forget);
    }
    if let Chain::Read { root } = &mut task.chain {
        forget(root);
    }
    task
}

fn cycles(listing: &Listing) -> Vec<Cycle> {
    Locks::of(listing).cycles()
}

/// Asserts that the core file of `chains_truth` shows the same as `live`, which was read while the program ran.
fn assert_same(live: &Listing, core: &Path) {
    let program = open(core, &program::example("chains_truth"));
    let listing = listing(&program);
    assert_eq!(listing.tasks.len(), live.tasks.len());
    for (live, task) in live.tasks.iter().cloned().zip(&listing.tasks) {
        assert_eq!(format!("{task:#?}"), format!("{:#?}", as_in_core(live)));
    }
    let [runtime] = &listing.runtimes[..] else { panic!("{:?}", listing.runtimes) };
    assert_eq!(runtime.counted, Some(runtime.found));
    let [note] = &listing.notes[..] else { panic!("{:?}", listing.notes) };
    assert!(note.contains("when timers are due is not known"), "{note}");
    let (of_core, of_live) = (Coverage::of(&listing), Coverage::of(live));
    assert_eq!((of_core.tasks, of_core.unknown()), (of_live.tasks, of_live.unknown()));
    let found = cycles(&listing);
    assert_eq!(found.len(), 2);
    assert!(found.iter().all(|cycle| cycle.steps.len() == 2 && !cycle.may_end));
    let mutexes = listing.tasks.iter().filter(|task| waits_for_mutex(task)).count();
    assert!(mutexes >= 4, "{mutexes}");
}

fn waits_for_mutex(task: &Task) -> bool {
    let Chain::Read { root } = &task.chain else { return false };
    let leaves = program::leaves(root);
    leaves.iter().any(|leaf| matches!(leaf, WaitsFor::Semaphore { of: SemaphoreOf::Mutex, .. }))
}

fn live(pid: u32) -> Listing {
    let listing = listing(&Program::attach(pid, Options::default()).unwrap());
    assert_eq!(cycles(&listing).len(), 2);
    listing
}

#[test]
fn shows_the_chains_of_the_running_program() {
    let folder = tempfile::tempdir().unwrap();
    let core = folder.path().join("core");
    let program = program::Program::run("chains_truth");
    program::core_file::write(program.pid(), &core);
    assert_same(&live(program.pid()), &core);
}

/// Waits for the whole core file of a process that the kernel is ending.
fn written(folder: &Path, pid: u32) -> Option<std::path::PathBuf> {
    let begun = Instant::now();
    while fs::read(format!("/proc/{pid}/stat")).is_ok_and(|stat| !String::from_utf8_lossy(&stat).contains(") Z ")) {
        assert!(begun.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(20));
    }
    fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).next()
}

#[test]
fn reads_what_the_kernel_writes() {
    use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, prlimit};

    let folder = tempfile::tempdir().unwrap();
    let program = program::Program::run_in("chains_truth", folder.path());
    let live = live(program.pid());
    let pid = Pid::from_raw(program.pid() as i32).unwrap();
    let allowed = prlimit(Some(pid), Resource::Core, Rlimit { current: None, maximum: None });
    let pattern = fs::read_to_string("/proc/sys/kernel/core_pattern").unwrap();
    if pattern.starts_with('|') || pattern.contains('/') || allowed.is_err() {
        println!("left out: the kernel of this machine writes no core file into the folder of the program");
        return;
    }
    kill_process(pid, Signal::ABORT).unwrap();
    let core = written(folder.path(), program.pid()).expect("a core file");
    println!("{} MiB", fs::metadata(&core).unwrap().len() >> 20);
    assert_same(&live, &core);
}

#[test]
fn counts_exactly() {
    let folder = tempfile::tempdir().unwrap();
    let core = folder.path().join("core");
    let truth = Truth::start(&["20000"]);
    program::core_file::write(truth.pid(), &core);
    // The file may have been moved since.
    let exe = folder.path().join("moved");
    fs::copy(truth::example(), &exe).unwrap();
    let census = open(&core, &exe).census(None).unwrap();
    let [runtime] = &census.runtimes[..] else { panic!("{:?}", census.runtimes) };
    assert_eq!((runtime.counted, runtime.found), (Some(truth.count), truth.count));
    let complete = census.tasks.iter().filter(|task| task.state().complete).map(|task| task.id);
    assert_eq!(complete.collect::<Vec<_>>(), [truth.complete]);
    let jobs = census.tasks.iter().filter(|task| task.owner == 0);
    assert!(jobs.clone().any(|task| task.id == truth.job));
    // Each worker's own job, and that one.
    assert_eq!(jobs.count(), 3);
}

#[test]
fn memory_that_a_core_file_lacks_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let truth = Truth::start(&["10"]);
    let (pid, exe) = (truth.pid(), truth::example());
    let open = |left_out: &dyn Fn(&Mapping) -> bool| {
        let core = folder.path().join("core");
        program::core_file::write_without(pid, &core, left_out);
        Program::open_core(&core, &exe, Options::default())
    };
    let is_stack = |map: &Mapping| program::core_file::is_stack(pid, map);
    let unread = |program: &Program| program.memory().unread().join("\n");

    let whole = open(&|_| false).unwrap();
    assert_eq!(unread(&whole), "");
    let without_stacks = open(&is_stack).unwrap();
    assert!(unread(&without_stacks).contains("lacks the stacks of"), "{}", unread(&without_stacks));
    assert_eq!(listing(&without_stacks).runtimes[0].found, truth.count);
    let without_heap = open(&|map| map.is_heap() && !is_stack(map)).unwrap();
    assert!(unread(&without_heap).contains("anonymous memory"), "{}", unread(&without_heap));
    assert!(!unread(&without_heap).contains("stacks"), "{}", unread(&without_heap));
    let listing = listing(&without_heap);
    assert!(listing.tasks.is_empty() && listing.notes.iter().any(|note| note.contains("coredump_filter")));
    // Of several mappings, the largest one was left out by the program.
    let maps = maps::parse(&fs::read(format!("/proc/{pid}/maps")).unwrap());
    let size = |map: &Mapping| map.range.end - map.range.start;
    let heaps: Vec<&Mapping> = maps.iter().filter(|map| map.is_heap() && !is_stack(map)).collect();
    let largest = heaps.iter().max_by_key(|map| size(map)).unwrap();
    let without_one = open(&|map| map.range == largest.range).unwrap();
    let lacks =
        format!("lacks {} of {} bytes of the program's", size(largest), heaps.iter().map(|map| size(map)).sum::<u64>());
    assert!(unread(&without_one).contains(&lacks), "{}", unread(&without_one));
    // The stack for signals of a thread.
    let small = open(&|map| map.is_heap() && !is_stack(map) && size(map) < 1 << 16).unwrap();
    assert_eq!(unread(&small), "");
    // Of which a part was left out.
    let core = folder.path().join("core");
    program::core_file::write(pid, &core);
    let mut bytes = fs::read(&core).unwrap();
    let heap = maps.iter().find(|map| &*map.path == "[heap]").unwrap();
    let word = |bytes: &[u8], at: usize| u64::from_le_bytes(bytes[at..][..8].try_into().unwrap());
    // A program header has 56 bytes: the address is at 16, the bytes in the file are at 32, those in memory at 40.
    let header = (64..).step_by(56).find(|at| word(&bytes, at + 16) == heap.range.start).unwrap();
    bytes[header + 32..][..8].copy_from_slice(&4096_u64.to_le_bytes());
    let lacks = word(&bytes, header + 40) - 4096;
    // The program's file must not be changed while it is mapped: a new one.
    fs::remove_file(&core).unwrap();
    fs::write(&core, &bytes).unwrap();
    let part = Program::open_core(&core, &exe, Options::default()).unwrap();
    assert!(unread(&part).contains(&format!("lacks {lacks} of ")), "{}", unread(&part));
    // As with coredump_filter 0x10: of files, only the first pages.
    let error = open(&|map| map.inode == 0 || map.offset != 0).unwrap_err();
    assert!(matches!(&error, Error::CoreLacksMemory { gaps, .. } if gaps.len() == 2), "{error}");
}

#[test]
fn refuses_other_files_and_survives_short_ones() {
    let folder = tempfile::tempdir().unwrap();
    let core = folder.path().join("core");
    let truth = Truth::start(&["100"]);
    program::core_file::write(truth.pid(), &core);
    let exe = truth::example();
    let open = |core: &Path, exe: &Path| Program::open_core(core, exe, Options::default());
    assert!(matches!(open(&exe, &exe), Err(Error::NotCore { .. })));
    assert!(matches!(open(Path::new("/proc/self/status"), &exe), Err(Error::NotCore { .. } | Error::File { .. })));
    assert!(matches!(open(&core, &folder.path().join("absent")), Err(Error::File { .. })));
    let compressed: [(&str, &[u8]); 5] = [
        ("zstd", b"\x28\xb5\x2f\xfd"),
        ("xz", b"\xfd7zXZ\0"),
        ("gzip", b"\x1f\x8b\x08"),
        ("lz4", b"\x04\x22\x4d\x18"),
        ("bzip2", b"BZh9"),
    ];
    for (by, begin) in compressed {
        let path = folder.path().join("core.packed");
        fs::write(&path, [begin, &[0; 99]].concat()).unwrap();
        let said = open(&path, &exe).unwrap_err().to_string();
        let shown = path.display();
        assert!(
            said.contains(&format!(
                "the core file {shown} is compressed by {by}: unpack it by `{by} -dc {shown} > core`"
            )),
            "{said}"
        );
    }
    let other = open(&core, &truth::named("chains_truth")).unwrap_err();
    assert!(matches!(other, Error::OtherProgram { .. }), "{other}");
    println!("{other}");

    let whole = fs::read(&core).unwrap();
    let (mut notes, mut unknown) = (0, 0);
    // Of the second program header, after that of the notes: where the first mapping begins in the file.
    let begin = u64::from_le_bytes(whole[64 + 56 + 8..][..8].try_into().unwrap()) as usize;
    for length in (0..5).map(|step| whole.len() / 5 * step + step * 7).chain([begin + 4096]) {
        let short = folder.path().join("short");
        fs::write(&short, &whole[..length]).unwrap();
        // A mapped file must not be changed: each is a new one.
        let program = open(&short, &exe);
        fs::remove_file(&short).unwrap();
        match program {
            Ok(program) => {
                let listing = listing(&program);
                notes += usize::from(listing.notes.iter().any(|note| note.contains("cut short")));
                let why = Coverage::of(&listing).unknown().unwrap_or_default();
                assert!(why.contains(" bytes are missing"), "{why}");
            }
            Err(error) => unknown += usize::from(matches!(error, Error::CoreLacksMemory { .. })),
        }
    }
    assert!(notes > 0 && unknown > 0, "{notes} {unknown}");
}
