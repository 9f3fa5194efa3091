//! Numbers that have names: each gets a field of its own for the name, after that of the number.

use std::borrow::Cow;

use dyntrace_reader::{EventClass, Value};

use crate::operation;

/// The kind of such a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// A command of the file driver.
    Command,
    Errno,
    /// A lane of the pool.
    Lane,
}

impl Code {
    /// The kind of number that the field of this name has; `None` if it has no names, or if the event has a field of the name's title.
    pub fn of(class: &EventClass, field: &str) -> Option<Code> {
        let code = match (class.provider(), class.probe(), field) {
            ("dyntrace", probe, "command") if probe.starts_with("efile_drv-") => Code::Command,
            ("dyntrace", "aio_pool-get", "lane") => Code::Lane,
            (_, _, "errno") if class.operation_step().is_some() => Code::Errno,
            _ => return None,
        };
        class.position(code.title()).is_none().then_some(code)
    }

    /// The name of the field with the name.
    pub fn title(self) -> &'static str {
        match self {
            Code::Command => "command_name",
            Code::Errno => "errno_name",
            Code::Lane => "lane_name",
        }
    }

    /// The name of this number, if it has one.
    pub fn name(self, value: Value<'_>) -> Option<Cow<'static, str>> {
        let number = match value {
            Value::Signed(number) => number,
            Value::Unsigned(number) => number.try_into().ok()?,
            Value::Text(_) => return None,
        };
        let name = match self {
            Code::Command => operation::op(number).into(),
            Code::Errno => operation::known_errno(number.try_into().ok()?)?,
            Code::Lane => match number {
                1 => "fast".into(),
                2 => "slow".into(),
                _ => return None,
            },
        };
        (!name.is_empty()).then_some(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_numbers_have_names() {
        for (code, number, name) in [
            (Code::Command, 12, Some("RENAME")),
            (Code::Command, 17, None),
            (Code::Command, i64::MIN, None),
            (Code::Errno, 2, Some("ENOENT")),
            (Code::Errno, 0, None),
            (Code::Errno, 4000, None),
            (Code::Errno, i64::MAX, None),
            (Code::Lane, 2, Some("slow")),
            (Code::Lane, 0, None),
        ] {
            assert_eq!(code.name(Value::Signed(number)).as_deref(), name, "{code:?} {number}");
        }
        assert_eq!(Code::Errno.name(Value::Unsigned(13)).as_deref(), Some("EACCES"));
        assert_eq!(Code::Errno.name(Value::Unsigned(u64::MAX)), None);
        assert_eq!(Code::Lane.name(Value::Text(b"1".into())), None);
    }
}
