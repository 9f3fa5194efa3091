//! The meta patterns of a session.
//!
//! Each is the only pattern of an inner session. So it has a tracer of its own, matches the calls of all processes, and no filter or
//! process flag of the outer session applies to it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::owner::SessionOwner;
use crate::breakpoint::pattern_id::PatternId;
use crate::breakpoint::state::session_core::SessionCore;

/// The inner sessions of one session.
#[derive(Default)]
pub(crate) struct Metas(Mutex<Vec<SessionOwner>>);

impl Metas {
    /// No code panics under this lock.
    fn lock(&self) -> MutexGuard<'_, Vec<SessionOwner>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn add(&self, session: SessionOwner) {
        self.lock().push(session);
    }

    /// Returns the inner session that has this pattern.
    pub(crate) fn find(&self, id: PatternId) -> Option<Arc<SessionCore>> {
        self.all().into_iter().find(|shared| shared.find(id).is_ok())
    }

    pub(crate) fn all(&self) -> Vec<Arc<SessionCore>> {
        self.lock().iter().map(|session| Arc::clone(&session.core)).collect()
    }

    pub(crate) fn take(&self, shared: &Arc<SessionCore>) -> Option<SessionOwner> {
        let mut sessions = self.lock();
        let at = sessions.iter().position(|session| Arc::ptr_eq(&session.core, shared))?;
        Some(sessions.swap_remove(at))
    }
}
