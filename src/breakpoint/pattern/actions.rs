//! What is done when a pattern is met.

use super::cursor::Cursor;
use super::error::PatternError;

/// What is done when a pattern is met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Actions {
    /// No event for the call. One that is asked for its end still comes.
    pub silent: bool,
    /// The call's event says who called.
    pub caller: bool,
    /// An event when the function returns, with the value.
    pub return_: bool,
    /// An event that says whom the function returns to.
    pub return_to: bool,
    /// An event when the function panics.
    pub exception: bool,
    /// An event when the function returns an `Err`, in place of that of its return.
    pub error: bool,
    /// The call is counted.
    pub count: bool,
    /// The calls are counted, and the time that they take added up.
    pub time: bool,
    /// Flags that the calling process gets.
    pub set: Flags,
    /// Flags that the calling process loses.
    pub clear: Flags,
}

/// Trace flags of a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// Its calls are traced.
    pub call: bool,
    /// Its calls act as patterns say, but send no events.
    pub silent: bool,
}

const ACTIONS: &str =
    "an action: message, silent, caller, return, return_to, exception, error, count, time, set(flag) or clear(flag)";

impl Actions {
    /// The list of actions that comes next.
    pub(super) fn parse(cursor: &mut Cursor<'_>) -> Result<Actions, PatternError> {
        let mut actions = Actions::default();
        let mut message = false;
        loop {
            let start = cursor.at();
            let mut ahead = cursor.clone();
            match ahead.word() {
                Some("message") => message = true,
                Some("silent") => actions.silent = true,
                Some("caller") => actions.caller = true,
                Some("return") => actions.return_ = true,
                Some("return_to") => actions.return_to = true,
                Some("exception") => actions.exception = true,
                Some("error") => actions.error = true,
                Some("count") => actions.count = true,
                Some("time") => actions.time = true,
                Some("set") => actions.set.parse(&mut ahead)?,
                Some("clear") => actions.clear.parse(&mut ahead)?,
                _ => return Err(cursor.expected(ACTIONS)),
            }
            *cursor = ahead;
            let span = start..cursor.end();
            if message && actions.silent {
                return Err(cursor.error("expected either message or silent, found both", span));
            }
            if (actions.set.call && actions.clear.call) || (actions.set.silent && actions.clear.silent) {
                return Err(cursor.error("expected a flag to be either set or cleared, found both", span));
            }
            if !cursor.eat(",") {
                return Ok(actions);
            }
        }
    }
}

impl Flags {
    fn parse(&mut self, cursor: &mut Cursor<'_>) -> Result<(), PatternError> {
        cursor.expect("(")?;
        match cursor.peek_word() {
            Some("call") => self.call = true,
            Some("silent") => self.silent = true,
            _ => return Err(cursor.expected("a process's trace flag: call or silent")),
        }
        cursor.word();
        cursor.expect(")")
    }
}
