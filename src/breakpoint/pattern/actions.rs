//! The actions of patterns.

use super::cursor::Cursor;
use super::error::PatternError;
use super::literal::{Constant, literal};
use crate::breakpoint::event::stack::Stack;
use dyntrace_processes::seq_trace::{self, Flags as TokenFlags, Label, Token};

/// The actions of a pattern, for calls that match it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Actions {
    /// No event for the call. Events of its end still come.
    pub silent: bool,
    /// The call's event has the caller.
    pub caller: bool,
    /// The call's event has the stack, with at most this number of callers.
    pub stacktrace: Option<u8>,
    /// An event when the function returns, with the value.
    pub return_: bool,
    /// An event with the caller when the function returns.
    pub return_to: bool,
    /// An event when the function panics.
    pub exception: bool,
    /// An event when the function returns an `Err`, instead of that of the return.
    pub error: bool,
    /// The call is counted.
    pub count: bool,
    /// The calls are counted and timed.
    pub time: bool,
    /// The calls are counted, and their memory is measured.
    pub memory: bool,
    /// Flags that the calling process gets.
    pub set: Flags,
    /// Flags that the calling process loses.
    pub clear: Flags,
    /// The call's event has the sequential trace token of the calling process.
    pub get_token: bool,
    /// The change to that token.
    pub set_token: TokenChange,
}

/// A change to the sequential trace token of the calling process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenChange {
    /// The new label.
    pub label: Option<i64>,
    /// Flags to set.
    pub set: TokenFlags,
    /// Flags to clear.
    pub clear: TokenFlags,
}

/// Trace flags of a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// Its calls are traced.
    pub call: bool,
    /// Its calls make no events; other actions apply.
    pub silent: bool,
    /// Its children inherit its flags.
    pub set_on_spawn: bool,
}

const ACTIONS: &str = "an action: message, silent, caller, current_stacktrace, return, return_to, exception, error, count, time, \
                       memory, set(flag), clear(flag), get_seq_token or set_seq_token(component, value)";

impl Actions {
    /// Returns whether it changes flags of processes.
    pub(crate) fn changes_flags(&self) -> bool {
        self.set != Flags::default() || self.clear != Flags::default()
    }

    /// Parses the list of actions.
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
                Some("current_stacktrace") => actions.stacktrace = Some(depth(&mut ahead)?),
                Some("return") => actions.return_ = true,
                Some("return_to") => actions.return_to = true,
                Some("exception") => actions.exception = true,
                Some("error") => actions.error = true,
                Some("count") => actions.count = true,
                Some("time") => actions.time = true,
                Some("memory") => actions.memory = true,
                Some("set") => actions.set.parse(&mut ahead)?,
                Some("clear") => actions.clear.parse(&mut ahead)?,
                Some("get_seq_token") => actions.get_token = true,
                Some("set_seq_token") => actions.set_token.parse(&mut ahead)?,
                _ => return Err(cursor.expected(ACTIONS)),
            }
            *cursor = ahead;
            let span = start..cursor.end();
            if message && actions.silent {
                return Err(cursor.error("expected either message or silent, found both", span));
            }
            let flags = |flags: Flags| [flags.call, flags.silent, flags.set_on_spawn];
            if flags(actions.set).into_iter().zip(flags(actions.clear)).any(|both| both == (true, true)) {
                return Err(cursor.error("expected a flag to be either set or cleared, found both", span));
            }
            if !cursor.eat(",") {
                return Ok(actions);
            }
        }
    }
}

/// The default number of callers of a stack, as in Erlang.
const DEPTH: u8 = 8;

/// Parses `(16)` or nothing.
fn depth(cursor: &mut Cursor<'_>) -> Result<u8, PatternError> {
    if !cursor.eat("(") {
        return Ok(DEPTH);
    }
    let start = cursor.at();
    match literal(cursor)? {
        Some(Constant::Integer(depth)) if (1..=Stack::DEEPEST as i128).contains(&depth) => {
            cursor.expect(")")?;
            Ok(depth as u8)
        }
        _ => {
            let expected = format!("expected a number of callers from 1 to {}", Stack::DEEPEST);
            Err(cursor.error(expected, start..cursor.end()))
        }
    }
}

impl Flags {
    fn parse(&mut self, cursor: &mut Cursor<'_>) -> Result<(), PatternError> {
        cursor.expect("(")?;
        match cursor.peek_word() {
            Some("call") => self.call = true,
            Some("silent") => self.silent = true,
            Some("set_on_spawn") => self.set_on_spawn = true,
            _ => return Err(cursor.expected("a process's trace flag: call, silent or set_on_spawn")),
        }
        cursor.word();
        cursor.expect(")")
    }
}

impl TokenChange {
    /// Parses `(label, 17)` or `(send, true)`.
    fn parse(&mut self, cursor: &mut Cursor<'_>) -> Result<(), PatternError> {
        cursor.expect("(")?;
        let flag = match cursor.peek_word() {
            Some("label") => None,
            Some("send") => Some(TokenFlags::SEND),
            Some("receive") => Some(TokenFlags::RECEIVE),
            Some("print") => Some(TokenFlags::PRINT),
            Some("timestamp") => Some(TokenFlags::TIMESTAMP),
            _ => return Err(cursor.expected("a component of a token: label, send, receive, print or timestamp")),
        };
        cursor.word();
        cursor.expect(",")?;
        let start = cursor.at();
        match (flag, literal(cursor)?) {
            (None, Some(Constant::Integer(label))) if i64::try_from(label).is_ok() => self.label = Some(label as i64),
            (Some(flag), Some(Constant::Bool(true))) => self.set |= flag,
            (Some(flag), Some(Constant::Bool(false))) => self.clear |= flag,
            (None, _) => return Err(cursor.error("expected a label: an integer of 64 bits", start..cursor.end())),
            (Some(_), _) => return Err(cursor.error("expected true or false", start..cursor.end())),
        }
        cursor.expect(")")
    }

    /// Returns whether it changes anything.
    pub(crate) fn is_any(self) -> bool {
        self != TokenChange::default()
    }

    /// Changes the token of the current process. A process without a token gets one, as by `seq_trace:set_token/2` in Erlang. Does nothing
    /// where a token cannot be set: in a tokio task that dyntrace did not start.
    pub(crate) fn apply(self) {
        let (label, flags) = match seq_trace::get_token() {
            Some(Token { label, flags, .. }) => (label, flags),
            None => (Label::Integer(0), TokenFlags::empty()),
        };
        let label = self.label.map_or(label, Label::Integer);
        let _ = seq_trace::set_token(label, (flags | self.set) - self.clear);
    }
}
