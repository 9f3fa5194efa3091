//! How patterns of a session come into force, are replaced and removed: which sites that concerns, and what is done there from then on.

use std::collections::HashSet;
use std::sync::Arc;

use crate::alloc;
use crate::breakpoint::error::Error;
use crate::breakpoint::libraries::{self, index::Index};
use crate::breakpoint::measure::counters::Counter;
use crate::breakpoint::pattern::Pattern;
use crate::breakpoint::setting::edit::{Edit, Edited};
use crate::breakpoint::setting::{Part, Setting};
use crate::breakpoint::site::site_ref::SiteRef;
use crate::breakpoint::site::sites::Sites;
use crate::breakpoint::state::data::BpData;
use crate::breakpoint::state::entry::BpEntry;
use crate::breakpoint::state::held_up::HeldUp;
use crate::breakpoint::state::session_core::SessionCore;
use crate::breakpoint::state::set::Set;
use crate::clock;
use crate::thread_progress;

/// Has the pattern in force at all sites that it selects, and at no other one the pattern that had its number before. Answers how
/// many functions it names. One that `is_new` has a number that no other has had.
pub(crate) async fn put(session: &Arc<SessionCore>, set: &Arc<Set>, is_new: bool) -> Result<usize, Error> {
    if set.measures_memory() && !alloc::counts() {
        return Err(Error::NotCounting);
    }
    let mut known = Vec::new();
    loop {
        let index = libraries::index();
        let sites = more(&index, set, &mut known).await;
        let functions = known.iter().map(|sites| sites.len()).sum();
        if functions == 0 && !set.is_default {
            return Err(no_function(&index, &set.pattern));
        }
        put_at(session, set, is_new, sites).await?;
        if functions == 0 && session.state.is_over() {
            return Err(Error::Over);
        }
        // Again, if others have come meanwhile, or the version of a module was replaced: nobody saw there that this is to be set.
        if libraries::settle(session, set, &index) {
            return Ok(functions);
        }
    }
}

async fn put_at(session: &Arc<SessionCore>, set: &Arc<Set>, is_new: bool, sites: Arc<Sites>) -> Result<(), Error> {
    if thread_progress::is_pinned() {
        return Err(Error::InView);
    }
    let counters = set.name_all(&sites).await?;
    let concerns_others = session.whose().prepare(set.pattern.match_spec().actions())?;
    let replaced = session.enter(set, is_new)?;
    let mut parts = vec![(Arc::clone(&sites), adding(session, set, counters))];
    if concerns_others {
        parts.extend(everywhere(session, || restricting(session)));
    }
    if let Some(replaced) = replaced {
        parts.extend(where_set(&replaced, || removing(session, &replaced)));
    }
    // First, so that whoever removes it finds all that may be set by then.
    set.add_sites(sites);
    match change(session, parts).await? {
        0 => Ok(()),
        _ if session.state.is_over() => Err(Error::Over),
        _ if set.is_superseded() => Err(Error::NoPattern { id: set.id }),
        left => Err(Error::TooManyPatterns { most: BpData::ENTRIES, left }),
    }
}

/// The sites that the pattern selects beside those that are `known`; then they are, too.
async fn more(index: &Index, set: &Set, known: &mut Vec<Arc<Sites>>) -> Arc<Sites> {
    let mut sites = index.selected(&set.pattern).await;
    if !known.is_empty() {
        known.iter_mut().for_each(|known| Arc::make_mut(known).retain(|site| !site.is_gone()));
        let addresses: HashSet<_> = known.iter().flat_map(|known| known.iter()).map(SiteRef::address).collect();
        sites.retain(|site| !addresses.contains(&site.address()));
    }
    let sites = Arc::new(sites);
    known.push(Arc::clone(&sites));
    sites
}

/// Removes a pattern that was taken off the session's list.
pub(crate) async fn remove(session: &Arc<SessionCore>, set: &Arc<Set>) {
    // Only a pinned thread is refused, and none polls this.
    let _ = change(session, where_set(set, || removing(session, set))).await;
}

