//! What the numbers of a recorded operation mean: by the file driver's own table of commands.

use std::borrow::Cow;

use dyntrace::efile::{Command, Position};
use dyntrace_reader::Asked;

/// The name of a command, such as `RENAME`; of an unknown one its number.
pub fn command_name(number: i32) -> Cow<'static, str> {
    command(number).map_or_else(|| format!("command {number}").into(), |command| command.name().into())
}

/// How many bytes the operation asked for; `None` if its command moves none, or does not tell how many.
pub fn bytes(asked: &Asked<'_>) -> Option<u64> {
    let size = command(asked.command)?.arguments().iter().find(|argument| argument.meaning == "size")?;
    let number = match size.position {
        Position::I1 => asked.integers[0],
        Position::I2 => asked.integers[1],
        Position::I3 => asked.integers[2],
        Position::I4 => asked.integers[3],
        Position::S1 | Position::S2 => return None,
    };
    number.try_into().ok()
}

/// The name of an error as errno(3) has it, such as `ENOENT`; empty for 0.
pub fn errno_name(errno: i32) -> Cow<'static, str> {
    match nix::errno::Errno::from_raw(errno) {
        _ if errno == 0 => "".into(),
        nix::errno::Errno::UnknownErrno => errno.to_string().into(),
        known => format!("{known:?}").into(),
    }
}

fn command(number: i32) -> Option<Command> {
    Command::ALL.iter().copied().find(|command| command.number() == number)
}
