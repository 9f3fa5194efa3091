//! Why a call failed.

use super::panicked::Panicked;

/// Why a call returned no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// No version has the export: an upgrade dropped it, or its module was deleted.
    #[error("cannot call {module}::{export}: no loaded version exports it with the caller's signature")]
    Missing {
        /// The module.
        module: &'static str,
        /// The export.
        export: &'static str,
    },
    /// The function panicked, with this message.
    #[error("the called function panicked: {0}")]
    Panicked(String),
}

impl From<Panicked> for CallError {
    #[cold]
    fn from(panicked: Panicked) -> CallError {
        CallError::Panicked(panicked.into_message())
    }
}
