//! The peers: each implements a task's operations as its users would.

mod cached;
mod compio;
mod dyntrace;
mod elsewhere;
mod handed;
mod monoio;
mod on_tokio;
mod queued;
mod std_sync;
mod tokio_fs;
mod tokio_uring;

use std::io;

use ::dyntrace::efile::Inline;
use clap::ValueEnum;
use tokio::runtime::Builder;

use self::elsewhere::Blocking;
use self::queued::Queued;
use crate::task::Task;

/// `-mt` is tokio's multi-thread runtime with default settings, `-ct` its current-thread runtime.
#[derive(Clone, Copy, ValueEnum)]
pub enum Peer {
    DyntraceMt,
    DyntraceCt,
    /// All operations on the pool.
    DyntracePoolMt,
    DyntracePoolCt,
    /// Answers operations on the caller's thread from the page and dentry caches.
    DyntraceInlineMt,
    DyntraceInlineCt,
    TokioFsMt,
    TokioFsCt,
    /// std's functions, one `spawn_blocking` an operation.
    SpawnBlockingMt,
    SpawnBlockingCt,
    /// The floor: std's functions, called by one thread, or by a thread for each core if more operations are in flight.
    Std,
    /// The floor of operations answered on the caller's thread: only calls that never wait, on threads as `Std`.
    Cached,
    /// std's functions on a second thread for each task, and nothing but the two wakes of each operation.
    Handed,
    /// std's functions on threads that take from one queue, for tasks as `DyntraceMt`, and nothing else.
    Queued,
    /// The same for tasks as `DyntraceCt`.
    QueuedCt,
    /// The runtimes on io_uring, one thread each.
    TokioUring,
    Compio,
    Monoio,
}

impl Peer {
    /// Prepares the program, once, before it runs tasks.
    pub fn prepare(self) {
        match self {
            Peer::DyntracePoolMt | Peer::DyntracePoolCt => dyntrace::install(Inline::Off),
            Peer::DyntraceInlineMt | Peer::DyntraceInlineCt => dyntrace::install(Inline::Always),
            _ => {}
        }
    }

    /// Runs all tasks, and returns the number of measured operations.
    pub fn run(self, tasks: Vec<Task>) -> io::Result<u64> {
        let (multi_thread, current_thread) = (Builder::new_multi_thread, Builder::new_current_thread);
        match self {
            Peer::DyntraceMt | Peer::DyntracePoolMt | Peer::DyntraceInlineMt => {
                on_tokio::run(multi_thread(), tasks, dyntrace::run)
            }
            Peer::DyntraceCt | Peer::DyntracePoolCt | Peer::DyntraceInlineCt => {
                on_tokio::run(current_thread(), tasks, dyntrace::run)
            }
            Peer::TokioFsMt => on_tokio::run(multi_thread(), tasks, tokio_fs::run),
            Peer::TokioFsCt => on_tokio::run(current_thread(), tasks, tokio_fs::run),
            Peer::SpawnBlockingMt => on_tokio::run(multi_thread(), tasks, elsewhere::run::<Blocking>),
            Peer::SpawnBlockingCt => on_tokio::run(current_thread(), tasks, elsewhere::run::<Blocking>),
            Peer::Std => std_sync::run(tasks),
            Peer::Cached => cached::run(tasks),
            Peer::Handed => handed::run(tasks),
            Peer::Queued => on_tokio::run(multi_thread(), tasks, elsewhere::run::<Queued>),
            Peer::QueuedCt => on_tokio::run(current_thread(), tasks, elsewhere::run::<Queued>),
            Peer::TokioUring => tokio_uring::run(tasks),
            Peer::Compio => compio::run(tasks),
            Peer::Monoio => monoio::run(tasks),
        }
    }
}
