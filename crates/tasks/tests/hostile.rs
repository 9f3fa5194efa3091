//! Programs that lie, end, or forbid to be read leave the truth, or an error.

mod program;

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use dyntrace_tasks::error::Error;
use dyntrace_tasks::listing::{Chain, Listing};
use dyntrace_tasks::program::{Options, Program as Attached};
use dyntrace_tasks::reading::{DebugInformation, Described};
use object::{Object, ObjectSection};
use program::Program;

fn listing(pid: u32, debug: Option<&Path>) -> Result<Listing, Error> {
    let options = Options { debug_file: debug.map(Path::to_owned), ..Options::default() };
    let program = Attached::attach(pid, options)?;
    let information = DebugInformation::of(&program);
    let described = Described::of(&program, &information);
    program.listing(&described)
}

/// The headers of the tasks of a listing that runtimes own and that have not completed.
fn live(listing: &Listing) -> BTreeSet<u64> {
    let live = listing.tasks.iter().filter(|task| task.owner != 0 && !task.state.complete);
    live.map(|task| task.address).collect()
}

fn real(program: &Program) -> BTreeSet<u64> {
    program.tasks.values().copied().collect()
}

#[test]
fn forged_cells_hide_no_task_and_make_none_that_lives() {
    let program = Program::run_with("hostile", &["100000"]);
    let listing = listing(program.pid(), None).unwrap();
    let real = real(&program);
    assert_eq!(live(&listing), real);
    let [runtime] = &listing.runtimes[..] else { panic!("{:?}", listing.runtimes) };
    assert_eq!((runtime.counted, runtime.found), (Some(3), 3));
    for task in listing.tasks.iter().filter(|task| task.owner != 0) {
        match real.contains(&task.address) {
            true => assert!(matches!(task.chain, Chain::Read { .. }) && task.linked == Some(true)),
            // nothing tells it from a complete task whose handle is kept
            false => assert!(task.state.complete && task.linked == Some(false)),
        }
    }
}

#[test]
fn garbage_for_debug_information_hides_no_task() {
    let program = Program::run_with("hostile", &["0"]);
    let folder = tempfile::tempdir().unwrap();
    let debug = folder.path().join("debug");
    let file = object::File::parse(&program.file[..]).unwrap();
    for name in [".debug_abbrev", ".debug_info", ".debug_str", ".debug_line"] {
        let (from, size) = file.section_by_name(name).and_then(|section| section.file_range()).unwrap();
        let mut bytes = program.file.clone();
        let mut random = 0x9e37_79b9_7f4a_7c15u64;
        for byte in &mut bytes[from as usize..][..size as usize] {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            *byte = random as u8;
        }
        std::fs::write(&debug, bytes).unwrap();
        let listing = listing(program.pid(), Some(&debug)).unwrap();
        assert_eq!(live(&listing), real(&program), "{name}");
    }
}

#[test]
fn a_program_whose_first_thread_has_ended_is_read() {
    let program = Program::run_with("hostile", &["0", "headless"]);
    while dyntrace_folders::living_thread(program.pid()) == Some(program.pid()) {
        std::thread::yield_now();
    }
    let listing = listing(program.pid(), None).unwrap();
    assert_eq!(live(&listing), real(&program));
    assert!(listing.tasks.iter().all(|task| matches!(task.chain, Chain::Read { .. })));
}

#[test]
fn a_zombie_is_named_as_one() {
    let mut child = std::process::Command::new("true").spawn().unwrap();
    let error = loop {
        match Attached::attach(child.id(), Options::default()).unwrap_err() {
            error @ Error::Zombie { .. } => break error.to_string(),
            _ => std::thread::yield_now(),
        }
    };
    assert!(error.contains("zombie"), "{error}");
    child.wait().unwrap();
}

#[test]
fn without_permission_there_is_a_way_out() {
    use rustix::thread::{Uid, set_thread_res_uid};

    if !rustix::process::geteuid().is_root() {
        eprintln!("SKIPPED: only root can give up its rights");
        return;
    }
    let program = Program::run_with("hostile", &["0"]);
    let pid = program.pid();
    let refused = std::thread::spawn(move || {
        // Of this thread only.
        let nobody = Uid::from_raw(65534);
        set_thread_res_uid(nobody, nobody, nobody).unwrap();
        let error = listing(pid, None).unwrap_err();
        // The way out is that of the thread that reads it.
        (error.to_string(), error)
    });
    let (told, error) = refused.join().unwrap();
    assert!(matches!(error, Error::NotPermitted { .. }), "{error}");
    assert!(told.contains("run as root"), "{told}");
}

#[test]
fn a_program_that_ends_meanwhile_is_an_error() {
    for milliseconds in 0..12 {
        let program = Program::run_with("hostile", &["20000"]);
        let pid = program.pid();
        let ends = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(10 * milliseconds));
            drop(program);
        });
        // The last listing is cut off wherever it is.
        let error = loop {
            if let Err(error) = listing(pid, None) {
                break error;
            }
        };
        ends.join().unwrap();
        assert!(matches!(error, Error::Ended { .. } | Error::NoProcess { .. } | Error::Zombie { .. }), "{error}");
    }
}
