//! What is done for a call of an export that no version has.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::export_name::ExportName;

/// What becomes of a call whose export is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnMissing {
    /// It fails with [`CallError::Missing`](crate::code::CallError::Missing).
    Fail,
    /// It looks once more: the handler has seen to it that the export is there.
    Retry,
}

type Handler = Option<Arc<dyn Fn(&str, &str) -> OnMissing + Send + Sync>>;

static HANDLER: Mutex<Handler> = Mutex::new(None);

fn handler() -> MutexGuard<'static, Handler> {
    HANDLER.lock().unwrap_or_else(PoisonError::into_inner)
}

fn prepare() {
    crate::forks::hold_across_forks!(Handler, handler());
}

/// Has `handler` called with the names of module and export, on the calling thread, whenever an export is called that no version has:
/// to say so, or to get the module loaded. It takes the place of the one before.
///
/// ```
/// use dyntrace::code::{self, OnMissing};
///
/// code::set_error_handler(|module, export| {
///     eprintln!("{module}::{export} is called, and there is none");
///     OnMissing::Fail
/// });
/// ```
///
/// One that panics is taken to say [`OnMissing::Fail`].
pub fn set_error_handler(handler: impl Fn(&str, &str) -> OnMissing + Send + Sync + 'static) {
    prepare();
    let before = self::handler().replace(Arc::new(handler));
    drop(before); // without the lock
}

pub(crate) fn ask(export: &ExportName) -> OnMissing {
    prepare();
    let Some(handler) = self::handler().clone() else { return OnMissing::Fail };
    catch_unwind(AssertUnwindSafe(|| handler(&export.module, &export.name))).unwrap_or(OnMissing::Fail)
}
