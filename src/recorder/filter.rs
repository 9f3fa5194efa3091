//! Which events of the chosen probes a session takes: conditions on arguments, by their names in the provider's definition.

use super::descriptor::{Descriptor, Kind};
use super::glob::Glob;
use crate::sdt::Name;

/// Conditions that an event has to meet, all of them. A probe that has no such argument is not asked: its events pass.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Filter {
    /// Only events whose `user_tag` is such.
    pub tag: Option<Glob>,
    /// Only events whose `command` has this number.
    pub command: Option<i64>,
    /// Only events of what failed: whose `success` is 0 or, where there is no such argument, whose `errno` is not 0.
    pub failed: bool,
}

impl Filter {
    /// What the filter asks of events of one probe, or `None` if it asks nothing of them.
    pub(crate) fn compile(&self, descriptor: &Descriptor) -> Option<Predicate> {
        let mut conditions = Vec::new();
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
        (!conditions.is_empty()).then(|| Predicate(conditions.into()))
    }
}

fn text(descriptor: &Descriptor, name: &str) -> Option<usize> {
    descriptor.arguments.iter().position(|argument| argument.name == name && matches!(argument.kind, Kind::Text))
}

fn number(descriptor: &Descriptor, name: &str) -> Option<usize> {
    descriptor.arguments.iter().position(|argument| argument.name == name && !matches!(argument.kind, Kind::Text))
}

/// A filter made ready for one probe.
#[derive(Clone, Debug)]
pub(crate) struct Predicate(Box<[Condition]>);

#[derive(Clone, Debug)]
struct Condition {
    /// Which argument it is about.
    position: usize,
    test: Test,
}

#[derive(Clone, Debug)]
enum Test {
    Like(Glob),
    Is(i64),
    IsNot(i64),
}

/// The value of one argument of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field<'a> {
    /// A signed integer of 32 bits.
    I32(i32),
    /// An unsigned integer of 32 bits.
    U32(u32),
    /// A signed integer of 64 bits.
    I64(i64),
    /// An unsigned integer of 64 bits.
    U64(u64),
    /// A string, without the NUL at its end. An absent one is empty.
    Text(&'a [u8]),
    /// A string that is made of a number.
    Name(Name),
}

impl Predicate {
    /// Whether an event with these arguments passes. Takes no lock and nothing from the heap: it is called while a probe fires.
    pub(crate) fn test(&self, fields: &[Field<'_>]) -> bool {
        self.0.iter().all(|condition| match (&condition.test, fields.get(condition.position)) {
            (Test::Like(glob), Some(Field::Text(text))) => glob.matches(text),
            (Test::Like(glob), Some(Field::Name(name))) => glob.matches(name.write(&mut [0; 16])),
            (Test::Is(wanted), Some(field)) => field.number() == Some(i128::from(*wanted)),
            (Test::IsNot(unwanted), Some(field)) => field.number() != Some(i128::from(*unwanted)),
            _ => false,
        })
    }
}

impl Field<'_> {
    fn number(self) -> Option<i128> {
        match self {
            Field::I32(number) => Some(number.into()),
            Field::U32(number) => Some(number.into()),
            Field::I64(number) => Some(number.into()),
            Field::U64(number) => Some(number.into()),
            Field::Text(_) | Field::Name(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ptr;

    use super::super::descriptor::argument;
    use super::super::payload::Value;
    use super::*;
    use crate::sdt::{Buffer, Shape, Text};

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
    static ADD: Descriptor = Descriptor::new("dyntrace", "aio_pool__add", &[argument("port", Kind::Text)], ptr::null);
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
        assert!(Filter::default().compile(&RETURN).is_none());
        let all = Filter { tag: Some("req-*".into()), command: Some(12), failed: true };
        assert!(all.compile(&ADD).is_none(), "a probe without such arguments is not asked");
    }

    #[test]
    fn every_condition_is_to_be_met() {
        let filter = Filter { tag: Some("req-*".into()), command: Some(12), failed: true };
        let predicate = filter.compile(&RETURN).unwrap();
        assert!(predicate.test(&returned("req-17", 12, 0)));
        assert!(!predicate.test(&returned("job-17", 12, 0)));
        assert!(!predicate.test(&returned("", 12, 0)));
        assert!(!predicate.test(&returned("req-17", 13, 0)));
        assert!(!predicate.test(&returned("req-17", 12, 1)));
    }

    #[test]
    fn a_name_is_a_text() {
        static SHAPE: Shape = Shape::new("req-", "-b");
        let predicate = Filter { tag: Some("req-1?-b".into()), ..Filter::default() }.compile(&RETURN).unwrap();
        for (number, passes) in [(17, true), (27, false), (117, false)] {
            let mut buffer = Buffer::new();
            let name = buffer.recorded(Text::numbered(&SHAPE, number));
            assert!(matches!(name.field(), Field::Name(_)));
            assert_eq!(predicate.test(&[Field::I32(1), name.field()]), passes, "{number}");
        }
    }

    #[test]
    fn failed_by_errno_and_only_arguments_of_the_right_kind() {
        let filter = Filter { tag: Some("*".into()), command: Some(1), failed: true };
        let predicate = filter.compile(&OWN).unwrap();
        assert!(predicate.test(&[Field::U32(5), Field::U64(0), Field::Text(b"")]));
        assert!(!predicate.test(&[Field::U32(0), Field::U64(0), Field::Text(b"")]));
    }

    #[test]
    fn an_event_without_the_argument_does_not_pass() {
        let predicate = Filter { command: Some(1), ..Filter::default() }.compile(&RETURN).unwrap();
        assert!(!predicate.test(&[]));
    }

    #[test]
    fn numbers_of_each_type_are_compared_by_value() {
        assert_eq!(Field::U64(u64::MAX).number(), Some(u64::MAX.into()));
        assert_eq!(Field::I64(-1).number(), Some(-1));
        assert_ne!(Field::U64(u64::MAX).number(), Field::I64(-1).number());
    }
}
