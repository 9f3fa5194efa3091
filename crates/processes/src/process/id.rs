//! Names of processes and of operations.

use std::fmt;
use std::str::FromStr;

use dyntrace_probes::text::{PROCESS, Text};

/// The name of a process. A program uses no number twice.
///
/// It is displayed as in Erlang:
///
/// ```
/// let pid = dyntrace::process::current().to_string();
/// assert!(pid.starts_with("<0.") && pid.ends_with(".0>"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Pid(pub(super) u64);

impl Pid {
    /// The number in the middle.
    #[doc(hidden)]
    pub fn number(self) -> u64 {
        self.0
    }

    /// The one with this number.
    #[doc(hidden)]
    pub fn numbered(number: u64) -> Pid {
        Pid(number)
    }
}

impl fmt::Display for Pid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<0.{}.0>", self.0)
    }
}

/// The error of a text that is not a [`Pid`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no process: expected one like <0.57.0>")]
pub struct ParsePidError(String);

/// Parses the displayed form.
///
/// # Errors
///
/// The text has another form, or a number that no process has: 2^64-1 or more.
impl FromStr for Pid {
    type Err = ParsePidError;

    fn from_str(text: &str) -> Result<Pid, ParsePidError> {
        let number = text.strip_prefix("<0.").and_then(|rest| rest.strip_suffix(".0>"));
        let number = number.filter(|number| number.bytes().all(|byte| byte.is_ascii_digit()));
        let number = number.and_then(|number| number.parse().ok());
        // `Processes` has ranges of numbers, whose ends are one beyond the last.
        number.filter(|&number| number < u64::MAX).map(Pid).ok_or_else(|| ParsePidError(text.to_owned()))
    }
}

impl From<Pid> for Text<'_> {
    #[inline]
    fn from(pid: Pid) -> Self {
        Text::numbered(&PROCESS, pid.0)
    }
}

/// The name of an operation, unique among the operations in flight in the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OperationId {
    /// Number of the thread that submitted it, from 1.
    pub thread: i32,
    /// That thread's number for it, from 1; 1 again after 2^31-1.
    pub tag: i32,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::Processes;

    #[test]
    fn a_number_that_no_process_has_is_refused() {
        let last: Pid = "<0.18446744073709551614.0>".parse().unwrap();
        assert!(Processes::from(last).contains(last));
        assert!([last].into_iter().collect::<Processes>().contains(last));
        for number in ["18446744073709551615", "18446744073709551616"] {
            let text = format!("<0.{number}.0>");
            assert_eq!(text.parse::<Pid>(), Err(ParsePidError(text)));
        }
    }
}
