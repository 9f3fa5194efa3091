//! Where the events come from: a process, or a trace.

#[cfg(target_os = "linux")]
mod live;
mod played;

use std::time::Duration;

use dyntrace_terminal::exit::Failure;

use super::model::Model;

#[cfg(target_os = "linux")]
pub use live::Live;
pub use played::Played;

/// How it stands with a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// There may be further events.
    Runs,
    /// There are no further ones.
    Ended,
    /// A signal asks the command to end.
    Interrupted,
}

pub trait Source {
    /// Waits that long or until a signal arrives, and adds the events that there are now to the model.
    fn look(&mut self, pause: Duration) -> Result<State, Failure>;

    fn model(&self) -> &Model;

    /// Ends the recording, and adds the remaining events to the model.
    fn stop(&mut self) -> Result<(), Failure>;

    /// Moves the window by nanoseconds, if this is a trace.
    fn seek(&mut self, by: i64);

    /// Lets the window move with the time, if this is a trace.
    fn play(&mut self, plays: bool);

    /// The process; none for a trace.
    fn pid(&self) -> Option<u32>;
}
