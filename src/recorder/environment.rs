//! The recorder, switched on by the environment of a program that says nothing about it.
//!
//! | `DYNTRACE` | what it does |
//! |---|---|
//! | `control` | lets other processes control the recorder, as [`control`](super::control()) does; on Linux |
//! | `record:DIRECTORY,...` | records from the beginning to the end of the program, as [`Options`] says; and that, too |
//!
//! It is read before `main`. An empty value counts as unset. A program that has more rights than the user who starts it ignores the
//! variable. Whatever is wrong with it is one line on standard error; the program runs all the same.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write as _};
use std::mem;

use super::control;
use super::options::Options;
use super::options::text::OptionsError;
use super::session::Session;
use crate::environment;
use crate::host;
use crate::thread_progress::os::without_file_size_signal;

/// The name of the variable.
const VARIABLE: &str = "DYNTRACE";

/// Run by the C library before `main`.
#[used]
#[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
#[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".init_array"))]
static AT_START: extern "C" fn() = at_start;

extern "C" fn at_start() {
    if !host::is_module()
        && let Some(value) = environment::var(VARIABLE)
    {
        // Standard error may be a file that is as long as the process may make files.
        without_file_size_signal(|| heed(value));
    }
}

fn heed(value: OsString) {
    let wish = match Wish::read(&value) {
        Ok(wish) => wish,
        Err(error) => return say(&value, &error),
    };
    if let Wish::Record(options) = wish {
        match Session::start(options) {
            // It lasts as long as the program.
            Ok(session) => mem::forget(session),
            Err(error) => say(&value, &error),
        }
        if !control::IS_THERE {
            return;
        }
    }
    if let Err(error) = control::control() {
        say(&value, &error);
    }
}

/// What the variable asks for.
#[derive(Debug, PartialEq, Eq)]
enum Wish {
    Control,
    Record(Options),
}

/// Why it asks for nothing.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
enum WishError {
    #[error("it is not UTF-8")]
    NotUtf8,
    #[error("{0}; or use control, to let dyntrace record -p begin")]
    Options(#[from] OptionsError),
}

impl Wish {
    fn read(value: &OsStr) -> Result<Wish, WishError> {
        match value.to_str().ok_or(WishError::NotUtf8)? {
            "control" => Ok(Wish::Control),
            options => Ok(Wish::Record(options.parse()?)),
        }
    }
}

fn say(value: &OsStr, error: &dyn std::error::Error) {
    // Nobody listens: the program has other things to do.
    let _ = writeln!(io::stderr(), "dyntrace: {VARIABLE}={value:?}: {error}");
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt as _;

    use super::*;

    #[test]
    fn what_it_asks_for() {
        let read = |value: &str| Wish::read(OsStr::new(value));
        assert_eq!(read("control"), Ok(Wish::Control));
        assert_eq!(read("record:/t"), Ok(Wish::Record(Options::new("/t"))));
        let error = read("on").unwrap_err().to_string();
        assert!(
            error.contains("\"on\" does not begin with record:DIRECTORY") && error.contains("or use control"),
            "{error}"
        );
        assert_eq!(Wish::read(OsStr::from_bytes(b"record:/\xff")), Err(WishError::NotUtf8));
    }
}
