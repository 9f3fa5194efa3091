//! Meanings of the numbers in a recorded operation, by the file driver's table of commands.

use std::borrow::Cow;
use std::sync::LazyLock;

use dyntrace::efile::{Command, Position};
use dyntrace_reader::Request;

/// The names of the commands, each at the place of its number.
static NAMES: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let mut names = Vec::new();
    for command in Command::ALL {
        let number = usize::try_from(command.number()).expect("numbers of commands are small and positive");
        names.resize(names.len().max(number + 1), "");
        names[number] = command.name();
    }
    names
});

/// The name of a command as the scripts print it: empty for an unknown one.
pub fn op(number: i64) -> &'static str {
    usize::try_from(number).ok().and_then(|number| NAMES.get(number)).copied().unwrap_or_default()
}

/// The name of a command, such as `RENAME`; of an unknown one its number.
pub fn command_name(number: i32) -> Cow<'static, str> {
    match op(number.into()) {
        "" => format!("command {number}").into(),
        name => name.into(),
    }
}

/// Which of a command's integers, from 0, is the number of bytes it moves.
pub fn size(number: i64) -> Option<usize> {
    let command = Command::ALL.iter().find(|command| i64::from(command.number()) == number)?;
    let size = command.arguments().iter().find(|argument| argument.meaning == "size")?;
    [Position::I1, Position::I2, Position::I3, Position::I4].iter().position(|integer| *integer == size.position)
}

/// How many bytes the operation asked for; `None` if its command does not say.
pub fn bytes(request: &Request<'_>) -> Option<u64> {
    request.integers[size(request.command.into())?].try_into().ok()
}

/// The name of an error as errno(3) has it, such as `ENOENT`; empty for 0.
pub fn errno_name(errno: i32) -> Cow<'static, str> {
    match nix::errno::Errno::from_raw(errno) {
        _ if errno == 0 => "".into(),
        nix::errno::Errno::UnknownErrno => errno.to_string().into(),
        known => format!("{known:?}").into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_by_number() {
        for command in Command::ALL {
            assert_eq!(op(command.number().into()), command.name());
        }
        for number in [-1, 0, 17, 69, i64::MAX, i64::MIN] {
            assert_eq!(op(number), "");
        }
    }
}
