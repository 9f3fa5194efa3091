//! Adds, replaces and removes patterns of a session: selects the sites, and makes the new entries of each.

use std::collections::HashSet;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use dyntrace_probes::clock;
use dyntrace_probes::thread_progress;

use crate::alloc;
use crate::breakpoint::error::Error;
use crate::breakpoint::libraries::{self, index::Index};
use crate::breakpoint::pattern::Pattern;
use crate::breakpoint::setting::edit::{Edit, Edited};
use crate::breakpoint::setting::{Part, Setting};
use crate::breakpoint::site::Function;
use crate::breakpoint::site::site_ref::SiteRef;
use crate::breakpoint::site::sites::Sites;
use crate::breakpoint::state::data::BpData;
use crate::breakpoint::state::entry::BpEntry;
use crate::breakpoint::state::held_up::HeldUp;
use crate::breakpoint::state::session_core::SessionCore;
use crate::breakpoint::state::set_pattern::SetPattern;
use crate::permission::{self, Permission};

/// Puts the pattern into force at all sites that it selects, and removes the pattern that had its number before. The number of a pattern
/// that `is_new` was never used before.
pub(crate) async fn put(session: &Arc<SessionCore>, set: &Arc<SetPattern>, is_new: bool) -> Result<(), Error> {
    if set.measures_memory() && !alloc::counts() {
        return Err(Error::NotCounting);
    }
    // Before the selection: no version of a module replaces another one until the pattern is set.
    let permission = acquire().await?;
    let index = libraries::index();
    let mut selected = vec![Arc::new(index.selected(&set.pattern).await)];
    if selected[0].len() == 0 && !set.is_default {
        return Err(no_function(&index, &set.pattern));
    }
    set.count_all(&selected[0]).await?;
    let (replaced, concerns_others) = session.insert(set, is_new)?;
    if set.is_default {
        let arrived = arrived(&libraries::announce(session, set), set, &selected[0]).await;
        set.count_all(&arrived).await?;
        selected.push(Arc::new(arrived));
    }
    let is_nowhere = selected.iter().all(|sites| sites.len() == 0);
    let mut parts: Vec<Part> = selected.iter().map(|sites| (Arc::clone(sites), adding(session, set))).collect();
    if concerns_others {
        parts.extend(everywhere(session, || restricting(session)));
    }
    if let Some(replaced) = replaced {
        parts.extend(where_set(&replaced, || removing(session, &replaced)));
    }
    // Before the change, so that a removal finds all sites where the pattern may be set.
    selected.into_iter().for_each(|sites| set.add_sites(sites));
    match change_permitted(session, permission, parts).await? {
        0 if !is_nowhere => Ok(()),
        _ if session.state.is_over() => Err(Error::Over),
        0 => Ok(()),
        _ if set.is_superseded() => Err(Error::NoPattern { id: set.id }),
        left => Err(Error::TooManyPatterns { most: BpData::ENTRIES, left }),
    }
}

/// Returns the sites that the pattern selects in the index of `now`, without those `selected` before.
async fn arrived(now: &Index, set: &SetPattern, selected: &Sites) -> Sites {
    let mut sites = now.selected(&set.pattern).await;
    // A site that has arrived may have the address of one that is gone.
    let addresses: HashSet<_> = selected.iter().filter(|site| !site.is_gone()).map(SiteRef::address).collect();
    sites.retain(|site| !addresses.contains(&site.address()));
    sites
}

/// Removes the breakpoints of a pattern that is off the session's list.
pub(crate) async fn remove(session: &Arc<SessionCore>, set: &Arc<SetPattern>) {
    // Refused on pinned threads only, and none polls this.
    let _ = change(session, where_set(set, || removing(session, set))).await;
}

