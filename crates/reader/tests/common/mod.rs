//! Writes traces byte by byte, by the recorder's file format, without code of the recorder or the reader. Tests of other
//! packages include it by `#[path]`.
#![allow(dead_code, reason = "each test uses a part of it")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use dyntrace_build::model::ArgumentKind;

pub const PAGE: usize = 4096;
pub const SUB_BUFFER: usize = 32768;
pub const HEADER: usize = 64;
/// The time of cycle 0 of a writer's clock, in nanoseconds since 1970. A cycle is a nanosecond.
pub const START: i64 = 1_700_000_000_000_000_000;

/// The value of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arg {
    I(i64),
    U(u64),
    S(Vec<u8>),
}

impl From<&str> for Arg {
    fn from(text: &str) -> Self {
        Arg::S(text.into())
    }
}

impl From<i64> for Arg {
    fn from(number: i64) -> Self {
        Arg::I(number)
    }
}

/// An event to write.
#[derive(Clone, Debug)]
pub struct Fired {
    /// The probe's name as tools show it, such as `efile_drv-entry` or `recorder:lost`.
    pub name: String,
    pub cycles: u64,
    pub args: Vec<Arg>,
}

pub fn fired(name: &str, cycles: u64, args: impl IntoIterator<Item = Arg>) -> Fired {
    Fired { name: name.to_owned(), cycles, args: args.into_iter().collect() }
}

#[derive(Clone, Debug)]
pub struct Class {
    /// The full name.
    pub name: String,
    pub stream: u32,
    pub id: u16,
    pub fields: Vec<(String, ArgumentKind)>,
}

/// Returns the event classes: those of provider.d in stream 0, the recorder's own in stream 1.
pub fn classes() -> Vec<Class> {
    static CLASSES: LazyLock<Vec<Class>> = LazyLock::new(make_classes);
    CLASSES.clone()
}

fn make_classes() -> Vec<Class> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().find(|folder| folder.join("provider.d").is_file());
    let text = fs::read_to_string(path.expect("the project").join("provider.d")).expect("provider.d");
    let provider = dyntrace_build::parse(&text, "provider.d").expect("a provider");
    let probes = provider.probes.iter().enumerate().map(|(id, probe)| Class {
        name: format!("{}:{}", provider.name, probe.tool_name()),
        stream: 0,
        id: id as u16,
        fields: probe.arguments.iter().map(|argument| (argument.name.clone(), argument.ty.kind)).collect(),
    });
    let own = [
        ("recorder:thread", vec![("tid", ArgumentKind::U64), ("name", ArgumentKind::Text)]),
        ("recorder:lost", vec![("count", ArgumentKind::U64), ("reason", ArgumentKind::Text)]),
        ("recorder:clock", vec![("realtime_ns", ArgumentKind::U64)]),
        ("recorder:end", vec![("count_of_discarded", ArgumentKind::U64)]),
    ];
    let own = own.into_iter().enumerate().map(|(id, (name, fields))| Class {
        name: name.to_owned(),
        stream: 1,
        id: id as u16,
        fields: fields.into_iter().map(|(name, kind)| (name.to_owned(), kind)).collect(),
    });
    probes.chain(own).collect()
}

/// Writes the trace of one process.
pub struct Writer {
    pub folder: PathBuf,
    pub uuid: [u8; 16],
    pub little: bool,
    pub frequency: u64,
    pub word_size: u32,
    pub classes: Vec<Class>,
}

