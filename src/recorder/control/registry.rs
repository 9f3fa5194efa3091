//! The sessions of this process, as control sockets access them.
//!
//! Clients can see and change every session, and take snapshots of it. They can stop only sessions that were started over a socket; the
//! others belong to the program, or run as long as it does.

use std::path::Path;

use dyntrace_probes::primitives::{Mutex, lock};

use super::protocol::Record;
use super::sessions::SessionAccess;
use crate::glob::Glob;
use crate::recorder::filter::Filter;
use crate::recorder::options::Options;
use crate::recorder::recording::Recording;
use crate::recorder::session::Session;
use crate::recorder::sessions::sessions;
use crate::recorder::status::{Status, Summary};

/// The sessions that were started over the socket.
#[derive(Default)]
pub(super) struct Registry(Mutex<Vec<Session>>);

impl SessionAccess for Registry {
    fn start(&self, options: Options) -> Result<u32, String> {
        let session = Session::start(options).map_err(|error| error.to_string())?;
        let number = session.number();
        lock(&self.0).push(session);
        Ok(number)
    }

    fn change(&self, session: u32, probes: Vec<Glob>, filter: Filter) -> Result<(), String> {
        with(session, |recording| recording.change(probes, filter))
    }

    fn stop(&self, session: u32) -> Result<Record, String> {
        let mut own = lock(&self.0);
        let Some(at) = own.iter().position(|own| own.number() == session) else {
            drop(own);
            with(session, |_| ())?;
            return Err(format!("session {session} was not started over a control socket: it ends with the program"));
        };
        let stopped = own.swap_remove(at);
        drop(own);
        let summary = stopped.stop().ok_or_else(|| unknown(session))?;
        Ok(summarize(session, &summary))
    }

    fn snapshot(&self, session: u32, directory: &Path) -> Result<Record, String> {
        let snapshot = with(session, |recording| recording.snapshot(directory))?.map_err(|error| error.to_string())?;
        Ok(Record::default()
            .with("session", session)
            .with("folder", snapshot.folder.display())
            .with("bytes", snapshot.bytes)
            .with("overwritten", snapshot.overwritten))
    }

    fn status(&self) -> Vec<Record> {
        let sessions = sessions();
        let recordings = sessions.recordings.iter().flatten();
        recordings.map(|recording| record(recording.generation(), &recording.status())).collect()
    }
}

fn with<R>(session: u32, act: impl FnOnce(&mut Recording) -> R) -> Result<R, String> {
    sessions().find(session).map(act).ok_or_else(|| unknown(session))
}

fn unknown(session: u32) -> String {
    format!("there is no session {session}")
}

fn record(session: u32, status: &Status) -> Record {
    Record::default()
        .with("session", session)
        .with("folder", status.folder.display())
        .with("mode", status.options.mode)
        .with("threads", status.rings)
        .with("bytes", status.bytes)
        .with("lost", status.discarded)
        .with("snapshots", status.snapshots.len())
        .with("suppressed", status.suppressed)
        .with("removed", u8::from(status.is_removed))
        .with("options", &status.options)
}

fn summarize(session: u32, summary: &Summary) -> Record {
    let errors = summary.errors.iter().map(|error| error.to_string()).collect::<Vec<_>>().join("; ");
    record(session, &summary.status).with("errors", errors)
}
