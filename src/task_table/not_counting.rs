//! Without a table: no runtime counts.

use std::sync::Arc;

use tokio::runtime::Handle;

/// No counter.
pub(crate) struct Counter;

impl Counter {
    pub(crate) fn new() -> Arc<Counter> {
        Arc::new(Counter)
    }

    /// Does nothing.
    pub(crate) fn begin(&self, _runtime: &Handle) {}

    /// Does nothing.
    pub(crate) fn count(&self) {}
}

/// No runtime.
pub(crate) enum Counting {}

impl Counting {
    /// None.
    pub(crate) fn current() -> Option<Counting> {
        None
    }

    /// Does nothing.
    pub(crate) fn count_with_next(&self) {}
}
