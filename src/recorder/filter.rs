//! Which events of the chosen probes a session takes: conditions on arguments, by their names in the provider's definition.

use super::decision;
use super::descriptor::{Descriptor, Kind};
use super::field::Field;
use super::payload::Payload;
use super::rate::Rate;
use crate::glob::Glob;
use crate::process::{self, Pid};

/// Conditions that an event has to meet, all of them. A probe that has no such argument is not asked: its events pass.
///
/// The entry of a file operation decides for the whole operation: its `aio_pool-add`, `aio_pool-get`, `efile_drv-int_entry`,
/// `efile_drv-int_return` and `efile_drv-return` pass only if it has passed. `seq_trace-operation`, which fires before the entry,
/// passes always.
///
/// There is no condition on how long an operation takes: its events are recorded before anybody knows. A flight recorder takes a
/// snapshot of what is [slower](super::Triggers::slower), and `dyntrace view --min-duration` shows only such operations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Filter {
    /// Only events whose `user_tag` is such.
    pub tag: Option<Glob>,
    /// Only events whose `command` has this number.
    pub command: Option<i64>,
    /// Only operations on such a path, their first or their second.
    pub path: Option<Glob>,
    /// Only events that this process fires, and operations that it asks for.
    pub process: Option<Pid>,
    /// Only operations that were asked for on the thread of this number, which is the first in their names.
    pub thread: Option<i64>,
    /// How many events of each probe are recorded in one second of the clock at most; for file operations, how many whole ones. The
    /// recorder counts the others as lost, an operation once.
    pub rate: Option<u32>,
    /// Only events of what failed: whose `success` is 0 or, where there is no such argument, whose `errno` is not 0.
    pub failed: bool,
}

impl Filter {
    /// Whether the filter has to be asked of this probe's events so that others are recorded as they should.
    pub(crate) fn needs(&self, descriptor: &Descriptor) -> bool {
        // An entry does not say whether its operation fails.
        let of_ends = Filter { failed: self.failed, ..Filter::default() };
        *self != of_ends && Part::of(descriptor) == Part::Entry
    }

    /// The filter made ready for one probe, or `None` if it lets all events of the probe pass. `is_recorded`: whether the session
    /// records the probe, and does not only [need](Filter::needs) it.
    pub(crate) fn compile(&self, descriptor: &Descriptor, is_recorded: bool) -> Option<Predicate> {
        let part = Part::of(descriptor);
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
        // An operation whose entry was within the rate is recorded to its end.
        let rate = self.rate.filter(|_| part != Part::Later).map(Rate::new);
        let is_asked = !conditions.is_empty() || process.is_some() || rate.is_some();
        let is_later = part == Part::Later && *self != Filter::default();
        (is_asked || is_later).then(|| Predicate { conditions: conditions.into(), process, rate, part, is_recorded })
    }
}

/// Which part of an operation a probe is.
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
    descriptor.arguments.iter().position(|argument| argument.name == name && matches!(argument.kind, Kind::Text))
}

fn number(descriptor: &Descriptor, name: &str) -> Option<usize> {
    descriptor.arguments.iter().position(|argument| argument.name == name && !matches!(argument.kind, Kind::Text))
}

/// The answer of a filter to an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Judgement {
    Passes,
    /// It is not one of those that were asked for.
    IsOther,
    /// It is one, and there were as many in this second already.
    IsAboveRate,
}

/// A filter made ready for one probe.
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
    /// Which argument it is about.
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

impl Predicate {
    /// Whether an event is to be recorded in the session. Takes no lock and nothing from the heap: it is called while a probe fires.
    pub(crate) fn judge(&self, session: usize, payload: &impl Payload) -> Judgement {
        let is_such = self.process.is_none_or(|process| process == process::current())
            && payload.show(|fields| self.test(fields))
            && !(self.part == Part::Later && decision::was_refused(session));
        let judgement = match &self.rate {
            _ if !is_such => Judgement::IsOther,
            Some(rate) if !rate.allows() => Judgement::IsAboveRate,
            _ => Judgement::Passes,
        };
        if self.part == Part::Entry && judgement != Judgement::Passes {
            decision::refuse(session);
        }
        // Above the rate it stands for its operation, of which nothing is recorded.
        if judgement == Judgement::Passes && !self.is_recorded { Judgement::IsOther } else { judgement }
    }

    /// Whether these arguments are such.
    fn test(&self, fields: &[Field<'_>]) -> bool {
        let is_like = |glob: &Glob, position: usize| match fields.get(position) {
            Some(Field::Text(text)) => glob.matches(text),
            Some(Field::Name(name)) => glob.matches(name.write(&mut [0; 16])),
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

    use super::*;
    use crate::recorder::descriptor::argument;
    use crate::recorder::payload::Value;
    use crate::text::{Buffer, Shape, Text};

    static RETURN: Descriptor = Descriptor::new(
        "dyntrace",
        "efile_drv__return",
        &[
            argument("tag", Kind::I32),
            argument("user_tag", Kind::Text),
            argument("command", Kind::I32),
            argument("success", Kind::I32),
            argument("errno", Kind::I32),
        ],
        ptr::null,
    );
    static BUSY: Descriptor = Descriptor::new("dyntrace", "port__busy", &[argument("port", Kind::Text)], ptr::null);
    static OWN: Descriptor = Descriptor::new(
        "shop",
        "sold",
        &[argument("errno", Kind::U32), argument("user_tag", Kind::U64), argument("command", Kind::Text)],
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
    fn an_event_without_the_argument_does_not_pass() {
        let predicate = Filter { command: Some(1), ..Filter::default() }.compile(&RETURN, true).unwrap();
        assert!(!predicate.test(&[]));
    }
}
