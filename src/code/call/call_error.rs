//! Why a call has no result.

use super::panicked::Panicked;

/// Why a call has no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// No version has the export any more: it was dropped by an upgrade, or deleted with its module.
    #[error(
        "calling {module}::{export}: no version that is loaded exports it with the signature that it is called with"
    )]
    Missing {
        /// The module.
        module: &'static str,
        /// The export.
        export: &'static str,
    },
    /// The function has panicked: with this message.
    #[error("the function that was called has panicked: {0}")]
    Panicked(String),
}

impl From<Panicked> for CallError {
    #[cold]
    fn from(panicked: Panicked) -> CallError {
        CallError::Panicked(panicked.into_message())
    }
}
