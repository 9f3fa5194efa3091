//! The tracks that slices are drawn on: a tree of processes, threads, user tags and lanes.
//!
//! The slices of a track must nest, but operations of one thread or tag overlap: each overlapping one gets its own lane. Perfetto shows
//! tracks of the same name under one parent together.
//!
//! A track is announced at its first use. Beyond a limit all tracks are forgotten, and announced again with new numbers.

use std::collections::HashMap;
use std::ptr;

use dyntrace_reader::Process;
use dyntrace_terminal::escape;

use super::message::{CounterDescriptor, ProcessDescriptor, ThreadDescriptor, TrackDescriptor, Unit};

/// The most tracks that are remembered.
const TRACKS: u64 = 1 << 16;

/// The submitter or the user tag of the operations on a lane.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Owner<'t> {
    Thread(u64),
    Tag(&'t [u8]),
}

/// A track of a process.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Place {
    Process,
    Tags,
    Thread(u64),
    Queue(u64),
}

#[derive(Default)]
pub struct Tracks<'t> {
    last: u64,
    /// The last number when all were forgotten.
    forgotten: u64,
    /// By the address of the process.
    places: HashMap<(usize, Place), u64>,
    lanes: HashMap<(usize, Owner<'t>), Vec<Lane>>,
    /// The processes by pid. If processes of two machines have the same pid, only the first one gets it in Perfetto.
    pids: HashMap<u64, usize>,
    /// New tracks, to be written before the events that use them.
    pub made: Vec<TrackDescriptor>,
}

struct Lane {
    uuid: u64,
    /// The end of its last operation.
    end: i64,
}

impl<'t> Tracks<'t> {
    /// Names a thread. Perfetto merges the descriptor with an earlier one of the same track.
    pub fn name(&mut self, process: &Process, tid: u64, name: &[u8]) {
        let uuid = self.thread(process, tid);
        let known = self.thread_track(process, tid, Some(escape::name(name)));
        self.made.push(TrackDescriptor { uuid: Some(uuid), ..known });
    }

    pub fn thread(&mut self, process: &Process, tid: u64) -> u64 {
        self.place(process, Place::Thread(tid), |tracks| tracks.thread_track(process, tid, None))
    }

    fn thread_track(&mut self, process: &Process, tid: u64, name: Option<String>) -> TrackDescriptor {
        let parent_uuid = Some(self.process(process));
        let (name, thread) = if self.pids.get(&process.pid) == Some(&key(process)) {
            let ids = (Some(process.pid as i32), Some(tid as i64));
            (None, Some(ThreadDescriptor { pid: ids.0, tid: ids.1, thread_name: name }))
        } else {
            (Some(name.unwrap_or_else(|| format!("thread {tid}"))), None)
        };
        TrackDescriptor { name, thread, parent_uuid, ..TrackDescriptor::default() }
    }

    /// The counter of the queue that an I/O thread serves.
    pub fn queue(&mut self, process: &Process, tid: u64) -> u64 {
        let parent = self.thread(process, tid);
        let counter = Some(CounterDescriptor { unit: Some(Unit::Count.into()) });
        self.place(process, Place::Queue(tid), |_| TrackDescriptor { counter, ..named("queue length", parent) })
    }

    /// Takes a lane that is free at `start`, until `end`. Operations must come in the order of their ends.
    pub fn lane(&mut self, process: &Process, owner: Owner<'t>, start: i64, end: i64) -> u64 {
        let lanes = self.lanes.entry((key(process), owner)).or_default();
        if let Some(lane) = lanes.iter_mut().find(|lane| lane.end <= start) {
            lane.end = end;
            return lane.uuid;
        }
        let (parent, name) = match owner {
            Owner::Thread(tid) => (self.thread(process, tid), "operations".to_owned()),
            Owner::Tag(b"") => (self.tags(process), "no tag".to_owned()),
            Owner::Tag(tag) => (self.tags(process), escape::name(tag)),
        };
        let uuid = self.make(named(name, parent));
        self.lanes.entry((key(process), owner)).or_default().push(Lane { uuid, end });
        uuid
    }

    fn tags(&mut self, process: &Process) -> u64 {
        let parent = self.process(process);
        self.place(process, Place::Tags, |_| named("user tags", parent))
    }

    fn process(&mut self, process: &Process) -> u64 {
        self.place(process, Place::Process, |tracks| {
            let name = escape::name(&process.name);
            if *tracks.pids.entry(process.pid).or_insert(key(process)) == key(process) {
                let process = ProcessDescriptor { pid: Some(process.pid as i32), process_name: Some(name) };
                TrackDescriptor { process: Some(process), ..TrackDescriptor::default() }
            } else {
                TrackDescriptor { name: Some(format!("{name} {}", process.pid)), ..TrackDescriptor::default() }
            }
        })
    }

    fn place(&mut self, process: &Process, place: Place, describe: impl FnOnce(&mut Self) -> TrackDescriptor) -> u64 {
        if let Some(&uuid) = self.places.get(&(key(process), place)) {
            return uuid;
        }
        let descriptor = describe(self);
        let uuid = self.make(descriptor);
        self.places.insert((key(process), place), uuid);
        uuid
    }

    fn make(&mut self, descriptor: TrackDescriptor) -> u64 {
        if self.last - self.forgotten >= TRACKS {
            self.places.clear();
            self.lanes.clear();
            self.forgotten = self.last;
        }
        self.last += 1;
        self.made.push(TrackDescriptor { uuid: Some(self.last), ..descriptor });
        self.last
    }
}

fn named(name: impl Into<String>, parent: u64) -> TrackDescriptor {
    TrackDescriptor { name: Some(name.into()), parent_uuid: Some(parent), ..TrackDescriptor::default() }
}

/// The address of a process: the same for all of its operations.
fn key(process: &Process) -> usize {
    ptr::from_ref(process).addr()
}
