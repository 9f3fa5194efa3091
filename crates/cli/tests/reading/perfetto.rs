//! `dyntrace convert --to perfetto`, read back.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;

use crate::message::{EventType, TrackDescriptor};
use crate::read::{Event, Packet, read};
use crate::writer::{START, Writer, fired};
use crate::{made, storm, tasks};

/// A slice that was read back.
pub struct Slice {
    track: u64,
    pub name: String,
    begin: u64,
    end: u64,
    pub annotations: BTreeMap<String, String>,
    pub flows: Vec<u64>,
    /// The names of the slices around it, the outermost first.
    around: Vec<String>,
}

/// The trace that was read back.
pub struct Read {
    tracks: HashMap<u64, TrackDescriptor>,
    pub slices: Vec<Slice>,
    /// The names of slices without an end.
    open: Vec<String>,
    counters: Vec<(u64, i64)>,
    pub instants: Vec<Event>,
}

impl Read {
    /// Converts the traces and reads the file. Each track must be described before its events, and slices must nest.
    pub fn back(traces: &[&std::path::Path]) -> Read {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("trace.perfetto");
        made("convert", traces, &["--to", "perfetto"], &output, 0);
        let mut read = Read {
            tracks: HashMap::new(),
            slices: Vec::new(),
            open: Vec::new(),
            counters: Vec::new(),
            instants: Vec::new(),
        };
        let mut events = Vec::new();
        for packet in self::read(&fs::read(&output).unwrap()) {
            match packet {
                Packet::Track(track) => {
                    assert!(track.parent_uuid.is_none_or(|parent| read.tracks.contains_key(&parent)));
                    read.tracks.insert(track.uuid.unwrap(), track);
                }
                Packet::Event(event) => {
                    assert!(read.tracks.contains_key(&event.track));
                    events.push(event);
                }
            }
        }
        // Perfetto sorts by time, and by position in the file for equal times.
        events.sort_by_key(|event| event.time);
        let mut stacks = HashMap::<u64, Vec<Event>>::new();
        for event in events {
            match event.r#type {
                EventType::SliceBegin => stacks.entry(event.track).or_default().push(event),
                EventType::SliceEnd => {
                    let stack = stacks.get_mut(&event.track).unwrap();
                    let begin = stack.pop().expect("an end has a beginning");
                    let around = stack.iter().map(|event| event.name.clone()).collect();
                    read.slices.push(Slice::new(begin, event.time, around));
                }
                EventType::Counter => read.counters.push((event.track, event.counter)),
                EventType::Instant => read.instants.push(event),
                EventType::Unspecified => panic!("{event:?}"),
            }
        }
        read.open = stacks.into_values().flatten().map(|event| event.name).collect();
        read
    }

    /// The names from the process down to the track.
    fn way(&self, track: u64) -> Vec<&str> {
        let track = &self.tracks[&track];
        let mut way = track.parent_uuid.map(|parent| self.way(parent)).unwrap_or_default();
        way.push(match (&track.process, &track.thread) {
            (Some(process), _) => process.process_name(),
            (_, Some(thread)) => thread.thread_name(),
            _ => track.name(),
        });
        way
    }
}

impl Slice {
    fn new(event: Event, end: u64, around: Vec<String>) -> Slice {
        let Event { track, name, time: begin, annotations, flows, .. } = event;
        Slice { track, name, begin, end, annotations, flows, around }
    }
}

#[test]
fn every_operation_is_on_its_thread_and_its_tag() {
    let folder = tempfile::tempdir().unwrap();
    storm::write(folder.path(), 400, 40);
    let read = Read::back(&[folder.path()]);
    for done in storm::operations(400, 40) {
        let id = format!("{{{},{}}}", 1 + done.tag % 2, done.tag);
        let name = if done.command == 12 { "RENAME" } else { "WRITE_FILE" };
        let slices: Vec<_> =
            read.slices.iter().filter(|slice| slice.annotations.get("operation") == Some(&id)).collect();
        let at = |time: u64| START as u64 + time;
        let ways: BTreeSet<_> = slices.iter().map(|slice| read.way(slice.track).join("/")).collect();
        let tag = match done.user_tag {
            b"" => "no tag".into(),
            b"no\xffutf8" => r"no\xffutf8".into(),
            tag => String::from_utf8_lossy(tag),
        };
        let (submitter, worker) = (done.submitter(), done.worker());
        assert_eq!(
            ways,
            BTreeSet::from([
                format!("shop/thread {submitter}/operations"),
                format!("shop/thread {worker}"),
                format!("shop/user tags/{tag}")
            ])
        );
        for slice in slices {
            assert_eq!(slice.name, name);
            assert_eq!(slice.annotations["path"], storm::PATH);
            assert_eq!(slice.annotations.get("error").map(String::as_str), (done.errno != 0).then_some("ENOENT"));
            if read.way(slice.track).len() == 2 {
                assert_eq!((slice.begin, slice.end), (at(done.int_entry), at(done.int_return)));
                continue;
            }
            assert_eq!((slice.begin, slice.end), (at(done.entered), at(done.returned)));
            let stages = read.slices.iter().filter(|stage| stage.track == slice.track && stage.around == [name]);
            let stages = stages.filter(|stage| slice.begin <= stage.begin && stage.end <= slice.end);
            let stages: Vec<_> = stages.map(|stage| (stage.name.as_str(), stage.begin, stage.end)).collect();
            let times = [done.entered, done.int_entry, done.int_return, done.returned].map(at);
            let expected =
                [("queue wait", times[0], times[1]), ("service", times[1], times[2]), ("delivery", times[2], times[3])];
            assert_eq!(stages, expected);
        }
    }
    // The one unanswered operation, on its thread and its tag.
    assert_eq!(read.open.iter().filter(|name| *name == "WRITE_FILE").count(), 2);
    assert_eq!(read.open.iter().filter(|name| *name == "queue wait").count(), 2);
    // Two steps of a queue for each operation.
    assert_eq!(read.counters.len(), 800);
    assert!(read.counters.iter().all(|(track, length)| read.way(*track).ends_with(&["queue length"]) && *length <= 5));
}

