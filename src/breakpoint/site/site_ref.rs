//! Sites in the hands of who changes settings: they may be gone, with the library that they were in.
//!
//! A library leaves in three steps ([`leave`](super::libraries::leave)): it is marked, thread progress is waited for, and what its
//! words lead to is taken. Whoever changes settings looks at the mark *pinned*, and is pinned as long as it looks at the site. So
//! it is either waited for, or finds the mark. Nobody waits for a setting as a whole: that might be one of the very thread that
//! unloads the library, and never get on.

use std::ptr::NonNull;
use std::sync::Arc;

use super::{Function, Site};
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::thread_progress::pin;

/// A library whose sites came later than the program's.
pub(crate) struct Library {
    is_gone: AtomicBool,
}

/// A site, and what its function is: that stays, whatever becomes of the site.
#[derive(Clone)]
pub(crate) struct SiteRef {
    site: NonNull<Site>,
    function: &'static Function,
    /// `None`: it is the program's, and always there.
    library: Option<Arc<Library>>,
}

// SAFETY: a site may be used from any thread; whether it is there is looked at each time.
unsafe impl Send for SiteRef {}
// SAFETY: as above.
unsafe impl Sync for SiteRef {}

impl Library {
    pub(crate) fn new() -> Library {
        Library { is_gone: AtomicBool::new(false) }
    }

    /// The first of the steps: whoever is pinned later finds no site of it.
    pub(crate) fn mark(&self) {
        // Relaxed: who comes later has a barrier of thread progress between.
        self.is_gone.store(true, Ordering::Relaxed);
    }

    fn is_gone(&self) -> bool {
        self.is_gone.load(Ordering::Relaxed)
    }
}

impl SiteRef {
    /// One that is there as long as the program.
    pub(crate) fn of_program(site: &'static Site) -> SiteRef {
        SiteRef { site: NonNull::from(site), function: site.function(), library: None }
    }

    /// One that is there until its library leaves. What it has of its function stays.
    pub(crate) fn of_library(site: &Site, library: &Arc<Library>) -> SiteRef {
        SiteRef { site: NonNull::from(site), function: site.function(), library: Some(Arc::clone(library)) }
    }

    pub(crate) fn function(&self) -> &'static Function {
        self.function
    }

    /// Who it is, for as long as it is there.
    pub(crate) fn address(&self) -> usize {
        self.site.addr().get()
    }

    pub(crate) fn is_gone(&self) -> bool {
        self.library.as_ref().is_some_and(|library| library.is_gone())
    }

    /// Runs `look` on the site. `None` if it is gone; also if there is no memory to pin a thread.
    pub(crate) fn with<R>(&self, look: impl FnOnce(&Site) -> R) -> Option<R> {
        let pinned = match &self.library {
            None => None,
            Some(library) => {
                let pinned = pin()?;
                if library.is_gone() {
                    return None;
                }
                Some(pinned)
            }
        };
        // SAFETY: it is there for ever, or not marked; while this thread is pinned, its library waits between the mark and
        // its leave.
        let answer = look(unsafe { self.site.as_ref() });
        drop(pinned);
        Some(answer)
    }
}
