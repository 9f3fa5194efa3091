//! The recording of the process: the events of its operations, in circular files.

use std::path::Path;
use std::time::Duration;

use anyhow::anyhow;
use dyntrace::recorder::control::protocol::Request;
use dyntrace::recorder::control::{Connection, ControlError};
use dyntrace::recorder::{Mode, Options};
use dyntrace_analysis::view::PAUSE;
use dyntrace_metrics::Figures;
use dyntrace_terminal::escape;
use dyntrace_terminal::exit::Failure;
use dyntrace_terminal::signals::Interrupts;

use crate::metrics;
use crate::record::process::{PATIENCE, connect, number, refusal};

/// How it stands with a recorded process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Runs,
    /// It has ended.
    Ended,
    /// A signal asks the command to end.
    Interrupted,
}

/// The number of the interrupt that does not wait for the process or the collector: the first one ends the recording, the second one the
/// wait for the collector.
const LAST: u32 = 3;

/// A session that ends with this value.
pub struct Session {
    connection: Connection,
    interrupts: Interrupts,
    number: u32,
    is_stopped: bool,
    /// The folder of the process in `/proc`.
    proc: String,
}

impl Session {
    /// Starts a recording of these probes into circular files in `directory`, of `size` bytes for each thread.
    pub fn start(pid: u32, directory: &Path, size: u64, probes: &[&str]) -> Result<Session, Failure> {
        let mut connection = connect(pid)?;
        let interrupts = Interrupts::receive(LAST)?;
        let mut options = Options::new(directory);
        options.mode = Mode::Overwrite;
        options.size = Some(size);
        options.probes = probes.iter().map(|&probe| probe.into()).collect();
        let started = connection.request_within(&Request::Start(options), PATIENCE).map_err(refusal)?;
        if !directory.exists() {
            let directory = escape::path(directory);
            let error = anyhow!(
                "process {pid} records to {directory}, which is another folder for this command: the process runs in a container or has \
                 another root; run this command there"
            );
            return Err(error.into());
        }
        let number = number(&started, "session")?;
        Ok(Session { connection, interrupts, number, is_stopped: false, proc: format!("/proc/{pid}") })
    }

    /// Waits until it is time for the next look. Returns false after a signal that ends the command, and when the process has ended.
    pub fn goes_on(&mut self) -> bool {
        self.wait(PAUSE) == State::Runs
    }

    /// Waits that long, or until a signal arrives.
    pub fn wait(&mut self, pause: Duration) -> State {
        if self.interrupts.wait(pause).is_some() {
            return State::Interrupted;
        }
        if self.is_open() { State::Runs } else { State::Ended }
    }

    /// The counts of the process.
    pub fn metrics(&mut self) -> Result<Figures, Failure> {
        metrics::of(&mut self.connection)
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

    /// Whether another signal that ends the command has arrived.
    pub fn is_interrupted_again(&self) -> bool {
        self.interrupts.wait(Duration::ZERO).is_some()
    }

    /// Whether the process runs. A forked child may keep the socket open after it has ended.
    fn is_open(&mut self) -> bool {
        self.connection.is_open() && Path::new(&self.proc).exists()
    }
}

impl Drop for Session {
    /// Before the folder of its files is removed, also after an error.
    fn drop(&mut self) {
        let _ = self.stop();
    }
}
