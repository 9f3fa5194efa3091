//! The barrier.

use std::panic::Location;

use tokio::sync::BarrierWaitResult;

use crate::inner::debug;
use dyntrace_processes::waiting::{On, Operation, Resource, ResourceKind, Waiting};

/// A [`tokio::sync::Barrier`] that shows the tasks that wait for the others.
///
/// ```
/// use std::sync::Arc;
///
/// use dyntrace::sync::Barrier;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), tokio::task::JoinError> {
/// let kneaded = Arc::new(Barrier::named("kneaded", 2));
/// let baker = dyntrace::spawn({
///     let kneaded = Arc::clone(&kneaded);
///     async move { kneaded.wait().await.is_leader() }
/// });
/// let leads = kneaded.wait().await.is_leader();
/// assert_ne!(baker.await?, leads);
/// # Ok(())
/// # }
/// ```
pub struct Barrier {
    resource: Resource,
    inner: tokio::sync::Barrier,
}

impl Barrier {
    /// Creates a barrier for `n` tasks. With 0 it behaves as with 1: nobody waits.
    #[track_caller]
    pub fn new(n: usize) -> Barrier {
        tokio::sync::Barrier::new(n).into()
    }

    /// Creates a barrier with a name for tracers.
    #[track_caller]
    pub fn named(name: &'static str, n: usize) -> Barrier {
        Barrier { resource: Resource::new(ResourceKind::Barrier, Some(name)), inner: tokio::sync::Barrier::new(n) }
    }

    /// Waits until as many tasks wait as the barrier was created for. They all go on, one of them as the leader, and the barrier is as
    /// new.
    ///
    /// # Cancellation
    ///
    /// Not cancel safe: a task whose future is dropped after its first poll counts as one that waits.
    #[track_caller]
    pub fn wait(&self) -> impl Future<Output = BarrierWaitResult> {
        Waiting::new(On(&self.resource, Operation::BarrierWait), Location::caller(), self.inner.wait())
    }

    /// Returns tokio's barrier.
    pub fn into_inner(self) -> tokio::sync::Barrier {
        self.inner
    }
}

impl From<tokio::sync::Barrier> for Barrier {
    #[track_caller]
    fn from(inner: tokio::sync::Barrier) -> Barrier {
        Barrier { resource: Resource::new(ResourceKind::Barrier, None), inner }
    }
}

debug! { [] Barrier; }