/// Removes the breakpoints of a session that is over, which therefore gets no new ones.
pub(crate) async fn remove_all(session: &Arc<SessionCore>) {
    let of_it = || {
        let removed = Arc::clone(session);
        leaving(session, move |entry| Arc::ptr_eq(&entry.session, &removed))
    };
    if change(session, everywhere(session, of_it)).await.is_err() {
        // The session's drop sees to it, in the background.
        return;
    }
    session.sets().iter().for_each(|set| set.sites().clear());
    // Its thread may have the session for a while yet, and others are waiting for these.
    session.whose().flags = None;
}

/// Has the session look at the calls of its processes of now, at all its breakpoints.
pub(crate) async fn restrict(session: &Arc<SessionCore>) {
    // Only a pinned thread is refused, and none polls this.
    let _ = change(session, everywhere(session, || restricting(session))).await;
}

/// Adds a pattern of the session.
fn adding(session: &Arc<SessionCore>, set: &Arc<Set>, counters: Option<Vec<Arc<Counter>>>) -> Edit {
    let (session, set) = (Arc::clone(session), Arc::clone(set));
    let add = move |before: &[BpEntry], counter| {
        let mut entries = as_of_now(before, &session);
        // A new version of a module has it from the one before, if that had it by then.
        let is_there = entries.iter().any(|entry| Arc::ptr_eq(&entry.set, &set));
        let is_over = session.state.is_over() || set.is_superseded();
        let is_left = is_over || (entries.len() == BpData::ENTRIES && !is_there);
        if !is_left && !is_there {
            entries.push(BpEntry::new(Arc::clone(&session), Arc::clone(&set), counter));
        }
        Some(Edited { entries, is_left })
    };
    match counters {
        None => Edit::of_all(move |before| add(before, None)),
        Some(counters) => {
            let mut counters = counters.into_iter();
            Edit::of_each(move |before| add(before, counters.next()))
        }
    }
}

/// Has the session's entries be about whom it is about by now.
fn restricting(session: &Arc<SessionCore>) -> Edit {
    leaving(session, |_| true)
}

/// Takes away the entries of a pattern that is superseded, and touches no breakpoint that has none.
fn removing(session: &Arc<SessionCore>, set: &Arc<Set>) -> Edit {
    let set = Arc::clone(set);
    leaving(session, move |entry| Arc::ptr_eq(&entry.set, &set))
}

/// Leaves what is to be there by now, where one of the entries is such.
fn leaving(session: &Arc<SessionCore>, is_concerned: impl Fn(&BpEntry) -> bool + Send + 'static) -> Edit {
    let session = Arc::clone(session);
    Edit::of_all(move |before| before.iter().any(&is_concerned).then(|| as_of_now(before, &session).into()))
}

/// The entries as they are to be by now: without those of sessions that are over and of patterns that are superseded, which may still
/// wait for their removal; those of the session are about whom it is about.
fn as_of_now(before: &[BpEntry], session: &Arc<SessionCore>) -> Vec<BpEntry> {
    let is_wanted = |entry: &&BpEntry| !entry.session.state.is_over() && !entry.set.is_superseded();
    let mut entries: Vec<_> = before.iter().filter(is_wanted).cloned().collect();
    entries.iter_mut().filter(|entry| Arc::ptr_eq(&entry.session, session)).for_each(BpEntry::restrict);
    entries
}

/// Has the edits in force at their sites, and notes who held that up. Answers at how many sites an edit could not do what it
/// is for.
///
/// # Errors
///
/// [`Error::InView`]: then it is changed nowhere, or everywhere in the background.
async fn change(session: &SessionCore, parts: Vec<Part>) -> Result<usize, Error> {
    // By then a call may want to know how long it took; and afterwards it is known better.
    clock::refine();
    let ended = Setting::new(parts).await;
    if ended.is_refused {
        return Err(Error::InView);
    }
    clock::refine();
    let held_up = ended.held_up.map(|late| HeldUp::until_now(&late));
    let mut longest = session.held_up();
    *longest = longest.take().into_iter().chain(held_up).max_by_key(|held_up| held_up.time);
    Ok(ended.left)
}

/// The edit at all sites where the session may have breakpoints.
fn everywhere(session: &SessionCore, edit: impl Fn() -> Edit) -> Vec<Part> {
    let sets = session.sets().clone();
    sets.iter().flat_map(|set| where_set(set, &edit)).collect()
}

/// The edit at all sites where the pattern may have breakpoints.
fn where_set(set: &Set, edit: impl Fn() -> Edit) -> Vec<Part> {
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
