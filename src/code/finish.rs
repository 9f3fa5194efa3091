//! The sequence that puts versions in force. Its steps are those of the room's description.

use std::collections::BTreeSet;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};

use tokio::task::yield_now;

use super::error::Error;
use super::prepared::Prepared;
use super::tables::{Change, Module, SLICE, Set, Tables, tables};
use crate::breakpoint::progress::progress;
use crate::thread_progress;
use crate::thread_progress::permission::{self, Permission};

/// Puts the versions in force: all of them or none, at one instant, while callers keep calling. What was current in their modules
/// becomes old. The task waits in one line with all others that change what runs, trace settings too.
///
/// # Errors
///
/// A module is named twice, or has an old version that is not purged; or something that one of them imports is not there. Then nothing
/// is changed, and the versions are dropped.
///
/// # Cancellation
///
/// Dropped before the commit, it changes nothing; dropped later, it is completed in the background.
pub fn finish(prepared: impl IntoIterator<Item = Prepared>) -> Finish {
    Finish::new(tables(), prepared.into_iter().collect())
}

/// See [`finish`].
#[must_use = "nothing is changed until it is polled"]
pub struct Finish {
    /// `None` when it has ended.
    sequence: Option<Sequence>,
    is_abandoned: Arc<AtomicBool>,
    was_polled: bool,
}

type Sequence = Pin<Box<dyn Future<Output = Result<(), Error>> + Send>>;

impl Finish {
    pub(super) fn new(tables: &'static Tables, prepared: Vec<Prepared>) -> Finish {
        let is_abandoned = Arc::new(AtomicBool::new(false));
        let sequence = sequence(tables, prepared, Arc::clone(&is_abandoned));
        Finish { sequence: Some(Box::pin(sequence)), is_abandoned, was_polled: false }
    }
}

impl Future for Finish {
    type Output = Result<(), Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.was_polled = true;
        let sequence = self.sequence.as_mut().expect("a future is not polled after it has ended");
        let answer = ready!(sequence.as_mut().poll(cx));
        self.sequence = None;
        Poll::Ready(answer)
    }
}

impl Drop for Finish {
    fn drop(&mut self) {
        if let Some(sequence) = self.sequence.take().filter(|_| self.was_polled) {
            // Relaxed: who polls next is told by what hands the sequence over.
            self.is_abandoned.store(true, Ordering::Relaxed);
            // Without a thread for it, the future is dropped: what is staged is noted as such, and nobody sees it.
            let _ = thread_progress::complete(async {
                let _ = sequence.await;
            });
        }
    }
}

pub(super) async fn sequence(
    tables: &'static Tables,
    prepared: Vec<Prepared>,
    is_abandoned: Arc<AtomicBool>,
) -> Result<(), Error> {
    let permission = permission::acquire().await; // 1
    tables.with_permission(&permission, |set| check(set, &prepared))?; // 2
    let changes = tables.with_permission(&permission, |set| changes(set, &prepared));
    if put_in_force(tables, &permission, changes, &is_abandoned).await {
        prepared.into_iter().for_each(Prepared::committed);
    }
    drop(permission); // 8
    Ok(())
}

/// Step 2.
fn check(set: &Set, prepared: &[Prepared]) -> Result<(), Error> {
    let mut named = BTreeSet::new();
    for version in prepared.iter().map(Prepared::version) {
        let module = &version.image.module;
        if !named.insert(module) {
            return Err(Error::Twice { module: module.to_string() });
        }
        if let Some(Module { current: Some(_), old: Some(old) }) = set.modules.get(module) {
            return Err(Error::old_in_use("finishing", old));
        }
    }
    Ok(())
}

/// What is other, when these are in force.
fn changes(set: &Set, prepared: &[Prepared]) -> Vec<Change> {
    let mut changes = Vec::new();
    for version in prepared.iter().map(Prepared::version) {
        let module = &version.image.module;
        let before = set.modules.get(module).cloned().unwrap_or_default();
        changes.extend(
            before.current.iter().flat_map(|current| &current.exports).map(|export| Change::Export(export.entry, None)),
        );
        changes.extend(version.exports.iter().map(|export| Change::Export(export.entry, Some(export.target))));
        changes.push(Change::Range(version.image.mapping.range().start, Some(Arc::clone(&version.image))));
        let module_after = Module { current: Some(Arc::clone(version)), old: before.current.or(before.old) };
        changes.push(Change::Module(Arc::clone(module), module_after));
    }
    changes
}

/// Steps 3 to 6, by who has the permission. False if it was abandoned before the commit: then nothing has changed.
pub(super) async fn put_in_force(
    tables: &Tables,
    permission: &Permission,
    changes: Vec<Change>,
    is_abandoned: &AtomicBool,
) -> bool {
    while tables.refresh(permission) {
        yield_now().await; // 3
    }
    let mut changes = changes.into_iter().peekable();
    while changes.peek().is_some() {
        tables.stage(permission, changes.by_ref().take(SLICE)); // 3
        yield_now().await;
    }
    progress().await; // 5
    if is_abandoned.load(Ordering::Relaxed) {
        while tables.refresh(permission) {}
        return false;
    }
    tables.commit(permission); // 6
    true
}
