//! The place of the program's one monitor.

use std::panic::Location;
use std::process;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::forks::hold_across_forks;

type At = Option<&'static Location<'static>>;

/// The process that has a monitor, and where that was started: `None` for `DYNTRACE`. A forked child finds its parent's, and has none.
static OWNER: Mutex<Option<(u32, At)>> = Mutex::new(None);

/// Nothing panics under this lock.
fn owner() -> MutexGuard<'static, Option<(u32, At)>> {
    OWNER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The right to have the monitor, until the value is dropped.
#[derive(Debug)]
pub(super) struct Place {
    process: u32,
}

impl Place {
    /// `Err` says where the present monitor was started.
    pub(super) fn take(at: At) -> Result<Place, At> {
        hold_across_forks!(Option<(u32, At)>, owner());
        let process = process::id();
        let mut owner = owner();
        match *owner {
            Some((of, at)) if of == process => Err(at),
            _ => {
                *owner = Some((process, at));
                Ok(Place { process })
            }
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // A forked child may have a monitor of its own.
        if self.process == process::id() {
            *owner() = None;
        }
    }
}
