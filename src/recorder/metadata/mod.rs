//! The metadata of a trace: text that describes the bytes of its streams, generated from the probes' descriptors.

use std::io::{self, Write as _};

use dyntrace_folders::{Folder, NewFile};
use dyntrace_metadata::{ByteOrder, Clock, Event, Format, Stream, UNFINISHED, Value};
use rustix::system::uname;

use dyntrace_probes::clock::Calibration;
use dyntrace_probes::rings::descriptor::{Argument, Descriptor, RecordedKind};
use dyntrace_probes::rings::form::Form;
use dyntrace_probes::rings::header::RING_STREAM;
use dyntrace_probes::rings::mode::Mode;

/// The stream class of the low-rate channel.
pub(crate) const PROCESS_STREAM: u32 = 1;

/// Classes of the events of the low-rate channel.
pub(crate) mod process_event {
    /// A thread has its first ring.
    pub(crate) const THREAD: u16 = 0;
    /// A loss that no ring counts, with its number of events if that is known.
    pub(crate) const LOST: u16 = 1;
    /// The time.
    pub(crate) const CLOCK: u16 = 2;
    /// The session ended regularly.
    pub(crate) const END: u16 = 3;
    /// A snapshot was taken.
    pub(crate) const SNAPSHOT: u16 = 4;
    /// Requests that got no snapshot.
    pub(crate) const SUPPRESSED: u16 = 5;
    /// A module of code was loaded.
    pub(crate) const MODULE: u16 = 6;
}

/// The events of the low-rate channel, in the order of their ids.
const PROCESS_EVENTS: [(&str, &[Argument]); 7] = [
    (
        "thread",
        &[Argument { name: "tid", kind: RecordedKind::U64 }, Argument { name: "name", kind: RecordedKind::Text }],
    ),
    (
        "lost",
        &[Argument { name: "count", kind: RecordedKind::U64 }, Argument { name: "reason", kind: RecordedKind::Text }],
    ),
    ("clock", &[Argument { name: "realtime_ns", kind: RecordedKind::U64 }]),
    ("end", &[Argument { name: "count_of_discarded", kind: RecordedKind::U64 }]),
    (
        "snapshot",
        &[Argument { name: "cause", kind: RecordedKind::Text }, Argument { name: "folder", kind: RecordedKind::Text }],
    ),
    ("suppressed", &[Argument { name: "count", kind: RecordedKind::U64 }]),
    (
        "module",
        &[
            Argument { name: "module", kind: RecordedKind::Text },
            Argument { name: "version", kind: RecordedKind::Text },
            Argument { name: "file", kind: RecordedKind::Text },
            Argument { name: "mapped", kind: RecordedKind::Text },
            Argument { name: "start", kind: RecordedKind::U64 },
            Argument { name: "size", kind: RecordedKind::U64 },
        ],
    ),
];

/// The description of a trace.
#[derive(Clone, Debug)]
pub(crate) struct Description<'a> {
    /// Unique for each folder: readers join folders with the same.
    pub(crate) uuid: [u8; 16],
    pub(crate) hostname: &'a str,
    pub(crate) procname: &'a str,
    pub(crate) pid: u32,
    pub(crate) mode: Mode,
    pub(crate) format: Format,
    pub(crate) clock: Calibration,
    pub(crate) clock_name: &'a str,
    pub(crate) events: &'a [&'a Descriptor],
}

/// Writes the text of `description` into the trace in `folder`, atomically: readers see the old or the new text.
///
/// # Errors
///
/// The system's. The old text stays then.
pub(crate) fn write(folder: &Folder, description: &Description<'_>) -> io::Result<()> {
    let written = folder
        .create_file(UNFINISHED, NewFile::Plain)
        .and_then(|mut file| file.write_all(render(description).as_bytes()))
        .and_then(|()| folder.rename(UNFINISHED, "metadata"));
    if written.is_err() {
        // An incomplete file would be in the way of the next. The error to report is the first.
        let _ = folder.remove_file(UNFINISHED);
    }
    written
}

/// The name of this machine.
pub(crate) fn hostname() -> String {
    uname().nodename().to_string_lossy().into_owned()
}

/// The text of a description.
pub(crate) fn render(description: &Description<'_>) -> String {
    let Description { uuid, hostname, procname, pid, mode, format, clock, clock_name, events } = *description;
    let ring_events =
        (0..).zip(events).flat_map(|(id, event)| forms(id, event.provider, &event.tool_name(), event.arguments));
    let process_events =
        (0..).zip(PROCESS_EVENTS).flat_map(|(id, (name, arguments))| forms(id, "recorder", name, arguments));
    let text = dyntrace_metadata::Description {
        byte_order: ByteOrder::NATIVE,
        uuid,
        environment: vec![
            ("tracer_name", Value::Text("dyntrace")),
            ("tracer_major", Value::Number(MAJOR)),
            ("tracer_minor", Value::Number(MINOR)),
            ("hostname", Value::Text(hostname)),
            ("procname", Value::Text(procname)),
            ("pid", Value::Number(pid.into())),
            ("word_size", Value::Number(usize::BITS.into())),
            ("mode", Value::Text(mode.name())),
        ],
        clock: Clock {
            name: clock_name,
            frequency: clock.frequency,
            offset_seconds: clock.offset_seconds,
            offset_cycles: clock.offset_cycles,
        },
        streams: vec![
            Stream { id: RING_STREAM, checksums: true, compact: true, events: ring_events.collect() },
            Stream { id: PROCESS_STREAM, checksums: true, compact: true, events: process_events.collect() },
        ],
    };
    text.text(format)
}

/// The forms of a class.
fn forms<'a>(class: u16, provider: &str, name: &str, arguments: &'a [Argument]) -> [Event<'a>; 3] {
    Form::ALL.map(|form| {
        let fields = arguments.iter().map(|argument| (argument.name, form.field_kind(argument.kind))).collect();
        Event { id: form.event_id(class), name: format!("{provider}:{name}").into(), fields }
    })
}

/// Parses a part of this library's version.
const fn version(digits: &str) -> i128 {
    match i128::from_str_radix(digits, 10) {
        Ok(number) => number,
        Err(_) => panic!("a part of the version is not a number"),
    }
}

const MAJOR: i128 = version(env!("CARGO_PKG_VERSION_MAJOR"));
const MINOR: i128 = version(env!("CARGO_PKG_VERSION_MINOR"));

#[cfg(all(test, not(any(loom, miri))))]
mod tests;
