//! Names of recorded operations, and meanings of their numbers, by the file driver's table of commands.

use std::borrow::Cow;
use std::sync::LazyLock;

use dyntrace::efile::Command;
use dyntrace_reader::FileOperation;
use dyntrace_terminal::escape;

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

/// The name of an operation: that of the file driver's command, such as `RENAME`; for other drivers the prefix of their probes
/// and the number, such as `resolver_drv 1`, or the prefix alone if there are no commands.
pub fn name(driver: &str, command: i32) -> Cow<'static, str> {
    match (driver.split_once(':'), command) {
        (Some(("dyntrace", "efile_drv")), _) => command_name(command),
        (Some((_, prefix)), 0) => escape::name(prefix).into(),
        (Some((_, prefix)), _) => format!("{} {command}", escape::name(prefix)).into(),
        (None, _) => command_name(command),
    }
}

/// The name of `operation`.
pub fn name_of(operation: &FileOperation<'_>) -> Cow<'static, str> {
    name(operation.driver, operation.request.command)
}

/// How many bytes the operation moved; `None` if it is in flight, moves none, or its trace does not say.
pub fn bytes(operation: &FileOperation<'_>) -> Option<u64> {
    let is_its = |command: &Command| command.number() == operation.request.command && command.moves_bytes();
    let moves = !operation.is_of_file_driver() || Command::ALL.iter().any(is_its);
    operation.completion?.bytes.filter(|_| moves)
}

/// Returns the error's name: that of its errno, or else the one that its driver tells; empty for success.
pub fn error_of<'o>(operation: &'o FileOperation<'_>) -> Cow<'o, str> {
    match operation.completion {
        Some(answer) if !answer.success && answer.errno != 0 => errno_name(answer.errno),
        Some(answer) if !answer.success && operation.error.is_empty() => "failed".into(),
        Some(answer) if !answer.success => String::from_utf8_lossy(operation.error),
        _ => "".into(),
    }
}

/// The name of an error as errno(3) has it, such as `ENOENT`; of an unknown one its number; empty for 0.
pub fn errno_name(errno: i32) -> Cow<'static, str> {
    known_errno(errno).unwrap_or_else(|| if errno == 0 { "".into() } else { errno.to_string().into() })
}

/// The name of an error, if it has one; 0 has none.
pub fn known_errno(errno: i32) -> Option<Cow<'static, str>> {
    match nix::errno::Errno::from_raw(errno) {
        _ if errno == 0 => None,
        nix::errno::Errno::UnknownErrno => None,
        known => Some(format!("{known:?}").into()),
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