impl Writer {
    /// Creates a trace in this machine's byte order in the new folder `folder`, with metadata.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        let folder = folder.into();
        fs::create_dir_all(&folder).expect("a folder");
        let uuid = std::array::from_fn(|at| at as u8 * 3 + 1);
        let little = cfg!(target_endian = "little");
        let writer = Self { folder, uuid, little, frequency: 1_000_000_000, word_size: 64, classes: classes() };
        writer.write_metadata();
        writer
    }

    pub fn write_metadata(&self) {
        self.write("metadata", self.metadata().as_bytes());
    }

    pub fn write(&self, file: &str, bytes: &[u8]) {
        let path = self.folder.join(file);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, bytes).expect("a file");
    }

    pub fn metadata(&self) -> String {
        let int = |bits: u32, signed: bool| format!("integer {{ size = {bits}; align = 8; signed = {signed}; }}");
        let hex: String = self.uuid.iter().map(|byte| format!("{byte:02x}")).collect();
        let uuid = [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-");
        let order = if self.little { "le" } else { "be" };
        let mut text = format!(
            "/* CTF 1.8 */\ntrace {{ major = 1; minor = 8; byte_order = {order}; uuid = \"{uuid}\";\n packet.header := struct {{ integer {{ size = 32; align = 8; signed = false; base = 16; }} magic; {} uuid[16]; {} stream_id; }};\n}};\n",
            int(8, false),
            int(32, false),
        );
        text += &format!(
            "env {{ tracer_name = \"dyntrace\"; tracer_major = 0; tracer_minor = 1; hostname = \"h\"; procname = \"shop\"; pid = 12; word_size = {}; mode = \"stream\"; }};\n",
            self.word_size
        );
        text += &format!(
            "clock {{ name = \"tsc\"; freq = {}; offset_s = {}; offset = 0; }};\n",
            self.frequency,
            START / 1_000_000_000
        );
        text += "typealias integer { size = 64; align = 8; signed = false; map = clock.tsc.value; } := timestamp_t;\n";
        for stream in [0, 1] {
            let context: String = ["content_size", "packet_size", "events_discarded", "sequence", "tid"]
                .map(|name| format!(" {} {name};", int(64, false)))
                .concat();
            text += &format!(
                "stream {{ id = {stream};\n packet.context := struct {{{context} }};\n event.header := struct {{ {} id; timestamp_t timestamp; }};\n}};\n",
                int(16, false)
            );
        }
        for class in &self.classes {
            let fields = class.fields.iter().map(|(name, kind)| match kind {
                ArgumentKind::I32 => format!(" {} _{name};", int(32, true)),
                ArgumentKind::U32 => format!(" {} _{name};", int(32, false)),
                ArgumentKind::I64 => format!(" {} _{name};", int(64, true)),
                ArgumentKind::U64 => format!(" {} _{name};", int(64, false)),
                ArgumentKind::Text => format!(" string {{ encoding = UTF8; }} _{name};"),
            });
            text += &format!(
                "event {{ name = \"{}\"; id = {}; stream_id = {}; fields := struct {{{} }}; }};\n",
                class.name,
                class.id,
                class.stream,
                fields.collect::<String>()
            );
        }
        text
    }

    pub fn class(&self, name: &str) -> &Class {
        let found = self.classes.iter().find(|class| class.name == name || class.name.split(':').nth(1) == Some(name));
        found.unwrap_or_else(|| panic!("no class {name}"))
    }

    fn u16(&self, number: u16) -> [u8; 2] {
        if self.little { number.to_le_bytes() } else { number.to_be_bytes() }
    }

    fn u32(&self, number: u32) -> [u8; 4] {
        if self.little { number.to_le_bytes() } else { number.to_be_bytes() }
    }

    fn u64(&self, number: u64) -> [u8; 8] {
        if self.little { number.to_le_bytes() } else { number.to_be_bytes() }
    }

    /// Returns the bytes of an event.
    pub fn event(&self, event: &Fired) -> Vec<u8> {
        let class = self.class(&event.name);
        assert_eq!(class.fields.len(), event.args.len(), "{event:?}");
        let mut bytes = self.u16(class.id).to_vec();
        bytes.extend(self.u64(event.cycles));
        for ((_, kind), arg) in class.fields.iter().zip(&event.args) {
            match (kind, arg) {
                (ArgumentKind::I32, Arg::I(number)) => bytes.extend(self.u32(*number as u32)),
                (ArgumentKind::U32, Arg::U(number)) => bytes.extend(self.u32(*number as u32)),
                (ArgumentKind::I64, Arg::I(number)) => bytes.extend(self.u64(*number as u64)),
                (ArgumentKind::U64, Arg::U(number)) => bytes.extend(self.u64(*number)),
                (ArgumentKind::Text, Arg::S(text)) => {
                    bytes.extend(text);
                    bytes.push(0);
                }
                other => panic!("{other:?}"),
            }
        }
        bytes
    }

    /// Returns a packet of `size` bytes with `content`.
    pub fn packet(&self, stream: u32, tid: u64, sequence: u64, discarded: u64, size: usize, content: &[u8]) -> Vec<u8> {
        assert!(HEADER + content.len() <= size);
        let mut bytes = self.u32(0xC1FC_1FC1).to_vec();
        bytes.extend(self.uuid);
        bytes.extend(self.u32(stream));
        for word in [(HEADER + content.len()) as u64 * 8, size as u64 * 8, discarded, sequence, tid] {
            bytes.extend(self.u64(word));
        }
        bytes.extend(content);
        bytes.resize(size, 0);
        bytes
    }

    /// Returns a prepared page.
    pub fn prepared(&self, stream: u32) -> Vec<u8> {
        self.packet(stream, 0, 0, 0, PAGE, &[])
    }

    /// Returns the events in packets of `size` bytes, numbered from 1.
    pub fn packets(&self, stream: u32, tid: u64, size: usize, events: &[Fired]) -> Vec<Vec<u8>> {
        let mut contents = vec![Vec::new()];
        for event in events {
            let bytes = self.event(event);
            if HEADER + contents[contents.len() - 1].len() + bytes.len() > size {
                contents.push(Vec::new());
            }
            contents.last_mut().expect("one").extend(bytes);
        }
        let numbered = contents.iter().zip(1..);
        numbered.map(|(content, sequence)| self.packet(stream, tid, sequence, 0, size, content)).collect()
    }

    /// Writes the file of a ring.
    pub fn ring(&self, file: &str, tid: u64, events: &[Fired]) {
        self.write(file, &self.packets(0, tid, SUB_BUFFER, events).concat());
    }

    /// Writes the file of the recorder's own events.
    pub fn process(&self, events: &[Fired]) {
        self.write("process", &self.packets(1, 0, SUB_BUFFER, events).concat());
    }
}

/// An operation of the file driver as a `return` event, with no bytes moved.
pub fn returned(cycles: u64, thread: i64, tag: i64, user_tag: &str, command: i64, errno: i64) -> Fired {
    moved(cycles, [thread, tag], user_tag, command, errno, 0)
}

/// An operation of the file driver as a `return` event, with the bytes moved.
pub fn moved(cycles: u64, id: [i64; 2], user_tag: &str, command: i64, errno: i64, bytes: i64) -> Fired {
    let success = i64::from(errno == 0);
    fired(
        "efile_drv-return",
        cycles,
        [id[0].into(), id[1].into(), user_tag.into(), command.into(), success.into(), errno.into(), bytes.into()],
    )
}

/// An operation of the file driver as an `entry` event.
pub fn entry(cycles: u64, thread: i64, tag: i64, user_tag: &str, command: i64, path: &str) -> Fired {
    let numbers = [thread, tag].map(Arg::from);
    let rest = [
        user_tag.into(),
        command.into(),
        path.into(),
        "".into(),
        1.into(),
        2.into(),
        (-3).into(),
        4.into(),
        "#Port<0.1>".into(),
    ];
    fired("efile_drv-entry", cycles, numbers.into_iter().chain(rest))
}
