//! The thirteen steps that change breakpoints, as numbered in the head of `breakpoint`.

pub(crate) mod edit;
mod group;
mod stage;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};

use crate::breakpoint::progress::progress;
use crate::breakpoint::site::sites::{Sites, give_way};
use crate::breakpoint::state::generic_bp::commit;
use crate::thread_progress::{self, Late, permission};
use edit::Edit;
use stage::{Changed, stage};

/// Sites and the edit to apply there. A site that is in several parts gets the edit of the first.
pub(crate) type Part = (Arc<Sites>, Edit);

/// A running change of breakpoints. If it is dropped, the maintenance thread undoes it, or completes it after the commit.
#[must_use = "nothing is changed until it is polled"]
pub(crate) struct Setting {
    /// `None` after the end.
    sequence: Option<Pin<Box<dyn Future<Output = Ended> + Send>>>,
    is_abandoned: Arc<AtomicBool>,
    was_polled: bool,
}

/// The result of a change.
#[derive(Default)]
pub(crate) struct Ended {
    /// Whether a pinned thread polled it, which would have waited for itself: nothing was changed.
    pub(crate) is_refused: bool,
    /// The number of sites that have changed.
    pub(crate) changed: usize,
    /// The number of sites where the edit could not take effect.
    pub(crate) left: usize,
    /// Its longest wait, if that was notable.
    pub(crate) held_up: Option<Late>,
}

impl Ended {
    fn held_up(&mut self, late: Option<Late>) {
        let longest = |late: &Option<Late>| late.as_ref().map(|late| late.waited);
        if longest(&late) > longest(&self.held_up) {
            self.held_up = late;
        }
    }
}

impl Setting {
    pub(crate) fn new(parts: Vec<Part>) -> Setting {
        let is_abandoned = Arc::new(AtomicBool::new(false));
        let sequence = sequence(parts, Arc::clone(&is_abandoned));
        Setting { sequence: Some(Box::pin(sequence)), is_abandoned, was_polled: false }
    }
}

impl Future for Setting {
    type Output = Ended;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Ended> {
        if thread_progress::is_pinned() {
            return Poll::Ready(Ended { is_refused: true, ..Ended::default() });
        }
        self.was_polled = true;
        let sequence = self.sequence.as_mut().expect("a future is not polled after it has ended");
        let ended = ready!(sequence.as_mut().poll(cx));
        self.sequence = None;
        Poll::Ready(ended)
    }
}

impl Drop for Setting {
    fn drop(&mut self) {
        if let Some(sequence) = self.sequence.take().filter(|_| self.was_polled) {
            // Relaxed: handing the sequence over orders this before the next poll.
            self.is_abandoned.store(true, Ordering::Relaxed);
            // Without a thread for it, the future is dropped and the rest stays undone. The breakpoints of an ended session make
            // no events.
            let _ = thread_progress::complete(async {
                sequence.await;
            });
        }
    }
}

pub(crate) async fn sequence(parts: Vec<Part>, is_abandoned: Arc<AtomicBool>) -> Ended {
    let is_abandoned = || is_abandoned.load(Ordering::Relaxed);
    let mut ended = Ended::default();
    let permission = permission::acquire().await; // 1
    let (sites, edits): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
    let mut changed = Vec::new();
    for (sites, edit) in sites.iter().zip(edits) {
        let staged = stage(sites, edit).await; // 2, 3
        ended.left += staged.left;
        changed.extend(staged.changed);
    }
    ended.held_up(progress().await); // 4
    if is_abandoned() {
        abort(changed).await;
        return ended;
    }
    for changed in changed.iter_mut().filter(|changed| changed.is_new) {
        changed.publish().await; // 5
    }
    if changed.iter().any(|changed| changed.is_new) {
        ended.held_up(progress().await); // 6
    }
    if is_abandoned() {
        abort(changed).await;
        return ended;
    }
    commit(); // 7
    ended.held_up(progress().await); // 8
    for changed in changed.iter_mut().filter(|changed| !changed.remains) {
        changed.retract().await; // 9
    }
    if changed.iter().any(|changed| !changed.remains) {
        ended.held_up(progress().await); // 10
    }
    ended.changed = changed.iter().map(|changed| changed.sites.len()).sum();
    for (number, changed) in changed.into_iter().enumerate() {
        if changed.is_published {
            changed.bp.consolidate(); // 11
        } else {
            // SAFETY: retracted above and waited for, or never in a word.
            unsafe { changed.bp.free() } // 12
        }
        give_way(number).await;
    }
    drop(permission); // 13
    ended
}

/// Undoes the steps before the commit: makes the staging generation a copy of the active one.
async fn abort(mut changed: Vec<Changed<'_>>) {
    for changed in changed.iter_mut().filter(|changed| changed.is_new) {
        changed.retract().await;
    }
    progress().await;
    for Changed { bp, is_published, .. } in changed {
        if is_published {
            bp.consolidate();
        } else {
            // SAFETY: never published, or retracted above and waited for.
            unsafe { bp.free() }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_longest_wait_is_told() {
        let mut ended = Ended::default();
        for milliseconds in [None, Some(3), None, Some(7), Some(5)] {
            let waited = |milliseconds| Late { threads: Vec::new(), waited: Duration::from_millis(milliseconds) };
            ended.held_up(milliseconds.map(waited));
        }
        assert_eq!(ended.held_up.unwrap().waited, Duration::from_millis(7));
    }
}
