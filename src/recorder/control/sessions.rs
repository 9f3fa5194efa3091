//! What a control socket gives access to.

use std::path::Path;

use super::protocol::Record;
use crate::glob::Glob;
use crate::recorder::filter::Filter;
use crate::recorder::options::Options;

/// The sessions of a process, by number. An error is a text for whoever asked.
pub(super) trait Sessions {
    /// Begins a session; its number.
    fn start(&self, options: Options) -> Result<u32, String>;
    /// Changes what a session takes.
    fn change(&self, session: u32, probes: Vec<Glob>, filter: Filter) -> Result<(), String>;
    /// Ends a session; what it has recorded.
    fn stop(&self, session: u32) -> Result<Record, String>;
    /// Writes what a session holds to a folder; what that was.
    fn snapshot(&self, session: u32, directory: &Path) -> Result<Record, String>;
    /// All sessions.
    fn status(&self) -> Vec<Record>;
}
