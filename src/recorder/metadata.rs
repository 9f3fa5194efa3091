//! The metadata of a trace: TSDL text that says what the bytes of its streams are, made of what the writer goes by.

use std::fmt::{self, Display, Formatter, Write as _};
use std::io::{self, Write as _};

use dyntrace_folders::{Folder, NewFile};
use rustix::system::uname;

use super::descriptor::{Argument, Descriptor, Kind};
use super::options::Mode;
use crate::clock::Calibration;

/// Stream class of the rings; the id of an event there is its place in [`Description::events`].
pub(crate) const RING_STREAM: u32 = 0;
/// Stream class of the low-rate channel.
pub(crate) const PROCESS_STREAM: u32 = 1;

/// Ids of the events of the low-rate channel.
pub(crate) mod process_event {
    /// A thread has its first ring.
    pub(crate) const THREAD: u16 = 0;
    /// Something is lost, or that many events, where no ring counts them.
    pub(crate) const LOST: u16 = 1;
    /// What time it is.
    pub(crate) const CLOCK: u16 = 2;
    /// The session ended in order.
    pub(crate) const END: u16 = 3;
    /// A snapshot was taken.
    pub(crate) const SNAPSHOT: u16 = 4;
    /// There were causes for snapshots, but none was taken.
    pub(crate) const SUPPRESSED: u16 = 5;
    /// A module of code was loaded.
    pub(crate) const MODULE: u16 = 6;
}

/// The events of the low-rate channel, in the order of their ids.
const PROCESS_EVENTS: [(&str, &[Argument]); 7] = [
    ("thread", &[Argument { name: "tid", kind: Kind::U64 }, Argument { name: "name", kind: Kind::Text }]),
    ("lost", &[Argument { name: "count", kind: Kind::U64 }, Argument { name: "reason", kind: Kind::Text }]),
    ("clock", &[Argument { name: "realtime_ns", kind: Kind::U64 }]),
    ("end", &[Argument { name: "count_of_discarded", kind: Kind::U64 }]),
    ("snapshot", &[Argument { name: "cause", kind: Kind::Text }, Argument { name: "folder", kind: Kind::Text }]),
    ("suppressed", &[Argument { name: "count", kind: Kind::U64 }]),
    (
        "module",
        &[
            Argument { name: "module", kind: Kind::Text },
            Argument { name: "version", kind: Kind::Text },
            Argument { name: "file", kind: Kind::Text },
            Argument { name: "mapped", kind: Kind::Text },
            Argument { name: "start", kind: Kind::U64 },
            Argument { name: "size", kind: Kind::U64 },
        ],
    ),
];

/// What a trace says of itself.
#[derive(Clone, Debug)]
pub(crate) struct Description<'a> {
    /// One of its own for each folder: readers join folders of the same.
    pub(crate) uuid: [u8; 16],
    pub(crate) hostname: &'a str,
    pub(crate) procname: &'a str,
    pub(crate) pid: u32,
    pub(crate) mode: Mode,
    pub(crate) clock: Calibration,
    pub(crate) clock_name: &'a str,
    pub(crate) events: &'a [&'a Descriptor],
}

/// Writes the text of `description` into the trace in `folder`, in one step: readers see the old or the new text, whole.
///
/// # Errors
///
/// The system's; the old text is still there then.
pub(crate) fn write(folder: &Folder, description: &Description<'_>) -> io::Result<()> {
    let new = ".metadata.new";
    let written = folder
        .create_file(new, NewFile::Plain)
        .and_then(|mut file| file.write_all(render(description).as_bytes()))
        .and_then(|()| folder.rename(new, "metadata"));
    if written.is_err() {
        // What could not be written is of no use, and in the way of the next; the error worth telling is the first.
        let _ = folder.remove_file(new);
    }
    written
}

/// The name of this machine.
pub(crate) fn hostname() -> String {
    uname().nodename().to_string_lossy().into_owned()
}

/// The text of a description.
pub(crate) fn render(description: &Description<'_>) -> String {
    let text = Tsdl(description).to_string();
    // A comment to other readers.
    let sum = crc32fast::hash(text.as_bytes());
    text + &format!("/* crc32 {sum:08x} of the text above */\n")
}

struct Tsdl<'a>(&'a Description<'a>);

