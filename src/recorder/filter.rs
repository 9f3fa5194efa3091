//! Which events of its probes a session records: conditions on arguments, by their names in the provider's definition.

use dyntrace_probes::rings::decision;
use dyntrace_probes::rings::descriptor::Descriptor;
use dyntrace_probes::rings::field::Field;
use dyntrace_probes::rings::host::DynPayload;
use dyntrace_probes::rings::slot::{self, Verdict};

use super::rate::Rate;
use crate::glob::Glob;
use dyntrace_processes::process::{self, Pid};

/// Conditions that an event has to meet, all of them. A condition does not apply to probes without the argument that it tests.
///
/// The entry of a file operation decides for the whole operation: its `aio_pool-add`, `aio_pool-get`, `efile_drv-int_entry`,
/// `efile_drv-int_return` and `efile_drv-return` pass only if the entry has passed: not those of an operation in flight when the session starts. `seq_trace-operation` fires before the entry and
/// always passes. Events of other drivers pass each by its own arguments: their code fires entry and end on threads of its choice, and
/// carries no decision from one to the other.
///
/// There is no condition on the duration of an operation: its first events are recorded before the duration is known. A flight recorder
/// takes a snapshot when an operation is [slower](super::Triggers::slower), and `dyntrace view --min-duration` shows only such operations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Filter {
    /// Only events whose `user_tag` matches.
    pub tag: Option<Glob>,
    /// Only events whose `command` has this number.
    pub command: Option<i64>,
    /// Only operations whose first or second path matches.
    pub path: Option<Glob>,
    /// Only events that this process fires, and operations that it starts.
    pub process: Option<Pid>,
    /// Only operations started on the thread of this number, which is the first number in their names.
    pub thread: Option<i64>,
    /// The most events of each probe that are recorded in one second of the clock; of file operations, the most operations. The recorder
    /// counts the others as lost, an operation once.
    pub rate: Option<u32>,
    /// Only failures: events whose `success` is 0 or, without that argument, whose `errno` is not 0.
    pub failed: bool,
}

impl Filter {
    /// Whether the filter must see this probe's events to decide on others.
    pub(crate) fn needs(&self, descriptor: &Descriptor) -> bool {
        self.decides() && Part::of(descriptor) == Part::Entry
    }

    /// Whether entries decide. Whether its operation fails, an entry does not tell.
    fn decides(&self) -> bool {
        *self != Filter { failed: self.failed, ..Filter::default() }
    }

    /// Compiles the filter for one probe; `None` if all events of the probe pass. `is_recorded`: whether the session records the probe,
    /// and does not only [need](Filter::needs) it.
    pub(crate) fn compile(&self, descriptor: &Descriptor, is_recorded: bool) -> Option<Predicate> {
        let part = if self.decides() { Part::of(descriptor) } else { Part::None };
        let mut conditions = Vec::new();
        let mut process = self.process;
        match part {
            Part::None => {}
            Part::Entry => {
                let paths = ["s1", "s2"].map(|name| text(descriptor, name));
                if let (Some(path), [Some(first), Some(second)]) = (&self.path, paths) {
                    conditions.push(Condition { position: first, test: Test::EitherLike(path.clone(), second) });
                }
            }
            // Another thread may fire it.
            Part::Later => process = None,
        }
        if let (Some(thread), Some(position)) = (self.thread, number(descriptor, "thread_id")) {
            conditions.push(Condition { position, test: Test::Is(thread) });
        }
        if let (Some(tag), Some(position)) = (&self.tag, text(descriptor, "user_tag")) {
            conditions.push(Condition { position, test: Test::Like(tag.clone()) });
        }
        if let (Some(command), Some(position)) = (self.command, number(descriptor, "command")) {
            conditions.push(Condition { position, test: Test::Is(command) });
        }
        if self.failed {
            if let Some(position) = number(descriptor, "success") {
                conditions.push(Condition { position, test: Test::Is(0) });
            } else if let Some(position) = number(descriptor, "errno") {
                conditions.push(Condition { position, test: Test::IsNot(0) });
            }
        }
        // An operation whose entry was within the rate is recorded completely.
        let rate = self.rate.filter(|_| part != Part::Later).map(Rate::new);
        let has_conditions = !conditions.is_empty() || process.is_some() || rate.is_some();
        (has_conditions || part != Part::None).then(|| Predicate {
            conditions: conditions.into(),
            process,
            rate,
            part,
            is_recorded,
        })
    }
}