/// Takes a new pattern that could not be set everywhere off the session's list, unless another pattern has replaced it. Returns the removal
/// of its breakpoints, and of its effect on the session's others.
pub(crate) fn take_back(
    session: &Arc<SessionCore>,
    set: &Arc<SetPattern>,
) -> Option<impl Future<Output = ()> + Send + 'static> {
    let concerns_others = session.take_back(set)?;
    let (session, set) = (Arc::clone(session), Arc::clone(set));
    Some(async move {
        let mut parts = where_set(&set, || removing(&session, &set));
        if concerns_others {
            parts.extend(everywhere(&session, || restricting(&session)));
        }
        // Refused on pinned threads only, and none polls this.
        let _ = change(&session, parts).await;
    })
}

/// Removes the breakpoints of a session that is over, and so gets no new ones.
pub(crate) async fn remove_all(session: &Arc<SessionCore>) {
    let of_it = || {
        let removed = Arc::clone(session);
        leaving(session, move |entry| Arc::ptr_eq(&entry.session, &removed))
    };
    if change(session, everywhere(session, of_it)).await.is_err() {
        // The drop of the session does it in the background.
        return;
    }
    // The lists of sites stay, since they say how many functions the patterns name.
    session.note_removed();
    // Frees the word of process flags for other sessions now: the session's thread may keep the session alive for a while.
    session.filter().flags = None;
}

/// Updates all breakpoints of the session to its current process filter.
pub(crate) async fn restrict(session: &Arc<SessionCore>) {
    // Refused on pinned threads only, and none polls this.
    let _ = change(session, everywhere(session, || restricting(session))).await;
}

fn adding(session: &Arc<SessionCore>, set: &Arc<SetPattern>) -> Edit {
    let counts = set.counts();
    let (session, set) = (Arc::clone(session), Arc::clone(set));
    let add = move |before: &[BpEntry], function: Option<&'static Function>| {
        let mut entries = as_of_now(before, &session);
        // A module's new version has taken over the entries of the version before it.
        let is_there = entries.iter().any(|entry| Arc::ptr_eq(&entry.set, &set));
        let is_over = session.state.is_over() || set.is_superseded();
        let has_no_effect = is_over || (entries.len() == BpData::ENTRIES && !is_there);
        if !has_no_effect && !is_there {
            let counter = function.and_then(|function| set.counter(function));
            entries.push(BpEntry::new(Arc::clone(&session), Arc::clone(&set), counter));
        }
        Some(Edited { entries, has_no_effect })
    };
    if counts {
        Edit::of_each(move |function, before| add(before, Some(function)))
    } else {
        Edit::of_all(move |before| add(before, None))
    }
}

/// Updates the session's entries to its current process filter.
fn restricting(session: &Arc<SessionCore>) -> Edit {
    leaving(session, |_| true)
}

/// Removes the entries of a superseded pattern; leaves breakpoints without one as they are.
fn removing(session: &Arc<SessionCore>, set: &Arc<SetPattern>) -> Edit {
    let set = Arc::clone(set);
    leaving(session, move |entry| Arc::ptr_eq(&entry.set, &set))
}

/// Updates the breakpoints that have an entry for which `is_concerned` holds.
fn leaving(session: &Arc<SessionCore>, is_concerned: impl Fn(&BpEntry) -> bool + Send + 'static) -> Edit {
    let session = Arc::clone(session);
    Edit::of_all(move |before| before.iter().any(&is_concerned).then(|| as_of_now(before, &session).into()))
}

/// Returns the entries without those of ended sessions and superseded patterns, whose own removal may still wait. The session's entries
/// get its current process filter.
fn as_of_now(before: &[BpEntry], session: &Arc<SessionCore>) -> Vec<BpEntry> {
    let is_wanted = |entry: &&BpEntry| !entry.session.state.is_over() && !entry.set.is_superseded();
    let mut entries: Vec<_> = before.iter().filter(is_wanted).cloned().collect();
    entries.iter_mut().filter(|entry| Arc::ptr_eq(&entry.session, session)).for_each(BpEntry::restrict);
    entries
}

