//! Commands of the file driver, errors of the system and scripts, by name.

use dyntrace::efile::Command;
use nix::errno::Errno;

use crate::render::{self, Rendering};

/// No system has a higher errno.
const MANY_ERRORS: i32 = 255;

/// The number of a command: `RENAME`, `rename` or `12`.
pub fn command(name: &str) -> Result<i32, String> {
    let known = |command: &&Command| command.name().eq_ignore_ascii_case(name) || command.number().to_string() == name;
    Command::ALL.iter().find(known).map(|command| command.number()).ok_or_else(|| {
        let names: Vec<&str> = Command::ALL.iter().map(|command| command.name()).collect();
        format!("the commands are {}", names.join(", "))
    })
}

/// The number of an error: `ENOENT` or `2`.
pub fn errno(name: &str) -> Result<i32, String> {
    if let Ok(number) = name.parse() {
        return Ok(number);
    }
    let is_called_so = |error: &Errno| *error != Errno::UnknownErrno && format!("{error:?}").eq_ignore_ascii_case(name);
    let number = (1..=MANY_ERRORS).find(|number| is_called_so(&Errno::from_raw(*number)));
    number.ok_or_else(|| "expected the name of an error, such as ENOENT, or its number".to_owned())
}

/// The shipped script of this name.
pub fn script(name: &str) -> Result<&'static Rendering, String> {
    render::find(name).ok_or_else(|| format!("the scripts are {}", scripts()))
}

/// The help of an option that takes a script.
pub fn script_help() -> String {
    format!("Print the lines of this script: {}", scripts())
}

fn scripts() -> String {
    render::ALL.iter().map(|rendering| rendering.script).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_by_name_and_number() {
        assert_eq!((command("RENAME"), command("read_file"), command("12")), (Ok(12), Ok(15), Ok(12)));
        assert!(command("17").is_err() && command("").is_err());
        assert!(command("RENAMED").unwrap_err().contains("RENAME, "));
    }

    #[test]
    fn errors_by_name_and_number() {
        assert_eq!((errno("ENOENT"), errno("enospc"), errno("125")), (Ok(2), Ok(28), Ok(125)));
        assert!(errno("UnknownErrno").is_err() && errno("ENOTHING").is_err() && errno("").is_err());
    }
}
