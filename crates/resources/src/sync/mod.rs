//! All of [`tokio::sync`], with its names and signatures. Tracers see which process waits for which lock, semaphore, barrier, cell or
//! channel.
//!
//! Replace `tokio::sync` by `dyntrace::sync` in a program. Each wait then fires `process-wait` and `process-resume`, and the resource
//! itself `resource-new` and `resource-drop`. A mutex knows its [holder](Mutex::holder), and so does an `RwLock` that is written. While
//! no tracer is attached, each probe costs two instructions, nothing is allocated beside tokio's own, and no clock is read.
//!
//! A resource has a number, unique in the program, which tracers see as `#Ref<0.N>`. It has a name, too, if it is made by `named` or
//! `named_channel`.
//!
//! All types behave as tokio's, which they contain; their errors are tokio's own. `From` and `into_inner` convert where the type has no
//! halves that must agree; `into_inner` of a lock or a cell returns the value, as tokio's does.
//!
//! ```
//! use dyntrace::sync::Mutex;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let cache = Mutex::named("cache", 1);
//! {
//!     let mut guard = cache.lock().await;
//!     *guard += 1;
//!     assert_eq!(cache.holder().map(|holder| holder.pid), Some(dyntrace::process::current()));
//! }
//! assert!(cache.holder().is_none());
//! # }
//! ```

mod acquire;
mod barrier;
pub mod broadcast;
mod guard;
mod half;
mod holder;
mod locked;
pub mod mpsc;
mod mutex;
mod mutex_guards;
mod notify;
mod once_cell;
pub mod oneshot;
mod rwlock;
mod rwlock_guards;
mod semaphore;
mod set_once;
pub mod watch;

/// The futures of this module that have names.
pub mod futures {
    pub use super::notify::{Notified, OwnedNotified};
}

pub use barrier::Barrier;
pub use holder::Holder;
pub use mutex::Mutex;
pub use mutex_guards::{MappedMutexGuard, MutexGuard, OwnedMappedMutexGuard, OwnedMutexGuard};
pub use notify::Notify;
pub use once_cell::OnceCell;
pub use rwlock::RwLock;
pub use rwlock_guards::{
    OwnedRwLockMappedWriteGuard, OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLockMappedWriteGuard, RwLockReadGuard,
    RwLockWriteGuard,
};
pub use semaphore::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};
pub use set_once::SetOnce;
pub use tokio::sync::{AcquireError, BarrierWaitResult, SetError, SetOnceError, TryAcquireError, TryLockError};
