//! References to sites that may be gone, with their library. Settings use them.
//!
//! A library leaves in three steps: it is marked, the unloading thread waits for thread progress, and takes the breakpoints out of the
//! words. A setting reads the mark *pinned*, and stays pinned while it uses the site. So the library waits for it, or it finds the mark.
//! The library never waits for a whole setting: that might belong to the unloading thread itself, and never end.

use std::ptr::NonNull;
use std::sync::Arc;

use dyntrace_probes::primitives::atomic::{AtomicBool, Ordering};
use dyntrace_probes::thread_progress::pin;

use super::{Function, Site};

/// A library that was loaded after the program.
pub(crate) struct Library {
    is_gone: AtomicBool,
    /// Whether it is an old version of a module.
    is_old: AtomicBool,
}

/// A site and its function; the function's description outlives the site.
#[derive(Clone)]
pub(crate) struct SiteRef {
    site: NonNull<Site>,
    function: &'static Function,
    /// `None`: a site of the program, which is never unloaded.
    library: Option<Arc<Library>>,
}

// SAFETY: a site may be used from any thread; each use checks that it is there.
unsafe impl Send for SiteRef {}
// SAFETY: as above.
unsafe impl Sync for SiteRef {}

impl Library {
    pub(crate) fn new() -> Library {
        Library { is_gone: AtomicBool::new(false), is_old: AtomicBool::new(false) }
    }

    /// The first of the steps: threads that pin later find no site of it.
    pub(crate) fn mark(&self) {
        // Relaxed: the wait for thread progress is a barrier for threads that pin later.
        self.is_gone.store(true, Ordering::Relaxed);
    }

    /// Notes that a newer version has replaced it, or that it was deleted.
    pub(crate) fn retire(&self) {
        // Relaxed: only counts of functions read it.
        self.is_old.store(true, Ordering::Relaxed);
    }

    fn is_gone(&self) -> bool {
        self.is_gone.load(Ordering::Relaxed)
    }
}

impl SiteRef {
    pub(crate) fn of_program(site: &'static Site) -> SiteRef {
        SiteRef { site: NonNull::from(site), function: site.function(), library: None }
    }

    pub(crate) fn of_library(site: &Site, library: &Arc<Library>) -> SiteRef {
        SiteRef { site: NonNull::from(site), function: site.function(), library: Some(Arc::clone(library)) }
    }

    pub(crate) fn function(&self) -> &'static Function {
        self.function
    }

    /// Returns its address, its identity while it is there.
    pub(crate) fn address(&self) -> usize {
        self.site.addr().get()
    }

    /// Whether it may be unloaded.
    pub(crate) fn is_of_library(&self) -> bool {
        self.library.is_some()
    }

    /// Whether it is of an old version of a module.
    pub(crate) fn is_old(&self) -> bool {
        self.library.as_ref().is_some_and(|library| library.is_old.load(Ordering::Relaxed))
    }

    pub(crate) fn is_gone(&self) -> bool {
        self.library.as_ref().is_some_and(|library| library.is_gone())
    }

    /// Runs `look` on the site, pinned. Returns `None` if the site is gone, or if the thread cannot be pinned for lack of memory.
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
        // SAFETY: a site of the program, or not marked. While this thread is pinned, the library waits between mark and unloading.
        let answer = look(unsafe { self.site.as_ref() });
        drop(pinned);
        Some(answer)
    }
}