/// Acquires the permission.
///
/// # Errors
///
/// [`Error::InView`]: its holder may wait for this pinned thread.
async fn acquire() -> Result<Permission, Error> {
    let mut acquire = permission::acquire(); // 1
    let unless_pinned = |cx: &mut Context<'_>| match thread_progress::is_pinned() {
        true => Poll::Ready(Err(Error::InView)),
        false => Pin::new(&mut acquire).poll(cx).map(Ok),
    };
    poll_fn(unless_pinned).await
}

async fn change(session: &SessionCore, parts: Vec<Part>) -> Result<usize, Error> {
    change_permitted(session, acquire().await?, parts).await
}

/// Applies the edits at their sites, and notes the threads that delayed this. Returns the number of sites where an edit could not take
/// effect.
///
/// # Errors
///
/// [`Error::InView`]: the change is made nowhere, or everywhere in the background.
async fn change_permitted(session: &SessionCore, permission: Permission, parts: Vec<Part>) -> Result<usize, Error> {
    // Calls are timed from the commit on. The second refinement covers a longer interval, which matters soon after the program's start.
    clock::refine();
    let ended = Setting::new(permission, parts).await;
    if ended.is_refused {
        return Err(Error::InView);
    }
    clock::refine();
    let held_up = ended.held_up.map(|late| HeldUp::until_now(&late));
    let mut longest = session.held_up();
    *longest = longest.take().into_iter().chain(held_up).max_by_key(|held_up| held_up.time);
    Ok(ended.left)
}

/// Pairs the edit with all sites where the session may have breakpoints.
fn everywhere(session: &SessionCore, edit: impl Fn() -> Edit) -> Vec<Part> {
    let sets = session.sets().clone();
    sets.iter().flat_map(|set| where_set(set, &edit)).collect()
}

/// Pairs the edit with all sites where the pattern may have breakpoints.
fn where_set(set: &SetPattern, edit: impl Fn() -> Edit) -> Vec<Part> {
    let _settled = libraries::settled();
    set.sites().iter().map(|sites| (Arc::clone(sites), edit())).collect()
}

fn no_function(index: &Index, pattern: &Pattern) -> Error {
    Error::NoFunction {
        pattern: pattern.to_string(),
        traced: index.names().count(),
        near: pattern.nearest(index.names()),
    }
}

#[cfg(all(not(any(loom, miri)), test))]
mod tests {
    use super::*;
    use crate::breakpoint::session::owner::SessionOwner;
    use crate::breakpoint::site::Site;
    use crate::breakpoint::site::site_ref::Library;
    use crate::breakpoint::state::generic_bp::Bp;
    use crate::breakpoint::state::limits::Limits;
    use crate::breakpoint::state::session_core::Destination;

    static GONE: Site = Site::new(&Function::new("patterns::gone/0", "", 0, &[]));
    static THERE: Site = Site::new(&Function::new("patterns::there/0", "", 0, &[]));

    #[tokio::test]
    async fn a_site_that_is_gone_leaves_the_counters_of_the_others() {
        let owner = SessionOwner::start(Limits::default(), Destination::Tracer, |_| ()).unwrap();
        let set = Arc::new(SetPattern::new("** do silent, count".parse().unwrap(), false));
        let library = Arc::new(Library::new());
        let sites = vec![SiteRef::of_library(&GONE, &library), SiteRef::of_program(&THERE)];
        // Marked after the selection, as by another thread.
        library.mark();
        let sites = Arc::new(sites.into());
        set.count_all(&sites).await.unwrap();
        owner.core.insert(&set, true).unwrap();
        change(&owner.core, vec![(sites, adding(&owner.core, &set))]).await.unwrap();
        let counter = Bp::of(&THERE).unwrap().with_active(|now| now.as_ref().unwrap().entries[0].counter.clone());
        assert!(Arc::ptr_eq(&counter.unwrap(), &set.counter(THERE.function()).unwrap()));
        assert!(Bp::of(&GONE).is_none());
        owner.end().await;
    }
}
