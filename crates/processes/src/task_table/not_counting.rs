//! Without a table: no runtime counts.

use std::sync::Arc;

use tokio::runtime::Handle;

/// No counter.
pub struct Counter;

impl Counter {
    pub fn new() -> Arc<Counter> {
        Arc::new(Counter)
    }

    /// Does nothing.
    pub fn begin(&self, _runtime: &Handle) {}

    /// Does nothing.
    pub fn count(&self) {}
}

/// No runtime.
pub enum Counting {}

impl Counting {
    /// None.
    pub fn current() -> Option<Counting> {
        None
    }

    /// Does nothing.
    pub fn count_with_next(&self) {}
}