#[test]
fn other_events_are_marks_and_processes_stay_apart() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a", "b"] {
        let message = fired("user_trace-s1", 5, [name.into()]);
        Writer::new(folder.path().join(name)).ring("ring-1", 7, &[message]);
    }
    let read = Read::back(&[&folder.path().join("a"), &folder.path().join("b")]);
    let tracks: BTreeSet<_> = read.instants.iter().map(|event| event.track).collect();
    assert_eq!((read.instants.len(), tracks.len()), (2, 2));
    // Both say pid 12: only the first process is Perfetto's process of that pid.
    let processes: Vec<_> = read.tracks.values().filter(|track| track.parent_uuid.is_none()).collect();
    assert_eq!((processes.len(), processes.iter().filter(|track| track.process.is_some()).count()), (2, 1));
    assert!(read.instants.iter().all(|event| event.name == "user_trace-s1" && event.annotations.len() == 1));
}

#[test]
fn every_poll_is_on_its_thread() {
    let folder = tempfile::tempdir().unwrap();
    tasks::write(folder.path());
    let read = Read::back(&[folder.path()]);
    let mut polls: Vec<_> = read
        .slices
        .iter()
        .map(|slice| {
            let text = |name: &str| slice.annotations.get(name).map_or("", String::as_str);
            let at = |time: u64| time - START as u64;
            let of = [slice.name.as_str(), text("pid"), text("user tag"), text("outcome")].join(" ");
            (at(slice.begin), at(slice.end), read.way(slice.track).join("/"), of, slice.around.join("/"))
        })
        .collect();
    polls.sort();
    let poll = |begin, end, tid: u64, of: &str, around: &str| {
        (begin, end, format!("shop/thread {tid}"), of.to_owned(), around.to_owned())
    };
    let [first, second] = tasks::THREADS;
    let expected = [
        poll(2_000, 3_000, first, "shop::bake <0.1.0> req-1 pending", ""),
        poll(2_500, 2_700, first, "shop::stir <0.3.0>  ready", "shop::bake"),
        poll(4_000, 20_004_100, second, "shop::fry <0.2.0>  panic", ""),
        poll(30_000_000, 30_000_600, first, "shop::bake <0.1.0> req-1 ready", ""),
    ];
    assert_eq!(polls, expected);
    assert_eq!(read.open, ["shop::wait"]);
    let marks: Vec<_> = read.instants.iter().map(|mark| mark.name.as_str()).collect();
    assert_eq!(marks, ["process-spawn", "process-spawn", "process-exit", "process-exit", "process-spawn"]);
}

#[test]
fn an_arrow_leads_from_the_first_wake_to_the_poll() {
    let folder = tempfile::tempdir().unwrap();
    tasks::write_wakes(folder.path());
    let read = Read::back(&[folder.path()]);
    let at = |time: u64| time - START as u64;
    let wakes = read.instants.iter().filter(|mark| mark.name == "process-wake");
    let mut wakes: Vec<_> =
        wakes.map(|mark| (at(mark.time), read.way(mark.track).join("/"), &mark.flows[..])).collect();
    wakes.sort();
    let mut polls: Vec<_> = read.slices.iter().map(|slice| (at(slice.begin), &slice.flows[..])).collect();
    polls.sort();
    let [first, second, never] = [0, 2, 3].map(|wake: usize| wakes[wake].2);
    assert!(first.len() == 1 && second.len() == 1 && never.len() == 1 && first != second && second != never);
    let [here, there] = tasks::THREADS.map(|tid| format!("shop/thread {tid}"));
    let expected =
        [(1_300, there.clone(), first), (1_310, there.clone(), &[][..]), (2_050, here, second), (2_400, there, never)];
    assert_eq!(wakes, expected);
    assert_eq!(polls, [(1_000, &[][..]), (1_200, &[]), (2_000, first), (2_200, second), (2_350, &[])]);
}
