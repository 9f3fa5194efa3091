//! Primitives at the end of a chain, and the event of each, by the names of its fields.
//!
//! A field with another name means that the reader does not know this version: it says so and guesses nothing.

mod broadcast;
mod callers;
mod connection;
mod copy;
mod descriptor;
mod futures_unordered;
mod h2;
mod hyper;
mod join_handle;
mod join_set;
mod libraries;
mod maybe_done;
mod mpsc;
mod notify;
mod oneshot;
mod operation;
mod pending;
mod quiet;
mod readiness;
mod registered;
mod semaphore;
mod site;
mod sleep;
mod sockets;
mod tower;
mod watch;

pub(crate) use futures_unordered::each as each_of_set;
pub(crate) use quiet::is_quiet;
pub(crate) use site::Site;
pub use sockets::Descriptors;

use crate::dwarf::Type;
use crate::listing::Await;
use site::{in_mutex, waits};

/// Reads a primitive. `None` if a field is missing or memory cannot be read.
pub(crate) type Read = fn(&Site<'_, '_>) -> Option<Await>;

/// Primitives that are futures, by path without parameters.
#[rustfmt::skip]
const FUTURES: &[(&str, Read)] = &[
    ("core::future::pending::Pending", pending::read),
    ("dyntrace_files::aio_pool::operation::Operation", operation::read),
    ("dyntrace_files::aio_pool::wake_task::WakeTask", operation::read_wake_task),
    ("futures_util::future::maybe_done::MaybeDone", maybe_done::read),
    ("futures_util::future::pending::Pending", pending::read),
    ("futures_util::future::try_maybe_done::TryMaybeDone", maybe_done::read),
    (futures_unordered::PATH, futures_unordered::read),
    ("hyper::proto::h2::PipeToSendStream", hyper::read_pipe),
    ("tokio::future::maybe_done::MaybeDone", maybe_done::read),
    ("tokio::io::util::copy::Copy", copy::read),
    ("tokio::runtime::io::scheduled_io::Readiness", readiness::read),
    ("tokio::runtime::task::join::JoinHandle", join_handle::read),
    ("tokio::sync::batch_semaphore::Acquire", semaphore::read),
    ("tokio::sync::broadcast::Recv", broadcast::read),
    ("tokio::sync::notify::Notified", notify::read),
    ("tokio::sync::notify::OwnedNotified", notify::read_owned),
    ("tokio::sync::oneshot::Receiver", oneshot::read),
    ("tokio::time::sleep::Sleep", sleep::read),
    ("tower::util::oneshot::Oneshot", tower::read),
];

/// Primitives that are polled by a closure or a stream's combinator, and are no futures themselves.
#[rustfmt::skip]
const POLLED: &[(&str, Read)] = &[
    ("hyper::body::incoming::Incoming", hyper::read),
    ("tokio::sync::mpsc::bounded::Receiver", mpsc::read),
    ("tokio::sync::mpsc::chan::Rx", mpsc::read_inner),
    ("tokio::sync::mpsc::unbounded::UnboundedReceiver", mpsc::read),
    ("tokio::sync::oneshot::Sender", oneshot::read_closed),
    ("tokio::task::join_set::JoinSet", join_set::read),
];

/// Returns how to read a primitive of this type. `polled`: also those that are no futures.
pub(crate) fn of(kind: &Type, polled: bool) -> Option<Read> {
    let bare = kind.bare();
    let more = if polled { POLLED } else { &[] };
    let own = FUTURES.iter().chain(more).find(|(path, _)| *path == bare).map(|(_, read)| *read);
    own.or_else(|| libraries::knows(bare, polled).then_some(libraries::read as Read))
}

/// Whether a type is a `FuturesUnordered`.
pub(crate) fn is_set(kind: &Type) -> bool {
    kind.bare() == futures_unordered::PATH
}

/// Whether it keeps futures of the program's own.
pub(crate) fn has_futures(kind: &Type) -> bool {
    is_set(kind) || kind.bare().ends_with("MaybeDone")
}
