//! Models: every order of steps of a writer and its readers. Loom reports a thread that reads a generation while it is written, or a
//! breakpoint while it is freed.
//!
//! The writer takes all steps of a setting, and blocks its thread to wait. The limits of the models of thread progress apply.

use std::future::Future;
use std::pin::pin;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, atomic};
use std::task::{Context, Poll, Waker};

use dyntrace_probes::primitives::atomic::Ordering;
use dyntrace_probes::primitives::thread;
use dyntrace_probes::thread_progress;

use crate::breakpoint::libraries::evict;
use crate::breakpoint::setting::edit::Edit;
use crate::breakpoint::setting::sequence;
use crate::breakpoint::site::asked::Asked;
use crate::breakpoint::site::site_ref::{Library, SiteRef};
use crate::breakpoint::site::{Function, Site};
use crate::breakpoint::state::entry::BpEntry;
use crate::breakpoint::state::generic_bp::with_active;
use crate::breakpoint::state::limits::Limits;
use crate::breakpoint::state::session_core::{Destination, SessionCore};
use crate::breakpoint::state::set_pattern::SetPattern;
use crate::permission;

const FUNCTION: &Function = &Function::new("model::function/0", "", 0, &[]);

fn model(interrupted: usize, model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(interrupted);
    builder.check(model);
}

fn new_site() -> &'static Site {
    Box::leak(Box::new(Site::new(FUNCTION)))
}

/// Returns the number of entries that the function finds.
fn hit(site: &'static Site) -> usize {
    if !site.is_set() {
        return 0;
    }
    let found = thread_progress::pin().map(|pin| with_active(&pin, site, |data| data.entries.len()));
    match found {
        Some(Err(Asked)) => {
            site.take_mark();
            hit(site)
        }
        Some(Ok(found)) => found.unwrap_or(0),
        None => 0,
    }
}

fn entry() -> BpEntry {
    let (events, _) = sync_channel(1);
    let shared = Arc::new(SessionCore::new(Limits::default(), Destination::Tracer, events));
    BpEntry::new(shared, Arc::new(SetPattern::new("**".parse().unwrap(), false)), None)
}

/// Gives the sites `entries` entries.
fn set(sites: &[&'static Site], entries: usize, is_abandoned: &Arc<AtomicBool>) -> usize {
    set_at(sites.iter().map(|site| SiteRef::of_program(site)).collect(), entries, is_abandoned)
}

fn set_at(sites: Vec<SiteRef>, entries: usize, is_abandoned: &Arc<AtomicBool>) -> usize {
    let edit = Edit::of_all(move |before| {
        let more = (before.len()..entries).map(|_| entry());
        let after: Vec<_> = before.iter().take(entries).cloned().chain(more).collect();
        Some(after.into())
    });
    let parts = vec![(Arc::new(sites.into()), edit)];
    let mut sequence = pin!(async { sequence(permission::acquire().await, parts, Arc::clone(is_abandoned)).await });
    match sequence.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(ended) => ended.changed,
        Poll::Pending => unreachable!("here waits block, and nobody else wants the permission"),
    }
}

fn never() -> Arc<AtomicBool> {
    Arc::default()
}

#[test]
fn loom_breakpoint_is_added_and_removed_under_two_readers() {
    model(2, || {
        let site = new_site();
        let readers = [(); 2].map(|()| thread::spawn(move || assert!(hit(site) <= 1)));
        set(&[site], 1, &never());
        assert_eq!(hit(site), 1);
        set(&[site], 0, &never());
        assert_eq!(hit(site), 0);
        readers.into_iter().for_each(|reader| reader.join().unwrap());
    });
}

#[test]
fn loom_breakpoint_is_updated_under_two_readers() {
    model(2, || {
        let site = new_site();
        set(&[site], 1, &never());
        let readers = [(); 2].map(|()| {
            thread::spawn(move || {
                let first = hit(site);
                assert!(first == 1 || first == 2);
                assert!(hit(site) >= first, "what was set is not unset");
            })
        });
        set(&[site], 2, &never());
        readers.into_iter().for_each(|reader| reader.join().unwrap());
        set(&[site], 0, &never());
    });
}

