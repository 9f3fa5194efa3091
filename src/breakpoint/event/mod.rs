//! Events, which tracers receive.

pub(crate) mod caller;
pub(crate) mod object;
pub(crate) mod occurrence;
pub(crate) mod stack;
pub(crate) mod unwind;

use std::fmt;
use std::time::{Duration, SystemTime};

use crate::breakpoint::site::Function;
use crate::breakpoint::value::text::Text;
use caller::Caller;
use dyntrace_processes::process::{Pid, ThreadName};
use dyntrace_processes::seq_trace::{Serial, Token};
use dyntrace_processes::tag::Tag;
use stack::Stack;

/// An event at a traced function.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Event {
    /// Call, return or another kind.
    pub kind: Kind,
    /// The function.
    pub function: &'static Function,
    /// The process that ran it.
    pub process: Pid,
    /// The number of the thread that ran it; see [`thread_number`](crate::process::thread_number).
    pub thread: i32,
    /// The name of that thread.
    pub thread_name: ThreadName,
    /// The user tag of the process.
    pub tag: Option<Tag>,
    /// When it happened.
    pub time: SystemTime,
    /// The arguments of a call, the value of a return, the message of a panic.
    pub text: Text,
    /// The time since the call. `None` for calls.
    pub took: Option<Duration>,
    /// The time in which an asynchronous function was polled. `None` for others, and for calls.
    pub polled: Option<Duration>,
    /// Where the call came from or returns to, if the pattern asks for it and it is known. For asynchronous functions it is known only
    /// with the option `caller` of the [attribute](crate::traced). `None` for events of other kinds.
    pub caller: Option<Caller>,
    /// The sequential trace token of the process, if the pattern asks for it and the process has one. `None` for events of other kinds
    /// than calls.
    pub token: Option<Token>,
    /// The stack of the call, if the pattern asks for it by `current_stacktrace`. For an asynchronous function, the stack of the first
    /// poll: the futures that await it, and the executor. `None` for events of other kinds than calls.
    pub stack: Option<Stack>,
}

/// The kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// The function was called. An asynchronous one was polled for the first time.
    Call,
    /// It returned.
    Return,
    /// It returned an `Err`, and the pattern has the action `error`.
    Error,
    /// It returned to its caller. Comes after the other events of the return.
    ReturnTo,
    /// A panic left it.
    Panic,
    /// Its future was dropped before it completed.
    Cancelled,
}

/// One line: the kind, the function, arguments or value, and the time. The stack is left out.
impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.function.path();
        match self.kind {
            Kind::Call => write!(f, "call   {path}({})", self.text),
            Kind::Return => write!(f, "return {path} -> {}", self.text),
            Kind::Error => write!(f, "error  {path} -> {}", self.text),
            Kind::ReturnTo => write!(f, "return_to {path}"),
            Kind::Panic => write!(f, "panic  {path}: {}", self.text),
            Kind::Cancelled => write!(f, "cancelled {path}"),
        }?;
        if let Some(caller) = self.caller {
            let preposition = if self.kind == Kind::ReturnTo { "to" } else { "from" };
            write!(f, "  {preposition} {caller}")?;
        }
        if let Some(Token { label, serial: Serial { previous, current }, .. }) = &self.token {
            write!(f, "  label {label:?} token {{{previous},{current}}}")?;
        }
        if let Some(took) = self.took {
            write!(f, "  {} us", took.as_micros())?;
        }
        match self.polled {
            Some(polled) => write!(f, ", polled {} us", polled.as_micros()),
            None => Ok(()),
        }
    }
}
