//! The thirteen steps that change breakpoints, as numbered in the head of `breakpoint`.

pub(crate) mod edit;
mod group;
mod stage;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::task::{Context, Poll, ready};

use dyntrace_probes::primitives::atomic::{AtomicU32, Ordering};
use dyntrace_probes::primitives::global;
use dyntrace_probes::thread_progress::{self, Late};

use crate::breakpoint::progress::progress;
use crate::breakpoint::site::sites::{Sites, give_way};
use crate::breakpoint::state::generic_bp::commit;
use crate::permission::Permission;
use edit::Edit;
use stage::{Changed, stage};

// The number of the last setting that began; odd until it ends. Only the permission holder touches it, so Relaxed does.
global! {
    static LAST: AtomicU32 = AtomicU32::new(0);
}

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
    pub(crate) fn new(permission: Permission, parts: Vec<Part>) -> Setting {
        let is_abandoned = Arc::new(AtomicBool::new(false));
        let sequence = sequence(permission, parts, Arc::clone(&is_abandoned));
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

pub(crate) async fn sequence(permission: Permission, parts: Vec<Part>, is_abandoned: Arc<AtomicBool>) -> Ended {
    let number = begin().await;
    let ended = change(parts, number, || is_abandoned.load(Ordering::Relaxed)).await;
    end(number);
    drop(permission); // 13
    ended
}

/// Returns the number of a setting that begins.
async fn begin() -> u32 {
    let last = LAST.load(Ordering::Relaxed);
    let is_unfinished = last % 2 == 1;
    let number = last.wrapping_add(1) | 1;
    LAST.store(number, Ordering::Relaxed);
    if is_unfinished {
        // A fork or a drop left the last one in the middle, perhaps at step 8: hits may still read the generation that step 3 writes.
        progress().await;
    }
    number
}

fn end(number: u32) {
    // A setting that goes on in a forked child, where the permission is free, may have been overtaken.
    if LAST.load(Ordering::Relaxed) == number {
        LAST.store(number.wrapping_add(1), Ordering::Relaxed);
    }
}

/// Steps 2 to 12, for the permission holder.
async fn change(parts: Vec<Part>, number: u32, is_abandoned: impl Fn() -> bool) -> Ended {
    let mut ended = Ended::default();
    let (sites, edits): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
    let mut changed = Vec::new();
    for (sites, edit) in sites.iter().zip(edits) {
        let staged = stage(sites, edit, number).await; // 2, 3
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

#[cfg(all(not(any(loom, miri)), test))]
mod tests {
    use std::sync::atomic::AtomicUsize;
    use std::task::Waker;
    use std::time::Duration;

    use super::*;
    use crate::breakpoint::site::site_ref::SiteRef;
    use crate::breakpoint::site::{Function, Site};
    use crate::breakpoint::state::entry::BpEntry;
    use crate::breakpoint::state::generic_bp::Bp;
    use crate::breakpoint::state::limits::Limits;
    use crate::breakpoint::state::session_core::{Destination, SessionCore};
    use crate::breakpoint::state::set_pattern::SetPattern;
    use crate::permission;

    #[test]
    fn the_longest_wait_is_told() {
        let mut ended = Ended::default();
        for milliseconds in [None, Some(3), None, Some(7), Some(5)] {
            let waited = |milliseconds| Late { threads: Vec::new(), waited: Duration::from_millis(milliseconds) };
            ended.held_up(milliseconds.map(waited));
        }
        assert_eq!(ended.held_up.unwrap().waited, Duration::from_millis(7));
    }

    fn entry(number: usize) -> BpEntry {
        let (events, _) = std::sync::mpsc::sync_channel(1);
        let session = Arc::new(SessionCore::new(Limits::default(), Destination::Tracer, events));
        let pattern = format!("**::f{number}").parse().unwrap();
        BpEntry::new(session, Arc::new(SetPattern::new(pattern, false)), None)
    }

    /// Gives each of the sites one entry more. Counts those that it has staged.
    async fn adding(sites: &Arc<Sites>, staged: &Arc<AtomicUsize>) -> Ended {
        let staged = Arc::clone(staged);
        let edit = Edit::of_each(move |_, before| {
            staged.fetch_add(1, Ordering::Relaxed);
            Some([before, &[entry(before.len())]].concat().into())
        });
        sequence(permission::acquire().await, vec![(Arc::clone(sites), edit)], Arc::default()).await
    }

    /// A fork leaves a setting like that in the child, too.
    #[tokio::test]
    async fn a_setting_that_is_left_in_the_middle_does_not_keep_others_out() {
        const COUNT: usize = 300;
        let function: &Function = Box::leak(Box::new(Function::new("setting::left/0", "", 0, &[])));
        let all: &[Site] = Vec::leak((0..COUNT).map(|_| Site::new(function)).collect());
        let sites: Arc<Sites> = Arc::new(all.iter().map(SiteRef::of_program).collect::<Vec<_>>().into());
        let staged = Arc::default();
        assert_eq!(adding(&sites, &staged).await.changed, COUNT);
        {
            let mut left = Box::pin(adding(&sites, &staged));
            while staged.load(Ordering::Relaxed) == COUNT {
                // Another test may have the permission.
                assert!(left.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
                tokio::task::yield_now().await;
            }
        }
        assert!(staged.load(Ordering::Relaxed) < 2 * COUNT, "it was not left in the middle");
        assert_eq!(adding(&sites, &staged).await.changed, COUNT);
        for site in all {
            // If another test has committed meanwhile, the setting that was left in the middle has taken effect.
            assert!(Bp::of(site).unwrap().with_active(|now| now.as_ref().unwrap().entries.len()) >= 2);
        }
    }
}
