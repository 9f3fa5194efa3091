//! The meta patterns of a session.
//!
//! Each is the only pattern of an inner session. So it has a tracer of its own, matches the calls of all processes, and no filter or
//! process flag of the outer session applies to it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::session::Session;
use super::set::PatternId;
use super::shared::Shared;

/// The inner sessions of one session.
#[derive(Default)]
pub(super) struct Metas(Mutex<Vec<Session>>);

impl Metas {
    /// Nothing panics under this lock.
    fn lock(&self) -> MutexGuard<'_, Vec<Session>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn add(&self, session: Session) {
        self.lock().push(session);
    }

    /// Returns the inner session that has this pattern.
    pub(super) fn find(&self, id: PatternId) -> Option<Arc<Shared>> {
        self.all().into_iter().find(|shared| shared.find(id).is_ok())
    }

    pub(super) fn all(&self) -> Vec<Arc<Shared>> {
        self.lock().iter().map(|session| Arc::clone(session.shared())).collect()
    }

    /// Takes an inner session out of the list.
    pub(super) fn take(&self, shared: &Arc<Shared>) -> Option<Session> {
        let mut sessions = self.lock();
        let at = sessions.iter().position(|session| Arc::ptr_eq(session.shared(), shared))?;
        Some(sessions.swap_remove(at))
    }
}
