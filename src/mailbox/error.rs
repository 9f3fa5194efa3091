//! Errors: tokio's for sending and receiving, and those of the registry.

pub use tokio::sync::mpsc::error::{SendError, SendTimeoutError, TryRecvError, TrySendError};

/// Why a process could not get a name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegisterError {
    /// Another process has this name.
    #[error(
        "cannot register a process as {0:?}: another process has this name; unregister it first, or use another name"
    )]
    Taken(String),
    /// The mailbox is closed.
    #[error("cannot register a process as {0:?}: its mailbox is closed, so the process has ended or is about to end")]
    Closed(String),
}

/// Why no process was found by a name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WhereisError {
    /// No process has this name.
    #[error("no process is registered as {0:?}: it never was, or it has ended")]
    NotRegistered(String),
    /// The process takes messages of another type.
    #[error("the process registered as {name:?} takes messages of type {takes}, not of type {asked}")]
    OtherMessages {
        /// The name.
        name: String,
        /// The type of the messages it takes.
        takes: &'static str,
        /// The type that was asked for.
        asked: &'static str,
    },
}
