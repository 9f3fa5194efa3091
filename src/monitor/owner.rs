//! The place of the program's one monitor, and the counts of all that it has had.

use std::panic::Location;
use std::process;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dyntrace_probes::forks::hold_across_forks;

use super::counts::{Counters, Counts};

/// Where a monitor was started: `None` for `DYNTRACE`.
type At = Option<&'static Location<'static>>;

/// A forked child finds its parent's, and has had no monitor.
static OWNER: Mutex<Option<Owner>> = Mutex::new(None);

/// A process that has or had a monitor.
struct Owner {
    process: u32,
    /// The present monitor.
    running: Option<At>,
    /// Of all its monitors.
    counts: Arc<Counters>,
}

/// Nothing panics under this lock.
fn owner() -> MutexGuard<'static, Option<Owner>> {
    OWNER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the counts of all monitors that this program has had in its own code and by `DYNTRACE`, or `None` if it had none. The
/// monitors of commands are not among them.
pub fn counts() -> Option<Counts> {
    owner().as_ref().filter(|owner| owner.process == process::id()).map(|owner| owner.counts.read())
}

/// The right to have the monitor, until the value is dropped.
#[derive(Debug)]
pub(super) struct Ownership {
    process: u32,
    /// Of all monitors of the process.
    pub counts: Arc<Counters>,
}

impl Ownership {
    /// `Err` says where the present monitor was started.
    pub(super) fn take(at: At) -> Result<Ownership, At> {
        hold_across_forks!(Option<Owner>, owner());
        let process = process::id();
        let mut owner = owner();
        let before = owner.take().filter(|owner| owner.process == process);
        let owner = owner.insert(before.unwrap_or_else(|| Owner { process, running: None, counts: Arc::default() }));
        if let Some(at) = owner.running {
            return Err(at);
        }
        owner.running = Some(at);
        Ok(Ownership { process, counts: Arc::clone(&owner.counts) })
    }
}

impl Drop for Ownership {
    fn drop(&mut self) {
        // A forked child may have a monitor of its own.
        if self.process == process::id()
            && let Some(owner) = &mut *owner()
        {
            owner.running = None;
        }
    }
}
