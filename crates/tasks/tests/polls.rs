//! The functions that poll and wake tasks, in an example.

use std::fs;

use dyntrace_tasks::memory::Memory;
use dyntrace_tasks::polls::{Function, Polls};
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
    assert!(!polls.poll.is_empty() && polls.poll.len() <= polls.types.len(), "{polls:?}");
    // A stripped program has no symbols of functions that wake.
    assert_eq!(polls.wake.is_empty(), !polls.schedule.is_empty(), "{polls:?}");
    assert!(polls.wake.is_empty() || polls.wake.len() == 2, "{polls:?}");
    assert!(polls.marks.is_some());

    let marks = polls.marks.iter().flatten();
    for Function { path, address, in_file, offset, .. } in
        polls.poll.iter().chain(&polls.wake).chain(&polls.schedule).chain(marks)
    {
        let file = fs::read(path).unwrap();
        let mut code = [0; 8];
        read.memory().read(*address, &mut code).unwrap();
        let begin = usize::try_from(*offset).unwrap();
        assert_eq!(code, file[begin..begin + code.len()], "{in_file:#x}");
        assert_eq!(address - in_file, read.images()[0].bias);
    }
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
