//! Programs whose tokio has another layout: with types all of it is read, without them nothing is claimed.
//!
//! The copies of tokio are made of the source that cargo has unpacked for this package, by a few replaced words.

mod patched;

use std::fs;
use std::path::{Path, PathBuf};

use dyntrace_tasks::coverage::{Answer, Coverage};
use dyntrace_tasks::listing::{Await, Chain, Listing, WaitsFor};
use dyntrace_tasks::program::{Options, Program};
use dyntrace_tasks::reading::{DebugInformation, Described};

use crate::truth::run;
use patched::Patched;

const TASKS: usize = 24;

/// The listing of a program, which the reader of polls refuses.
fn listing(file: &Path) -> Listing {
    let (mut program, line) = run(file, &[]);
    assert_eq!(line, "ready\n");
    let opened = Program::attach(program.id(), Options::default()).unwrap();
    let information = DebugInformation::of(&opened);
    let listing = opened.listing(&Described::of(&opened, &information)).unwrap();
    assert!(opened.other_layout().unwrap().told().is_some());
    program.kill().unwrap();
    program.wait().unwrap();
    listing
}

/// The event for which the last future of a chain waits.
fn leaf(root: &Await) -> Option<&WaitsFor> {
    root.awaits.last().map_or(root.waits_for.as_ref(), leaf)
}

/// Copies a program without the headers of its sections: nothing leads to its debug information and symbols.
fn without_types(file: &Path) -> PathBuf {
    let mut bytes = fs::read(file).unwrap();
    bytes[0x28..0x30].fill(0);
    bytes[0x3c..0x40].fill(0);
    let copy = file.with_extension("stripped");
    fs::copy(file, &copy).unwrap();
    fs::write(&copy, bytes).unwrap();
    copy
}

#[test]
#[ignore = "builds tokio twice; ci/tasks runs it"]
fn another_layout_is_read_by_types_or_unknown() {
    let patched = Patched::build();
    for (name, fields) in [("moved", &["`Header.vtable`", "`Vtable`"][..]), ("trailer", &["`Trailer.owned`"])] {
        let file = patched.program(name);
        let typed = listing(&file);
        println!("{name}: {} tasks, {:?}", typed.tasks.len(), Coverage::of(&typed).unknown());
        let stripped = listing(&without_types(&file));
        let coverage = Coverage::of(&stripped);
        println!("{name} without types: {} tasks, {:?}", stripped.tasks.len(), coverage.unknown());

        assert_eq!(typed.tasks.len(), TASKS, "{name}");
        assert_eq!((typed.runtimes[0].counted, typed.runtimes[0].found), (Some(24), 24));
        assert!(typed.tasks.iter().all(|task| task.linked == Some(true) && !task.state.complete));
        let waits = |is: fn(&WaitsFor) -> bool| {
            let waits = |chain: &Chain| matches!(chain, Chain::Read { root } if leaf(root).is_some_and(is));
            typed.tasks.iter().filter(|task| waits(&task.chain)).count()
        };
        assert_eq!(waits(|leaf| matches!(leaf, WaitsFor::Timer { .. })), 8, "{name}");
        assert_eq!(waits(|leaf| matches!(leaf, WaitsFor::Notify { .. })), 8, "{name}");
        assert_eq!(waits(|leaf| matches!(leaf, WaitsFor::Semaphore { .. })), 8, "{name}");
        assert_eq!(Coverage::of(&typed).unknown(), None, "{name}");

        assert_eq!(coverage.answer(false), Answer::Unknown, "{name}");
        let unknown = coverage.also_in(&Coverage::default()).unknown().unwrap_or_default();
        assert!(fields.iter().all(|field| unknown.contains(field)), "{name}: {unknown}");
    }
}
