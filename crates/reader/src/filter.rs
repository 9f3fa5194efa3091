//! Selections: filters of events and operations.

use dyntrace_metadata::Glob;

use crate::class::EventClass;
use crate::event::{Event, Value};

/// A filter of events and operations.
///
/// Each call narrows it; only further calls of [`probe`](Self::probe) add probes. A filter by an argument excludes events
/// without this argument. In patterns `*` stands for any text and `?` for one character.
///
/// ```
/// use dyntrace_reader::{Selection, Trace};
///
/// let selection = Selection::new().tag("req-*").probe("efile_drv-return").failed();
/// let trace = Trace::open("tests/golden")?;
/// assert_eq!(trace.events().filter(|event| selection.matches(event)).count(), 1);
/// # Ok::<(), dyntrace_reader::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Selection {
    tag: Option<Glob>,
    probes: Vec<(Glob, bool)>,
    failed: bool,
    command: Option<i64>,
    errno: Option<i64>,
    from: Option<i64>,
    until: Option<i64>,
    tid: Option<u64>,
}

impl Selection {
    /// Returns a selection of all events.
    pub fn new() -> Self {
        Self::default()
    }

    /// Selects events whose `user_tag` matches `pattern`.
    pub fn tag(mut self, pattern: &str) -> Self {
        self.tag = Some(Glob::from(pattern));
        self
    }

    /// Selects events of probes that match `pattern`, such as `efile_drv-*`, or the pattern of another call. A pattern
    /// with a colon, such as `shop:*`, matches provider and probe.
    pub fn probe(mut self, pattern: &str) -> Self {
        self.probes.push((Glob::from(pattern), pattern.contains(':')));
        self
    }

    /// Selects failures: events whose `success` is 0.
    pub fn failed(mut self) -> Self {
        self.failed = true;
        self
    }

    /// Selects events whose `command` is `number`.
    pub fn command(mut self, number: i64) -> Self {
        self.command = Some(number);
        self
    }

    /// Selects events whose `errno` is `number`.
    pub fn errno(mut self, number: i64) -> Self {
        self.errno = Some(number);
        self
    }

    /// Selects events at or after `time`, in nanoseconds since 1970.
    pub fn from(mut self, time: i64) -> Self {
        self.from = Some(time);
        self
    }

    /// Selects events before `time`, in nanoseconds since 1970.
    pub fn until(mut self, time: i64) -> Self {
        self.until = Some(time);
        self
    }

    /// Selects events of the thread `tid`.
    pub fn tid(mut self, tid: u64) -> Self {
        self.tid = Some(tid);
        self
    }

    /// Whether the selection includes the event.
    pub fn matches(&self, event: &Event<'_>) -> bool {
        let known = &event.class.known;
        self.from.is_none_or(|from| from <= event.time)
            && self.until.is_none_or(|until| event.time < until)
            && self.tid.is_none_or(|tid| event.tid == tid)
            && self.matches_probe(event.class)
            && self.command.is_none_or(|command| is(event, known.command, command))
            && self.errno.is_none_or(|errno| is(event, known.errno, errno))
            && (!self.failed || is(event, known.success, 0))
            && self.tag.as_ref().is_none_or(|_| match known.user_tag.and_then(|position| event.value(position)) {
                Some(Value::Text(tag)) => self.matches_tag(&tag),
                _ => false,
            })
    }

    /// Whether the selection includes operations with this user tag.
    pub fn matches_tag(&self, tag: &[u8]) -> bool {
        self.tag.as_ref().is_none_or(|pattern| pattern.matches(String::from_utf8_lossy(tag).as_bytes()))
    }

    /// Whether the selection includes the probe whose events these are; its other filters are not asked.
    pub fn matches_probe(&self, class: &EventClass) -> bool {
        let name = |with_provider| if with_provider { &class.name } else { class.probe() };
        self.probes.is_empty()
            || self.probes.iter().any(|(pattern, with_provider)| pattern.matches(name(*with_provider).as_bytes()))
    }
}

/// Whether the event has the field and its value is `number`.
fn is(event: &Event<'_>, position: Option<usize>, number: i64) -> bool {
    match position.and_then(|position| event.value(position)) {
        Some(Value::Signed(found)) => found == number,
        Some(Value::Unsigned(found)) => u64::try_from(number) == Ok(found),
        _ => false,
    }
}
