//! The handler for calls of exports that no version has.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dyntrace_probes::contain::contain;

use super::export_name::ExportName;

/// The fate of a call whose export is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnMissing {
    /// It fails with [`CallError::Missing`](crate::code::CallError::Missing).
    Fail,
    /// It looks once more, since the handler has loaded the export.
    Retry,
}

type Handler = Option<Arc<dyn Fn(&str, &str) -> OnMissing + Send + Sync>>;

static HANDLER: Mutex<Handler> = Mutex::new(None);

fn handler() -> MutexGuard<'static, Handler> {
    HANDLER.lock().unwrap_or_else(PoisonError::into_inner)
}

fn prepare() {
    dyntrace_probes::forks::hold_across_forks!(Handler, handler());
}

/// Sets the handler for calls of exports that no version has, in place of the previous one. It runs on the calling thread, with the
/// names of module and export, and can log the call or load the module.
///
/// ```
/// use dyntrace::code::{self, OnMissing};
///
/// code::set_error_handler(|module, export| {
///     eprintln!("{module}::{export} is called, but not loaded");
///     OnMissing::Fail
/// });
/// ```
///
/// A handler that panics counts as [`OnMissing::Fail`].
pub fn set_error_handler(handler: impl Fn(&str, &str) -> OnMissing + Send + Sync + 'static) {
    prepare();
    let before = self::handler().replace(Arc::new(handler));
    drop(before); // unlocked
}

pub(crate) fn ask(export: &ExportName) -> OnMissing {
    prepare();
    let Some(handler) = self::handler().clone() else { return OnMissing::Fail };
    // Another thread may have replaced the handler: then this drops it.
    contain(move || handler(&export.module, &export.name)).unwrap_or(OnMissing::Fail)
}
