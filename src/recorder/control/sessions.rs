//! Sessions, as the server accesses them.

use std::path::Path;

use super::protocol::Record;
use crate::glob::Glob;
use crate::recorder::filter::Filter;
use crate::recorder::options::Options;

/// The sessions of a process, by number. An error is a text for the client.
pub(super) trait SessionAccess {
    /// Starts a session. Returns its number.
    fn start(&self, options: Options) -> Result<u32, String>;
    /// Changes the probes and the filter of a session.
    fn change(&self, session: u32, probes: Vec<Glob>, filter: Filter) -> Result<(), String>;
    /// Stops a session. Returns the counts of its events and losses.
    fn stop(&self, session: u32) -> Result<Record, String>;
    /// Writes a snapshot of a session to a folder. Returns its folder and its size.
    fn snapshot(&self, session: u32, directory: &Path) -> Result<Record, String>;
    /// The status of all sessions.
    fn status(&self) -> Vec<Record>;
}