/// Which part of an operation a probe reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    None,
    Entry,
    Later,
}

impl Part {
    fn of(descriptor: &Descriptor) -> Part {
        if descriptor.provider != "dyntrace" {
            return Part::None;
        }
        match &*descriptor.tool_name() {
            "efile_drv-entry" => Part::Entry,
            "aio_pool-add" | "aio_pool-get" | "efile_drv-int_entry" | "efile_drv-int_return" | "efile_drv-return" => {
                Part::Later
            }
            _ => Part::None,
        }
    }
}

fn text(descriptor: &Descriptor, name: &str) -> Option<usize> {
    descriptor.arguments.iter().position(|argument| argument.name == name && argument.kind.is_text())
}

fn number(descriptor: &Descriptor, name: &str) -> Option<usize> {
    descriptor.arguments.iter().position(|argument| argument.name == name && !argument.kind.is_text())
}

/// A filter, compiled for one probe.
#[derive(Debug)]
pub(crate) struct Predicate {
    conditions: Box<[Condition]>,
    process: Option<Pid>,
    rate: Option<Rate>,
    part: Part,
    is_recorded: bool,
}

#[derive(Clone, Debug)]
struct Condition {
    /// The argument's position.
    position: usize,
    test: Test,
}

#[derive(Clone, Debug)]
enum Test {
    Like(Glob),
    /// That argument or the one at this position.
    EitherLike(Glob, usize),
    Is(i64),
    IsNot(i64),
}

impl slot::Condition for Predicate {
    fn verdict(&self, session: usize, payload: &dyn DynPayload) -> Verdict {
        let meets = || {
            let mut meets = false;
            payload.dyn_show(&mut |fields| meets = self.test(fields));
            meets
        };
        let is_match = self.process.is_none_or(|process| process == process::current())
            && meets()
            && (self.part != Part::Later || decision::is_taken(session));
        let verdict = match &self.rate {
            _ if !is_match => Verdict::Rejected,
            Some(rate) if !rate.allows() => Verdict::AboveRate,
            _ => Verdict::Passes,
        };
        if self.part == Part::Entry {
            decision::decide(session, verdict == Verdict::Passes);
        }
        // An entry above the rate counts as the loss of its operation, even if the session does not record entries.
        if verdict == Verdict::Passes && !self.is_recorded { Verdict::Rejected } else { verdict }
    }
}

