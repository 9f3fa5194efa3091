//! Ids of traces and spans. The same trace gives the same ids each time that it is converted.

use std::fmt::Write as _;

use dyntrace_reader::Process;
use sha2::{Digest as _, Sha256};

/// The id of a trace; never zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceId(pub u128);

/// The id of a span; never zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpanId(pub u64);

impl TraceId {
    /// The id in a user tag, and that of the span that the tag names as parent: the tag is a `traceparent` of W3C's Trace Context, or 32
    /// hexadecimal digits.
    pub fn in_tag(tag: &[u8]) -> Option<(TraceId, Option<SpanId>)> {
        let tag = str::from_utf8(tag).ok()?;
        let parts: Vec<&str> = tag.split('-').collect();
        match parts[..] {
            [trace] => Some((trace_id(trace)?, None)),
            [version, trace, parent, flags] if is_hex(version, 2) && is_hex(flags, 2) && version != "ff" => {
                let parent = is_hex(parent, 16).then(|| u64::from_str_radix(parent, 16).ok()).flatten()?;
                Some((trace_id(trace)?, (parent != 0).then_some(SpanId(parent))))
            }
            _ => None,
        }
    }

    /// The id of the trace that `parts` name in a process.
    pub fn derive(process: &Process, parts: &[&[u8]]) -> TraceId {
        let [first, second] = hash(process, parts);
        TraceId((u128::from(first) << 64 | u128::from(second)).max(1))
    }

    pub fn hex(self) -> String {
        format!("{:032x}", self.0)
    }
}

impl SpanId {
    /// The id of the span that `parts` name in a process.
    pub fn derive(process: &Process, parts: &[&[u8]]) -> SpanId {
        SpanId(hash(process, parts)[0].max(1))
    }

    pub fn hex(self) -> String {
        format!("{:016x}", self.0)
    }
}

fn trace_id(text: &str) -> Option<TraceId> {
    let number = is_hex(text, 32).then(|| u128::from_str_radix(text, 16).ok()).flatten()?;
    (number != 0).then_some(TraceId(number))
}

fn is_hex(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|digit| digit.is_ascii_hexdigit())
}

fn hash(process: &Process, parts: &[&[u8]]) -> [u64; 2] {
    let mut hash = Sha256::new();
    let mut names = String::new();
    let _ = write!(names, "{} {} {}", process.hostname, process.name, process.pid);
    for part in [names.as_bytes()].iter().chain(parts) {
        // The length, so that no two lists of parts are the same bytes.
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    let all = hash.finalize();
    [0, 8].map(|at| u64::from_be_bytes(std::array::from_fn(|i| all[at + i])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_in_tags() {
        let trace = 0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736;
        let hex = "4bf92f3577b34da6a3ce929d0e0e4736";
        for (tag, expected) in [
            (hex.to_owned(), Some((trace, None))),
            (hex.to_uppercase(), Some((trace, None))),
            (format!("00-{hex}-00f067aa0ba902b7-01"), Some((trace, Some(0x00f0_67aa_0ba9_02b7)))),
            (format!("00-{hex}-0000000000000000-01"), Some((trace, None))),
            (format!("ff-{hex}-00f067aa0ba902b7-01"), None),
            (format!("00-{hex}-00f067aa0ba902b7"), None),
            (format!("+{}", &hex[1..]), None),
            (hex[1..].to_owned(), None),
            ("0".repeat(32), None),
            ("req-17".to_owned(), None),
            (String::new(), None),
        ] {
            let found = TraceId::in_tag(tag.as_bytes()).map(|(trace, span)| (trace.0, span.map(|span| span.0)));
            assert_eq!(found, expected, "{tag}");
        }
        assert_eq!(TraceId::in_tag(b"\xff"), None);
        assert_eq!((TraceId(1).hex().len(), SpanId(1).hex().len()), (32, 16));
    }
}
