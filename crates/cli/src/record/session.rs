//! A recording of a running process, which ends with its value.

use std::path::Path;
use std::time::{Duration, Instant};

use dyntrace::recorder::Options;
use dyntrace::recorder::control::protocol::Request;
use dyntrace::recorder::control::{Connection, ControlError};
use dyntrace_terminal::exit::Failure;
use dyntrace_terminal::signals::Interrupts;

use super::process::{PATIENCE, connect, number, refusal};

/// The number of the interrupt that waits for nothing more. The first one ends the recording.
const LAST: u32 = 3;

/// A session that ends with this value.
pub struct Session {
    pub connection: Connection,
    interrupts: Interrupts,
    number: u32,
    is_stopped: bool,
    end: Option<Instant>,
    /// The folder of the process in `/proc`.
    proc: String,
}

impl Session {
    /// Starts a recording of process `pid`.
    pub fn start(pid: u32, options: &Options) -> Result<Session, Failure> {
        let mut connection = connect(pid)?;
        let interrupts = Interrupts::receive(LAST)?;
        let started = connection.request_within(&Request::Start(options.clone()), PATIENCE).map_err(refusal)?;
        let number = number(&started, "session")?;
        Ok(Session { connection, interrupts, number, is_stopped: false, end: None, proc: format!("/proc/{pid}") })
    }

    /// Whether a signal that ends the command arrives within that time.
    pub fn is_interrupted_within(&self, pause: Duration) -> bool {
        self.interrupts.wait(pause).is_some()
    }

    /// Has the recording last for this time from now; without one, until something else ends it.
    pub fn last_for(&mut self, length: Option<Duration>) {
        self.end = length.and_then(|length| Instant::now().checked_add(length));
    }

    /// Whether such a signal arrives within that time, or the recording has [lasted](Session::last_for) as long as it should.
    pub fn is_over_within(&self, pause: Duration) -> bool {
        let end = self.end;
        let left = end.map_or(pause, |end| pause.min(end.saturating_duration_since(Instant::now())));
        self.is_interrupted_within(left) || end.is_some_and(|end| end <= Instant::now())
    }

    /// Whether the process runs. A forked child may keep the socket open after it has ended.
    pub fn is_open(&mut self) -> bool {
        self.connection.is_open() && Path::new(&self.proc).exists()
    }

    /// Ends the recording. Its files are complete then.
    pub fn stop(&mut self) -> Result<(), Failure> {
        if std::mem::replace(&mut self.is_stopped, true) || !self.is_open() {
            return Ok(());
        }
        match self.connection.request_within(&Request::Stop(self.number), PATIENCE) {
            Ok(_) => Ok(()),
            // The process ended meanwhile.
            Err(ControlError::System { .. }) if !self.connection.is_open() => Ok(()),
            Err(error) => Err(refusal(error)),
        }
    }
}

impl Drop for Session {
    /// Before the folder of its files is removed, also after an error.
    fn drop(&mut self) {
        let _ = self.stop();
    }
}