impl Predicate {
    /// Whether the arguments meet the conditions.
    fn test(&self, fields: &[Field<'_>]) -> bool {
        let is_like = |glob: &Glob, position: usize| match fields.get(position) {
            Some(Field::Text(text)) => glob.matches(text),
            Some(Field::Name(name)) => glob.matches(name.write(&mut [0; 16])),
            Some(Field::Numbered(name)) => name.with(|name| glob.matches(name)),
            _ => false,
        };
        self.conditions.iter().all(|condition| match (&condition.test, fields.get(condition.position)) {
            (Test::Like(glob), _) => is_like(glob, condition.position),
            (Test::EitherLike(glob, other), _) => is_like(glob, condition.position) || is_like(glob, *other),
            (Test::Is(wanted), Some(field)) => field.number() == Some(i128::from(*wanted)),
            (Test::IsNot(unwanted), Some(field)) => field.number() != Some(i128::from(*unwanted)),
            _ => false,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::ptr;

    use dyntrace_probes::rings::decision::Decision;
    use dyntrace_probes::rings::descriptor::{Argument, RecordedKind};
    use dyntrace_probes::rings::payload::Value;
    use dyntrace_probes::text::{Buffer, Shape, Text};
    use slot::Condition as _;

    use super::*;

    const fn argument(name: &'static str, kind: RecordedKind) -> Argument {
        Argument { name, kind }
    }

    static RETURN: Descriptor = Descriptor::new(
        "dyntrace",
        "efile_drv__return",
        &[
            argument("tag", RecordedKind::I32),
            argument("user_tag", RecordedKind::Text),
            argument("command", RecordedKind::I32),
            argument("success", RecordedKind::I32),
            argument("errno", RecordedKind::I32),
        ],
        ptr::null,
    );
    static ENTRY: Descriptor =
        Descriptor::new("dyntrace", "efile_drv__entry", &[argument("command", RecordedKind::I32)], ptr::null);
    static ADD: Descriptor =
        Descriptor::new("dyntrace", "aio_pool__add", &[argument("new_queue_length", RecordedKind::I32)], ptr::null);
    static BUSY: Descriptor =
        Descriptor::new("dyntrace", "port__busy", &[argument("port", RecordedKind::Text)], ptr::null);
    static OWN: Descriptor = Descriptor::new(
        "shop",
        "sold",
        &[
            argument("errno", RecordedKind::U32),
            argument("user_tag", RecordedKind::U64),
            argument("command", RecordedKind::Text),
        ],
        ptr::null,
    );

    fn returned(user_tag: &str, command: i32, success: i32) -> [Field<'_>; 5] {
        let errno = if success == 0 { 2 } else { 0 };
        [Field::I32(1), Field::Text(user_tag.as_bytes()), Field::I32(command), Field::I32(success), Field::I32(errno)]
    }

    #[test]
    fn nothing_asked() {
        assert!(Filter::default().compile(&RETURN, true).is_none());
        let all = Filter { tag: Some("req-*".into()), command: Some(12), failed: true, ..Filter::default() };
        assert!(all.compile(&BUSY, true).is_none(), "a probe without such arguments is not asked");
    }

    #[test]
    fn every_condition_is_to_be_met() {
        let filter = Filter { tag: Some("req-*".into()), command: Some(12), failed: true, ..Filter::default() };
        let predicate = filter.compile(&RETURN, true).unwrap();
        assert!(predicate.test(&returned("req-17", 12, 0)));
        assert!(!predicate.test(&returned("job-17", 12, 0)));
        assert!(!predicate.test(&returned("", 12, 0)));
        assert!(!predicate.test(&returned("req-17", 13, 0)));
        assert!(!predicate.test(&returned("req-17", 12, 1)));
    }

    #[test]
    fn a_name_is_a_text() {
        static SHAPE: Shape = Shape::new("req-", "-b");
        let predicate = Filter { tag: Some("req-1?-b".into()), ..Filter::default() }.compile(&RETURN, true).unwrap();
        for (number, passes) in [(17, true), (27, false), (117, false)] {
            let mut buffer = Buffer::new();
            let name = buffer.recorded(Text::numbered(&SHAPE, number));
            assert!(matches!(name.field(), Field::Name(_)));
            assert_eq!(predicate.test(&[Field::I32(1), name.field()]), passes, "{number}");
        }
    }

    #[test]
    fn failed_by_errno_and_only_arguments_of_the_right_kind() {
        let filter = Filter { tag: Some("*".into()), command: Some(1), failed: true, ..Filter::default() };
        let predicate = filter.compile(&OWN, true).unwrap();
        assert!(predicate.test(&[Field::U32(5), Field::U64(0), Field::Text(b"")]));
        assert!(!predicate.test(&[Field::U32(0), Field::U64(0), Field::Text(b"")]));
    }

    #[test]
    fn no_event_of_an_operation_passes_whose_entry_was_not_seen() {
        let filter = Filter { command: Some(12), ..Filter::default() };
        let [entry, later] = [&ENTRY, &ADD].map(|probe| filter.compile(probe, true).unwrap());
        // The session, and another at the entry.
        for (at_entry, passes) in [(0b11, true), (0b10, false)] {
            Decision::begin(at_entry);
            if passes {
                assert_eq!(entry.verdict(0, &(12,)), Verdict::Passes);
            }
            let operation = Decision::current();
            Decision::UNSEEN.apply();
            assert_eq!(later.verdict(0, &(1,)), Verdict::Rejected);
            operation.apply();
            assert_eq!(later.verdict(0, &(1,)) == Verdict::Passes, passes);
        }
    }

    #[test]
    fn an_event_without_the_argument_does_not_pass() {
        let predicate = Filter { command: Some(1), ..Filter::default() }.compile(&RETURN, true).unwrap();
        assert!(!predicate.test(&[]));
    }
}
