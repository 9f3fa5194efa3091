//! Follows a recording step by step.

mod common;

use std::fs;

use common::{START, SUB_BUFFER, Writer, entry, fired, returned};
use dyntrace_reader::{Error, Follower};

/// Returns the times of the events that one poll delivers, and whether the recording goes on.
fn look(follow: &mut Follower) -> (Vec<i64>, bool) {
    let mut times = Vec::new();
    let goes_on = follow.poll(|event| times.push(event.time - START)).expect("a trace");
    (times, goes_on)
}

#[test]
fn events_come_in_order_at_the_second_look() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut follow = Follower::new([folder.path()]);
    assert!(matches!(follow.poll(|_| ()), Err(Error::NoTrace { .. })), "nothing there yet");

    let writer = Writer::new(folder.path().join("shop-12"));
    let prepared = writer.prepared(0).repeat(8);
    let ring = |events: &[_]| [writer.packets(0, 7, SUB_BUFFER, events).concat(), prepared.clone()].concat();
    let first = [entry(10, 1, 1, "", 1, "/a"), returned(30, 1, 1, "", 1, 0)];
    writer.write("ring-1", &ring(&first));
    assert_eq!(look(&mut follow), (vec![], true));

    // Adds a second file, with an event between those of the first and one after them.
    writer.write("ring-2", &ring(&[entry(20, 2, 1, "", 1, "/b"), entry(40, 2, 2, "", 1, "/c")]));
    assert_eq!(look(&mut follow), (vec![10, 20, 30], true));

    // Extends the first file, in its packet and in the next one.
    let more: Vec<_> = (0..1000).map(|at| returned(50 + at, 1, 2, "a tag of some length", 1, 0)).collect();
    writer.write("ring-1", &ring(&[&first[..], &more].concat()));
    assert_eq!(look(&mut follow), (vec![40], true));
    writer.process(&[fired("recorder:end", 2000, [common::Arg::U(0)])]);
    assert_eq!(look(&mut follow), ((50..1050).collect(), true));
    assert_eq!(look(&mut follow), (vec![2000], false));
    assert_eq!(look(&mut follow), (vec![], false));
    assert!(follow.losses().is_empty());
}

#[test]
fn the_rest_of_a_killed_program_and_what_was_lost() {
    let folder = tempfile::tempdir().expect("a folder");
    let writer = Writer::new(folder.path());
    writer.process(&[fired("recorder:lost", 5, [common::Arg::U(3), "no ring left".into()])]);
    let mut follow = Follower::new([folder.path()]);
    assert_eq!(look(&mut follow), (vec![], true));
    assert_eq!(look(&mut follow), (vec![5], true));
    writer.ring("ring-1", 7, &[returned(9, 1, 1, "", 1, 0)]);
    let path = folder.path().join("ring-1");
    let bytes = fs::read(&path).expect("a ring");
    fs::write(&path, &bytes[..200]).expect("a ring that is cut");
    let mut rest = Vec::new();
    follow.drain(|event| rest.push(event.time - START)).expect("a trace");
    assert_eq!(rest, [9]);
    let losses = follow.losses();
    assert_eq!((losses.events(), losses.damaged.len()), (3, 1));
}
