//! How patterns of a session come into force, are replaced and removed: which sites that concerns, and what is done there from then on.

use std::collections::HashSet;
use std::sync::Arc;

use super::Error;
use super::counters::Counter;
use super::data::{BpData, Entry};
use super::edit::{Edit, Edited};
use super::index::Index;
use super::libraries;
use super::set::Set;
use super::shared::{Shared, everywhere};
use super::site_ref::SiteRef;
use super::sites::Sites;
use crate::alloc;
use crate::thread_progress;

/// Has the pattern in force at all sites that it selects, and at no other one the pattern that had its number before. Answers how
/// many functions it names. One that `is_new` has a number that no other has had.
pub(super) async fn put(session: &Arc<Shared>, set: &Arc<Set>, is_new: bool) -> Result<usize, Error> {
    if set.measures_memory() && !alloc::counts() {
        return Err(Error::NotCounting);
    }
    let mut known = Vec::new();
    loop {
        let index = libraries::index();
        let sites = more(&index, set, &mut known).await;
        let functions = known.iter().map(|sites| sites.len()).sum();
        if functions == 0 && !set.is_default {
            return Err(Error::no_function(&set.pattern));
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

async fn put_at(session: &Arc<Shared>, set: &Arc<Set>, is_new: bool, sites: Arc<Sites>) -> Result<(), Error> {
    if thread_progress::is_pinned() {
        return Err(Error::InView);
    }
    let counters = set.name_all(&sites).await?;
    let concerns_others = session.whose().prepare(set.pattern.match_spec().actions())?;
    let replaced = session.enter(set, is_new)?;
    let mut parts = vec![(Arc::clone(&sites), adding(session, set, counters))];
    if concerns_others {
        parts.extend(session.everywhere(|| restricting(session)));
    }
    if let Some(replaced) = replaced {
        parts.extend(everywhere(&replaced, || removing(session, &replaced)));
    }
    // First, so that whoever removes it finds all that may be set by then.
    set.add_sites(sites);
    match session.change(parts).await? {
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
pub(super) async fn remove(session: &Arc<Shared>, set: &Arc<Set>) {
    // Only a pinned thread is refused, and none polls this.
    let _ = session.change(everywhere(set, || removing(session, set))).await;
}

/// Removes the breakpoints of a session that is over, which therefore gets no new ones.
pub(super) async fn remove_all(session: &Arc<Shared>) {
    let of_it = || {
        let removed = Arc::clone(session);
        leaving(session, move |entry| Arc::ptr_eq(&entry.session, &removed))
    };
    if session.change(session.everywhere(of_it)).await.is_err() {
        // The session's drop sees to it, in the background.
        return;
    }
    session.sets().iter().for_each(|set| set.sites().clear());
    // Its thread may have the session for a while yet, and others are waiting for these.
    session.whose().flags = None;
}

/// Adds a pattern of the session.
fn adding(session: &Arc<Shared>, set: &Arc<Set>, counters: Option<Vec<Arc<Counter>>>) -> Edit {
    let (session, set) = (Arc::clone(session), Arc::clone(set));
    let add = move |before: &[Entry], counter| {
        let mut entries = as_of_now(before, &session);
        // A new version of a module has it from the one before, if that had it by then.
        let is_there = entries.iter().any(|entry| Arc::ptr_eq(&entry.set, &set));
        let is_over = session.state.is_over() || set.is_superseded();
        let is_left = is_over || (entries.len() == BpData::ENTRIES && !is_there);
        if !is_left && !is_there {
            entries.push(Entry::new(Arc::clone(&session), Arc::clone(&set), counter));
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
pub(super) fn restricting(session: &Arc<Shared>) -> Edit {
    leaving(session, |_| true)
}

/// Takes away the entries of a pattern that is superseded, and touches no breakpoint that has none.
fn removing(session: &Arc<Shared>, set: &Arc<Set>) -> Edit {
    let set = Arc::clone(set);
    leaving(session, move |entry| Arc::ptr_eq(&entry.set, &set))
}

/// Leaves what is to be there by now, where one of the entries is such.
fn leaving(session: &Arc<Shared>, is_concerned: impl Fn(&Entry) -> bool + Send + 'static) -> Edit {
    let session = Arc::clone(session);
    Edit::of_all(move |before| before.iter().any(&is_concerned).then(|| as_of_now(before, &session).into()))
}

/// The entries as they are to be by now: without those of sessions that are over and of patterns that are superseded, which may still
/// wait for their removal; those of the session are about whom it is about.
fn as_of_now(before: &[Entry], session: &Arc<Shared>) -> Vec<Entry> {
    let is_wanted = |entry: &&Entry| !entry.session.state.is_over() && !entry.set.is_superseded();
    let mut entries: Vec<_> = before.iter().filter(is_wanted).cloned().collect();
    entries.iter_mut().filter(|entry| Arc::ptr_eq(&entry.session, session)).for_each(Entry::restrict);
    entries
}
