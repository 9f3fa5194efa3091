//! The events by which a session goes on.

use std::io;

use dyntrace_terminal::signals::Notice;

use super::marks::Tally;

/// An event while a command runs.
pub enum Event {
    /// This process got a signal, or the command or the tracer has ended, stopped or continued.
    Notice(Notice),
    /// The script has reported its begin.
    Begun,
    /// The traced process has ended, and the tracer does not end with it.
    ProcessEnded,
    /// The time for which the user wants the trace is over.
    TimeOver,
    /// The trace has ended, with this many lines.
    Counted(Tally),
    /// One of the two outputs of the tracer has ended.
    OutputEnded,
    /// The trace cannot be written any more.
    CannotWrite(io::Error),
}
