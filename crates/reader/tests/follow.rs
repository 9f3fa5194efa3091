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

/// A packet with three events, whose times are ten times its sequence and those after it.
fn packet(writer: &Writer, sequence: u64) -> Vec<u8> {
    part(writer, sequence, 3)
}

/// The same with as many of the events.
fn part(writer: &Writer, sequence: u64, events: u64) -> Vec<u8> {
    let event = |number| writer.event(&returned(10 * sequence + number, 1, 1, "", 1, 0));
    let content: Vec<u8> = (0..events).flat_map(event).collect();
    writer.packet(0, 7, sequence, 0, SUB_BUFFER, &content)
}

#[test]
fn a_circular_file_is_read_round_and_round() {
    let folder = tempfile::tempdir().expect("a folder");
    let writer = Writer::new(folder.path().join("shop-12"));
    let mut follow = Follower::new([folder.path()]);
    let ring = |packets: [Vec<u8>; 4]| writer.write(".rings/ring-1", &packets.concat());
    let prepared = || writer.prepared(0).repeat(8);
    let mut delivered = Vec::new();
    let mut poll = |packets: [Vec<u8>; 4]| {
        ring(packets);
        // The second look delivers what the first has seen.
        for _ in 0..2 {
            let (times, goes_on) = look(&mut follow);
            assert!(goes_on);
            delivered.extend(times);
        }
        (delivered.len(), follow.losses().overwritten.iter().map(|ring| ring.packets).sum::<u64>())
    };
    let at = |sequence| packet(&writer, sequence);
    assert_eq!(poll([prepared(), prepared(), prepared(), prepared()]), (0, 0));
    assert_eq!(poll([at(1), part(&writer, 2, 1), prepared(), prepared()]), (4, 0));
    // The writer enters a packet whose predecessor is at the end of the file.
    assert_eq!(poll([at(5), at(2), at(3), at(4)]), (15, 0));
    // Packet 5 was read to its end.
    assert_eq!(poll([at(5), at(6), at(7), part(&writer, 8, 2)]), (23, 0));
    // The writer has entered the place of packet 9, but not written its sequence yet.
    let entering = writer.packet(0, 7, 0, 0, SUB_BUFFER, &[]);
    assert_eq!(poll([entering, at(6), at(7), at(8)]), (24, 0));
    let (delivered, lost) = poll([at(13), at(14), at(15), at(16)]);
    // 9 to 12, and 8, of which the reader knows only that it had read all of it up to then.
    assert_eq!((delivered, lost), (36, 5));
}

#[test]
fn events_of_a_circular_file_come_once_and_in_order() {
    let folder = tempfile::tempdir().expect("a folder");
    let writer = Writer::new(folder.path().join("shop-12"));
    let mut follow = Follower::new([folder.path()]);
    let mut delivered = Vec::new();
    for newest in 1..40 {
        let holds = |place: u64| (1..=newest).rev().find(|sequence| (sequence - 1) % 4 == place);
        let bytes = |place| holds(place).map_or_else(|| writer.prepared(0).repeat(8), |held| packet(&writer, held));
        writer.write(".rings/ring-1", &(0..4).flat_map(bytes).collect::<Vec<u8>>());
        delivered.extend(look(&mut follow).0);
    }
    follow.drain(|event| delivered.push(event.time - START)).expect("a trace");
    let expected: Vec<i64> = (1..40).flat_map(|sequence| (0..3).map(move |number| 10 * sequence + number)).collect();
    assert_eq!(delivered, expected);
    assert!(follow.losses().is_empty(), "{:?}", follow.losses());
}

#[test]
fn damage_in_a_circular_file_is_told_and_ends() {
    let folder = tempfile::tempdir().expect("a folder");
    let writer = Writer::new(folder.path().join("shop-12"));
    let mut damaged = packet(&writer, 2);
    damaged[0] ^= 1;
    let huge = writer.packet(0, 7, u64::MAX, 0, SUB_BUFFER, &[0; 7]);
    for bytes in [
        vec![],
        vec![1; 1000],
        vec![0xff; 2 * SUB_BUFFER],
        [packet(&writer, 1), damaged.clone(), packet(&writer, 3), huge.clone()].concat(),
        [huge.clone(), huge].concat(),
    ] {
        writer.write(".rings/ring-1", &bytes);
        let mut follow = Follower::new([folder.path()]);
        let mut times = Vec::new();
        follow.drain(|event| times.push(event.time - START)).expect("a trace");
        if bytes.len() == 4 * SUB_BUFFER {
            assert_eq!(times[..3], [10, 11, 12]);
            assert!(!follow.losses().is_empty());
        }
    }
}
