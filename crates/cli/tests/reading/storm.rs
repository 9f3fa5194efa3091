//! The trace of a fake program, whose operations are all known.

use std::collections::BTreeMap;
use std::path::Path;

use crate::writer::{Arg, Fired, Writer, fired};

/// User tags of the operations in turn: one would run in a page, another is not UTF-8.
pub const TAGS: [&[u8]; 4] = [b"req-1", b"<script>alert('tag')</script>", b"no\xffutf8", b""];
/// The path of every operation.
pub const PATH: &str = "/<b>&\"quoted\"</b>";
/// The numbers of WRITE_FILE and RENAME.
pub const COMMANDS: [i64; 2] = [66, 12];
/// The bytes that a WRITE_FILE asks to write.
pub const BYTES: i64 = 1000;
/// The bytes that a successful one writes.
pub const MOVED: i64 = 900;
/// errno of each tenth operation.
pub const ENOENT: i64 = 2;

/// An operation of the program, with its times in nanoseconds from the start.
pub struct Done {
    pub tag: i64,
    pub command: i64,
    pub user_tag: &'static [u8],
    pub errno: i64,
    pub entered: u64,
    pub int_entry: u64,
    pub int_return: u64,
    pub returned: u64,
}

impl Done {
    /// One of two threads.
    pub fn submitter(&self) -> u64 {
        101 + self.tag as u64 % 2
    }

    /// One of sixteen threads.
    pub fn worker(&self) -> u64 {
        103 + self.tag as u64 % 16
    }
}

/// A thread serves one operation at a time if `wait` is at most 40. With a longer wait more operations are queued.
pub fn operations(count: i64, wait: u64) -> impl Iterator<Item = Done> {
    (0..count).map(move |index| {
        let place = index as usize;
        // Numbers that look random.
        let chance = (place * 7919 % 1009) as u64;
        let entered = 1_000 + place as u64 * 10_000;
        let int_entry = entered + 2_000 + chance * wait;
        let int_return = int_entry + 500 + chance * chance / 10;
        Done {
            tag: index + 1,
            command: COMMANDS[place % 2],
            user_tag: TAGS[place % TAGS.len()],
            errno: if place % 10 == 9 { ENOENT } else { 0 },
            entered,
            int_entry,
            int_return,
            returned: int_return + 300 + chance,
        }
    })
}

/// Writes the trace of a process with these operations, and with one that never ends.
pub fn write(folder: &Path, count: i64, wait: u64) {
    let mut threads = BTreeMap::<u64, Vec<Fired>>::new();
    let mut fire = |tid: u64, event: Fired| threads.entry(tid).or_default().push(event);
    let id = |done: &Done| [Arg::I(1 + done.tag % 2), Arg::I(done.tag)];
    for done in operations(count, wait).chain(operations(count + 1, wait).last()) {
        let (submitter, worker) = (done.submitter(), done.worker());
        let port = "#Port<0.1>";
        let command = Arg::I(done.command);
        let strings = [PATH.into(), if done.command == 12 { "/new" } else { "" }.into()];
        let rest = [0, 0, BYTES, 0].map(Arg::I).into_iter().chain([port.into()]);
        let asked =
            id(&done).into_iter().chain([Arg::S(done.user_tag.into()), command.clone()]).chain(strings).chain(rest);
        fire(submitter, fired("efile_drv-entry", done.entered, asked));
        fire(submitter, fired("aio_pool-add", done.entered + 100, [port.into(), Arg::I(done.tag % 5 + 1)]));
        if done.tag > count {
            break;
        }
        fire(worker, fired("aio_pool-get", done.int_entry - 100, [port.into(), Arg::I(done.tag % 5), Arg::I(1)]));
        fire(worker, fired("efile_drv-int_entry", done.int_entry, id(&done).into_iter().chain([command.clone()])));
        fire(worker, fired("efile_drv-int_return", done.int_return, id(&done).into_iter().chain([command.clone()])));
        let moved = if done.command == 66 && done.errno == 0 { MOVED } else { 0 };
        let outcome = [i64::from(done.errno == 0), done.errno, moved].map(Arg::I);
        let answer = [Arg::S(done.user_tag.into()), command].into_iter().chain(outcome);
        fire(worker, fired("efile_drv-return", done.returned, id(&done).into_iter().chain(answer)));
    }
    let writer = Writer::new(folder);
    for (tid, events) in threads {
        writer.ring(&format!("ring-{tid}"), tid, &events);
    }
    // A thread's name follows soon after the thread's first event.
    let names = (101..119).map(|tid| {
        fired("recorder:thread", 1 + tid % 2 * 50_000, [Arg::U(tid), format!("thread {tid}").as_str().into()])
    });
    let mut names: Vec<_> = names.collect();
    names.sort_by_key(|event| event.cycles);
    writer.process(&names);
}