impl Display for Tsdl<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Description { uuid, hostname, procname, pid, mode, clock, clock_name, events } = self.0;
        writeln!(f, "/* CTF 1.8 */\n")?;

        writeln!(f, "trace {{ major = 1; minor = 8; byte_order = {BYTE_ORDER}; uuid = \"{}\";", Uuid(uuid))?;
        writeln!(f, "  packet.header := struct {{ {U32} magic; {U8} uuid[16]; {U32} stream_id; }};")?;
        writeln!(f, "}};\n")?;

        writeln!(f, "env {{")?;
        writeln!(f, "  tracer_name = \"dyntrace\"; tracer_major = {MAJOR}; tracer_minor = {MINOR};")?;
        writeln!(f, "  hostname = {}; procname = {}; pid = {pid};", Quoted(hostname), Quoted(procname))?;
        writeln!(f, "  word_size = {}; mode = {};", usize::BITS, Quoted(mode.name()))?;
        writeln!(f, "}};\n")?;

        // Absolute: counted from 1970, so that traces of several processes can be read together.
        let Calibration { frequency, offset_seconds, offset_cycles, .. } = clock;
        write!(f, "clock {{ name = \"{clock_name}\"; freq = {frequency}; ")?;
        writeln!(f, "offset_s = {offset_seconds}; offset = {offset_cycles}; absolute = true; }};")?;
        let mapped = format_args!("map = clock.{clock_name}.value;");
        writeln!(f, "typealias integer {{ size = 64; align = 8; signed = false; {mapped} }} := timestamp_t;\n")?;

        for stream in [RING_STREAM, PROCESS_STREAM] {
            writeln!(f, "stream {{ id = {stream};")?;
            writeln!(f, "  packet.context := struct {{")?;
            for field in ["content_size", "packet_size", "events_discarded", "sequence", "tid", "ring", "checksum"] {
                writeln!(f, "    {U64} {field};")?;
            }
            writeln!(f, "  }};")?;
            writeln!(f, "  event.header := struct {{ {U16} id; timestamp_t timestamp; }};")?;
            writeln!(f, "}};\n")?;
        }

        for (id, event) in events.iter().enumerate() {
            write_event(f, RING_STREAM, id, event.provider, &event.tool_name(), event.arguments)?;
        }
        for (id, &(name, arguments)) in PROCESS_EVENTS.iter().enumerate() {
            write_event(f, PROCESS_STREAM, id, "recorder", name, arguments)?;
        }
        Ok(())
    }
}

fn write_event(
    f: &mut Formatter<'_>,
    stream: u32,
    id: usize,
    provider: &str,
    name: &str,
    arguments: &[Argument],
) -> fmt::Result {
    let name = format!("{provider}:{name}");
    writeln!(f, "event {{ name = {}; id = {id}; stream_id = {stream};", Quoted(&name))?;
    writeln!(f, "  fields := struct {{")?;
    for argument in arguments {
        let class = match argument.kind {
            Kind::I32 => I32,
            Kind::U32 => U32,
            Kind::I64 => I64,
            Kind::U64 => U64,
            Kind::Text => TEXT,
        };
        // The underscore keeps names apart from TSDL's own words; readers take it off.
        writeln!(f, "    {class} _{};", argument.name)?;
    }
    writeln!(f, "  }};")?;
    writeln!(f, "}};\n")
}

const MAJOR: &str = env!("CARGO_PKG_VERSION_MAJOR");
const MINOR: &str = env!("CARGO_PKG_VERSION_MINOR");
const BYTE_ORDER: &str = if cfg!(target_endian = "big") { "be" } else { "le" };

const U8: &str = "integer { size = 8; align = 8; signed = false; }";
const U16: &str = "integer { size = 16; align = 8; signed = false; }";
const U32: &str = "integer { size = 32; align = 8; signed = false; }";
const U64: &str = "integer { size = 64; align = 8; signed = false; }";
const I32: &str = "integer { size = 32; align = 8; signed = true; }";
const I64: &str = "integer { size = 64; align = 8; signed = true; }";
const TEXT: &str = "string { encoding = UTF8; }";

struct Uuid<'a>(&'a [u8; 16]);

impl Display for Uuid<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (i, byte) in self.0.iter().enumerate() {
            let dash = if matches!(i, 4 | 6 | 8 | 10) { "-" } else { "" };
            write!(f, "{dash}{byte:02x}")?;
        }
        Ok(())
    }
}

/// A string literal of TSDL, which are those of C.
struct Quoted<'a>(&'a str);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for c in self.0.chars() {
            match c {
                '"' | '\\' => write!(f, "\\{c}")?,
                // It would end the string in readers.
                '\0' => f.write_char(char::REPLACEMENT_CHARACTER)?,
                // Always three digits: a digit that follows is not part of it.
                c if c.is_ascii_control() => write!(f, "\\{:03o}", u32::from(c))?,
                c => f.write_char(c)?,
            }
        }
        f.write_char('"')
    }
}

#[cfg(test)]
mod tests;
