//! The events that the script prints, described as those of a recording.

use dyntrace_build::model::{Argument, ArgumentKind, Probe};
use dyntrace_metadata as metadata;

/// Bytes of a string that bpftrace keeps, with its NUL: the most that it allows.
pub const STRING: usize = 200;

/// The class of events that name a thread, before those of the probes.
pub const THREAD: u16 = 0;

/// Whether the argument is a string.
pub fn is_text(argument: &Argument) -> bool {
    argument.ty.kind == ArgumentKind::Text
}

/// The classes of the events, as the metadata of a recording has them.
pub fn description(probes: &[Probe], pid: u32) -> String {
    let field = |argument: &Argument| match argument.ty.kind {
        ArgumentKind::I32 => metadata::FieldKind::Signed { bits: 32 },
        ArgumentKind::U32 => metadata::FieldKind::Unsigned { bits: 32 },
        ArgumentKind::I64 => metadata::FieldKind::Signed { bits: 64 },
        ArgumentKind::U64 => metadata::FieldKind::Unsigned { bits: 64 },
        ArgumentKind::Text => metadata::FieldKind::Text,
    };
    let thread = metadata::Event {
        id: THREAD,
        name: "recorder:thread".into(),
        fields: vec![("tid", metadata::FieldKind::Unsigned { bits: 64 }), ("name", metadata::FieldKind::Text)],
    };
    let of_probe = |(id, probe): (u16, &Probe)| metadata::Event {
        id,
        name: format!("dyntrace:{}", probe.tool_name()).into(),
        fields: Vec::new(),
    };
    let mut events: Vec<_> = std::iter::once(thread).chain((THREAD + 1..).zip(probes).map(of_probe)).collect();
    for (event, probe) in events[1..].iter_mut().zip(probes) {
        event.fields = probe.arguments.iter().map(|argument| (argument.name.as_str(), field(argument))).collect();
    }
    let text = metadata::Description {
        byte_order: metadata::ByteOrder::NATIVE,
        uuid: [0; 16],
        environment: vec![("pid", metadata::Value::Number(pid.into())), ("word_size", metadata::Value::Number(64))],
        clock: metadata::Clock { name: "boot", frequency: 1_000_000_000, offset_seconds: 0, offset_cycles: 0 },
        streams: vec![metadata::Stream { id: 0, checksums: true, compact: false, events }],
    };
    text.text(metadata::Format::Ctf1)
}