/// A thread that has seen one of two sites set sees the other one set, too.
#[test]
fn loom_breakpoint_sites_are_set_at_one_instant() {
    model(2, || {
        let sites = [new_site(), new_site()];
        let readers = [sites, [sites[1], sites[0]]].map(|[one, other]| {
            thread::spawn(move || {
                if hit(one) == 1 {
                    assert_eq!(hit(other), 1);
                }
            })
        });
        set(&sites, 1, &never());
        readers.into_iter().for_each(|reader| reader.join().unwrap());
        set(&sites, 0, &never());
    });
}

/// Settings at other sites leave a breakpoint as it is.
#[test]
fn loom_breakpoint_of_others_stays() {
    model(2, || {
        let [site, other] = [new_site(), new_site()];
        set(&[other], 1, &never());
        let readers = [(); 2].map(|()| thread::spawn(move || assert_eq!(hit(other), 1)));
        set(&[site], 1, &never());
        readers.into_iter().for_each(|reader| reader.join().unwrap());
        set(&[site, other], 0, &never());
    });
}

/// A setting of one of two sites that share a breakpoint leaves the other as it is.
#[test]
fn loom_breakpoint_is_shared_until_one_site_changes() {
    model(2, || {
        let [site, other] = [new_site(), new_site()];
        set(&[site, other], 1, &never());
        assert_eq!(site.word().load(Ordering::Relaxed), other.word().load(Ordering::Relaxed));
        let readers = [(); 2].map(|()| {
            thread::spawn(move || {
                let first = hit(site);
                assert!(first == 1 || first == 2);
                assert_eq!(hit(other), 1);
                assert!(hit(site) >= first, "what was set is not unset");
            })
        });
        set(&[site], 2, &never());
        readers.into_iter().for_each(|reader| reader.join().unwrap());
        set(&[site, other], 0, &never());
        assert!(!site.is_set() && !other.is_set());
    });
}

/// A library leaves during a setting. Its memory is not touched afterwards, and its breakpoint is freed once.
#[test]
fn loom_breakpoint_library_leaves() {
    model(3, || {
        let site = new_site();
        let library = Arc::new(Library::new());
        let reference = SiteRef::of_library(site, &library);
        let setter = thread::spawn(move || set_at(vec![reference], 1, &never()));
        library.mark();
        let orphans = evict(std::slice::from_ref(site));
        // Following it would crash the test.
        let other = std::ptr::without_provenance_mut(8);
        site.word().store(other, Ordering::Relaxed);
        setter.join().unwrap();
        assert_eq!(site.word().load(Ordering::Relaxed), other);
        // SAFETY: in no word any more; the setting that may have found it has ended.
        orphans.into_iter().for_each(|orphan| unsafe { orphan.free() });
    });
}

/// A setting abandoned at any time takes effect as a whole or not at all, and the next one works.
#[test]
fn loom_breakpoint_setting_is_abandoned() {
    model(2, || {
        let [site, updated] = [new_site(), new_site()];
        set(&[updated], 1, &never());
        let is_abandoned = never();
        let setter = {
            let is_abandoned = Arc::clone(&is_abandoned);
            thread::spawn(move || {
                thread::yield_now();
                is_abandoned.store(true, atomic::Ordering::Relaxed);
            })
        };
        let readers = [(); 2].map(|()| {
            thread::spawn(move || {
                let seen = hit(updated);
                assert!(seen == 1 || seen == 2);
                assert!(hit(site) <= 2);
            })
        });
        let changed = set(&[site, updated], 2, &is_abandoned);
        let expected = if changed == 2 { [2, 2] } else { [0, 1] };
        assert_eq!([site, updated].map(hit), expected);
        // The next commit does not bring back abandoned changes.
        set(&[new_site()], 1, &never());
        assert_eq!([site, updated].map(hit), expected);
        setter.join().unwrap();
        readers.into_iter().for_each(|reader| reader.join().unwrap());
    });
}

/// Another process asks for the control socket by the word while a setting adds and removes its breakpoint.
#[test]
fn loom_breakpoint_is_marked_by_another_process() {
    model(2, || {
        let site = new_site();
        let asking = thread::spawn(move || site.mark());
        let reader = thread::spawn(move || assert!(hit(site) <= 1));
        set(&[site], 1, &never());
        assert_eq!(hit(site), 1);
        asking.join().unwrap();
        assert_eq!(hit(site), 1, "a mark hides no breakpoint");
        set(&[site], 0, &never());
        assert_eq!(hit(site), 0);
        assert!(!site.is_set());
        reader.join().unwrap();
    });
}
