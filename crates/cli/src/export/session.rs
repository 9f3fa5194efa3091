//! The recording of the process: the events of its operations, in circular files.

use std::path::Path;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};

use anyhow::{Context as _, anyhow};
use dyntrace::recorder::control::protocol::Request;
use dyntrace::recorder::control::{Connection, ControlError};
use dyntrace::recorder::{Mode, Options};

use crate::escape;
use crate::exit::Failure;
use crate::record::process::{connect, is_for_others, number, refusal};
use crate::signals::{self, Notice};
use crate::view::PAUSE;

/// The probes of operations, of all drivers, and of the queues and tokens that belong to them.
const PROBES: [&str; 7] =
    ["*-entry", "*-int_entry", "*-int_return", "*-return", "aio_pool-add", "aio_pool-get", "seq_trace-operation"];

/// A session that ends with this value: the process ends sessions whose connection is closed.
pub struct Session {
    connection: Connection,
    notices: Receiver<Notice>,
    number: u32,
    /// The folder of the process in `/proc`.
    proc: String,
}

impl Session {
    pub fn start(pid: u32, directory: &Path, size: u64) -> Result<Session, Failure> {
        let mut connection = connect(pid)?;
        let (sender, notices) = mpsc::channel();
        signals::receive(move |notice| sender.send(notice).is_ok()).context("cannot receive signals")?;
        let mut options = Options::new(directory);
        options.mode = Mode::Overwrite;
        options.size = Some(size);
        options.probes = PROBES.iter().map(|&probe| probe.into()).collect();
        let started = connection.request(&Request::Start(options)).map_err(refusal)?;
        if !directory.exists() {
            let directory = escape::path(directory);
            let error = anyhow!(
                "process {pid} records to {directory}, which is another folder for this command: the process runs in a container or has \
                 another root; run this command there"
            );
            return Err(error.into());
        }
        Ok(Session { connection, notices, number: number(&started, "session")?, proc: format!("/proc/{pid}") })
    }

    /// Waits until it is time for the next look. Returns false after a signal that ends the command, and when the process has ended.
    pub fn goes_on(&mut self) -> anyhow::Result<bool> {
        match self.notices.recv_timeout(PAUSE) {
            Ok(Notice::Signal(signal)) if !is_for_others(signal.number) => return Ok(false),
            Ok(_) | Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(anyhow!("the thread that receives signals has ended"));
            }
        }
        Ok(self.is_open())
    }

    /// Ends the recording. Its files are complete then.
    pub fn stop(&mut self) -> Result<(), Failure> {
        if !self.is_open() {
            return Ok(());
        }
        match self.connection.request(&Request::Stop(self.number)) {
            Ok(_) => Ok(()),
            // The process ended meanwhile.
            Err(ControlError::System { .. }) if !self.connection.is_open() => Ok(()),
            Err(error) => Err(refusal(error)),
        }
    }

    /// Whether another signal that ends the command has arrived.
    pub fn is_interrupted_again(&self) -> bool {
        self.notices.try_iter().any(|notice| matches!(notice, Notice::Signal(signal) if !is_for_others(signal.number)))
    }

    /// Whether the process runs. A forked child may keep the socket open after it has ended.
    fn is_open(&mut self) -> bool {
        self.connection.is_open() && Path::new(&self.proc).exists()
    }
}
