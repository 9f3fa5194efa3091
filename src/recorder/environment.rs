//! Switching the recorder on by the environment, without a call in the program.
//!
//! | `DYNTRACE` | effect |
//! |---|---|
//! | `control` | lets other processes control the recorder, as [`control`](super::control()) does; on Linux |
//! | `tasks` | keeps a table of the program's tasks, which other processes can read, as [`tasks`](super::tasks()) does; on Linux |
//! | `record:DIRECTORY,...` | records from the beginning to the end of the program, as [`Options`] say; also lets other processes control it |
//! | `monitor=KIND:LIMIT,...` | monitors the program, as [`monitor`](crate::monitor) says; on Linux |
//!
//! `tasks` and `monitor` may precede the others: `tasks,control`, `monitor=long_schedule:100ms,snapshot,record:DIRECTORY,...`.
//!
//! The variable is read before `main`. An empty value counts as unset. A program with raised privileges ignores it. An error is one line on
//! standard error; the program runs all the same.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write as _};
use std::mem;

use dyntrace_probes::host;
use dyntrace_probes::thread_progress::os::without_file_size_signal;

use super::control;
use super::options::Options;
use super::options::text::OptionsError;
use super::session::Session;
use dyntrace_processes::environment;

/// The name of the variable.
const VARIABLE: &str = "DYNTRACE";

/// The word that asks for the table of tasks.
const TASKS: &str = "tasks";

/// The beginning of the limits of a monitor.
const MONITOR: &str = "monitor=";

/// Run by the C library before `main`.
#[used]
#[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
#[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".init_array"))]
static AT_START: extern "C" fn() = at_start;

extern "C" fn at_start() {
    #[cfg(all(recorded, target_os = "linux"))]
    dyntrace_probes::rings::request::answer(&control::ANSWERS);
    #[cfg(all(recorded, target_os = "linux"))]
    super::maintenance::each_round(control::open_if_this_process);
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
    if setting.monitor.is_some() && !cfg!(all(recorded, target_os = "linux")) {
        report(&value, &SettingError::NoMonitor);
    }
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
    /// The limits of the monitor, which reads them itself.
    monitor: Option<String>,
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
        "{0}; or use control, to let dyntrace record -p begin; or tasks or monitor=KIND:LIMIT,..., alone or as tasks,control or \
         tasks,record:DIRECTORY"
    )]
    Options(OptionsError),
    #[error("monitor= needs Linux, and a program with probes")]
    NoMonitor,
}

impl From<OptionsError> for SettingError {
    fn from(error: OptionsError) -> SettingError {
        SettingError::Options(error)
    }
}

impl Setting {
    fn parse(value: &OsStr) -> Result<Setting, SettingError> {
        let value = value.to_str().ok_or(SettingError::NotUtf8)?;
        let mut setting = Setting { tasks: false, monitor: None, recorder: None };
        let mut rest = value;
        loop {
            let (first, after) = first_word(rest);
            match first.strip_prefix(MONITOR) {
                Some(limits) if setting.monitor.is_none() => setting.monitor = Some(limits.to_owned()),
                None if first == TASKS && !setting.tasks => setting.tasks = true,
                _ => break,
            }
            match after {
                Some(after) => rest = after,
                None => return Ok(setting),
            }
        }
        setting.recorder = Some(match rest {
            "control" => Recorder::Control,
            options => Recorder::Record(options.parse()?),
        });
        Ok(setting)
    }
}

/// Splits a value at the first comma; if it begins with limits of a monitor, after the last of these: parts with a colon that do not begin
/// as a recording does, and the word `snapshot`.
fn first_word(value: &str) -> (&str, Option<&str>) {
    let is_limit = |part: &str| part == "snapshot" || part.contains(':') && !part.starts_with("record:");
    let mut end = value.find(',').unwrap_or(value.len());
    while value.starts_with(MONITOR)
        && let Some(after) = value.get(end + 1..)
        && let next = after.split(',').next().unwrap_or_default()
        && is_limit(next)
    {
        end += 1 + next.len();
    }
    (&value[..end], value.get(end + 1..))
}

/// The limits of a monitor, if the environment asks for one.
#[cfg_attr(not(all(recorded, target_os = "linux")), allow(dead_code, reason = "there is no monitor"))]
pub(crate) fn monitored() -> Option<String> {
    // `apply` reports a wrong value.
    Setting::parse(&environment::var(VARIABLE)?).ok()?.monitor
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
    fn requests_of_the_variable() {
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
            assert_eq!(read(value), Ok(Setting { tasks, monitor: None, recorder }), "{value}");
        }
        for (value, tasks, limits, recorder) in [
            ("monitor=a:1", false, "a:1", None),
            ("monitor=", false, "", None),
            ("monitor=a:1,snapshot,b:2", false, "a:1,snapshot,b:2", None),
            ("monitor=a:1,b:2,record:/t", false, "a:1,b:2", record("/t")),
            ("monitor=a:1,tasks,control", true, "a:1", control()),
            ("tasks,monitor=snapshot,control", true, "snapshot", control()),
        ] {
            let monitor = Some(limits.to_owned());
            assert_eq!(read(value), Ok(Setting { tasks, monitor, recorder }), "{value}");
        }
        for wrong in [
            "tasks,",
            "tasks,tasks",
            "control,tasks",
            "record:/t,tasks",
            "task",
            "monitor",
            "monitor=a:1,",
            "monitor=a:1,b",
            "control,monitor=a:1",
        ] {
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
