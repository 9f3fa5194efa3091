//! The functions that poll and wake tasks, in an example.

use std::fs;

use dyntrace_tasks::memory::Memory;
use dyntrace_tasks::polls::{Function, Functions, Polls};
use dyntrace_tasks::preview::Preview;
use dyntrace_tasks::program::{Options, Program as Read};
use dyntrace_tasks::reading::DebugInformation;

mod program;

use program::Program;

#[test]
fn functions_that_poll_and_wake() {
    let program = Program::run("polls_truth");
    let read = Read::attach(program.pid(), Options::default()).unwrap();
    let polls = Polls::of(&read, &DebugInformation::of(&read));
    assert_eq!(polls.types.len(), read.vtables().len());
    let functions = &polls.functions;
    assert!(!functions.poll.is_empty() && functions.poll.len() <= polls.types.len(), "{polls:?}");
    // A stripped program has no symbols of functions that wake.
    assert_eq!(functions.wake.is_empty(), !functions.schedule.is_empty(), "{polls:?}");
    assert!(functions.wake.is_empty() || functions.wake.len() == 2, "{polls:?}");
    assert!(functions.marks.is_some());

    for Function { path, address, in_file, offset, .. } in functions.all() {
        let file = fs::read(path).unwrap();
        let mut code = [0; 8];
        read.memory().read(*address, &mut code).unwrap();
        let begin = usize::try_from(*offset).unwrap();
        assert_eq!(code, file[begin..begin + code.len()], "{in_file:#x}");
        assert_eq!(address - in_file, read.images()[0].bias);
    }
}

#[test]
fn the_file_alone_has_the_same_functions() {
    let program = Program::run("polls_truth");
    let read = Read::attach(program.pid(), Options::default()).unwrap();
    let polls = Polls::of(&read, &DebugInformation::of(&read));
    let preview = Preview::of(&fs::read_link(format!("/proc/{}/exe", program.pid())).unwrap()).unwrap();
    let places = |functions: &Functions| -> Vec<_> {
        functions.all().map(|function| (function.in_file, function.offset, function.has_symbol)).collect()
    };
    assert_eq!(places(&preview.functions), places(&polls.functions));
    assert_eq!(preview.has_debug_file, read.images()[0].debug_file.is_some());
}

#[test]
fn types_have_the_names_of_listings() {
    let program = Program::run("polls_truth");
    let read = Read::attach(program.pid(), Options::default()).unwrap();
    let polls = Polls::of(&read, &DebugInformation::of(&read));
    let functions: Vec<&str> = polls.types.iter().filter_map(|kind| kind.function.as_deref()).collect();
    // Builds without debug information have no such names.
    if !functions.is_empty() {
        for name in ["polls_truth::ping", "polls_truth::restless_inside", "polls_truth::blocker"] {
            assert!(functions.contains(&name), "{functions:?}");
        }
    }
}
