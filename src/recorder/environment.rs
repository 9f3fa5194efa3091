//! Switching the recorder on by the environment, without a call in the program.
//!
//! | `DYNTRACE` | effect |
//! |---|---|
//! | `control` | lets other processes control the recorder, as [`control`](super::control()) does; on Linux |
//! | `tasks` | keeps a table of the program's tasks, which other processes can read, as [`tasks`](super::tasks()) does; on Linux |
//! | `record:DIRECTORY,...` | records from the beginning to the end of the program, as [`Options`] say; also lets other processes control it |
//!
//! `tasks` may precede the others: `tasks,control`, `tasks,record:DIRECTORY,...`.
//!
//! The variable is read before `main`. An empty value counts as unset. A program with raised privileges ignores it. An error is one line on
//! standard error; the program runs all the same.

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

/// The word that asks for the table of tasks.
const TASKS: &str = "tasks";

/// Run by the C library before `main`.
#[used]
#[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
#[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".init_array"))]
static AT_START: extern "C" fn() = at_start;

extern "C" fn at_start() {
    if !host::is_module()
        && let Some(value) = environment::var(VARIABLE)
    {
        // Standard error may be a file at the process's limit for the size of files.
        without_file_size_signal(|| apply(value));
    }
}

fn apply(value: OsString) {
    let setting = match Setting::parse(&value) {
        Ok(wish) => wish,
        Err(error) => return report(&value, &error),
    };
    if setting.tasks
        && let Err(error) = control::tasks()
    {
        report(&value, &error);
    }
    match setting.recorder {
        None => return,
        Some(Recorder::Control) => {}
        Some(Recorder::Record(options)) => {
            match Session::start(options) {
                // It runs as long as the program.
                Ok(session) => mem::forget(session),
                Err(error) => report(&value, &error),
            }
            if !control::IS_AVAILABLE {
                return;
            }
        }
    }
    if let Err(error) = control::control() {
        report(&value, &error);
    }
}

/// A value of the variable.
#[derive(Debug, PartialEq, Eq)]
struct Setting {
    tasks: bool,
    recorder: Option<Recorder>,
}

#[derive(Debug, PartialEq, Eq)]
enum Recorder {
    Control,
    Record(Options),
}

/// Why a value is invalid.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
enum SettingError {
    #[error("it is not UTF-8")]
    NotUtf8,
    #[error(
        "{0}; or use control, to let dyntrace record -p begin; or tasks, alone or as tasks,control or tasks,record:DIRECTORY"
    )]
    Options(#[from] OptionsError),
}

impl Setting {
    fn parse(value: &OsStr) -> Result<Setting, SettingError> {
        let value = value.to_str().ok_or(SettingError::NotUtf8)?;
        let (tasks, rest) = match value.split_once(',') {
            _ if value == TASKS => return Ok(Setting { tasks: true, recorder: None }),
            Some((TASKS, rest)) => (true, rest),
            _ => (false, value),
        };
        let recorder = match rest {
            "control" => Recorder::Control,
            options => Recorder::Record(options.parse()?),
        };
        Ok(Setting { tasks, recorder: Some(recorder) })
    }
}

fn report(value: &OsStr, error: &dyn std::error::Error) {
    // A program may run without standard error.
    let _ = writeln!(io::stderr(), "dyntrace: {VARIABLE}={value:?}: {error}");
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt as _;

    use super::*;

    #[test]
    fn what_it_asks_for() {
        let read = |value: &str| Setting::parse(OsStr::new(value));
        let control = || Some(Recorder::Control);
        let record = |directory| Some(Recorder::Record(Options::new(directory)));
        for (value, tasks, recorder) in [
            ("control", false, control()),
            ("record:/t", false, record("/t")),
            ("tasks", true, None),
            ("tasks,control", true, control()),
            ("tasks,record:/t", true, record("/t")),
            ("record:/tasks", false, record("/tasks")),
        ] {
            assert_eq!(read(value), Ok(Setting { tasks, recorder }), "{value}");
        }
        for wrong in ["tasks,", "tasks,tasks", "control,tasks", "record:/t,tasks", "task"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
        let error = read("on").unwrap_err().to_string();
        assert!(
            error.contains("\"on\" does not begin with record:DIRECTORY") && error.contains("or use control"),
            "{error}"
        );
        assert_eq!(Setting::parse(OsStr::from_bytes(b"record:/\xff")), Err(SettingError::NotUtf8));
    }
}
