//! Which probes there are: the program's, and those of modules that come and go.
//!
//! A *class* is what events of a probe look like: its name and arguments. Its id is good for ever, since traces have it; probes of
//! several modules, or of a module and the program, that are called the same and have the same arguments are of one class. What is here
//! is changed by who has the lock of the sessions, and read without a lock: in a forked child nobody may have one.

use std::iter;
use std::ptr;
use std::slice;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize};

use super::descriptor::{self, Argument, Descriptor, ProbeEntry};

/// All classes but the program's, in the order of their ids: one of these lists is never freed. There are few, as modules bring
/// new classes rarely.
static CLASSES: AtomicPtr<Vec<&'static Descriptor>> = AtomicPtr::new(ptr::null_mut());

/// The probes of a module's version, or a place for those of one that comes.
struct Version {
    first: AtomicPtr<ProbeEntry>,
    /// Zero if the place is free.
    length: AtomicUsize,
    next: AtomicPtr<Version>,
}

static VERSIONS: AtomicPtr<Version> = AtomicPtr::new(ptr::null_mut());

/// Every class, in the order of the ids of their events.
pub(super) fn classes() -> &'static [&'static Descriptor] {
    // SAFETY: null, or a list that is never freed.
    match unsafe { CLASSES.load(Acquire).as_ref() } {
        Some(classes) => classes,
        None => descriptor::probes(),
    }
}

/// Every probe that is there. The caller has the lock of the sessions, or is a forked child's only thread.
pub(super) fn present() -> impl Iterator<Item = &'static Descriptor> {
    // SAFETY: as in `versions`.
    let of_modules = versions().flat_map(|version| unsafe {
        slice::from_raw_parts(version.first.load(Relaxed), version.length.load(Acquire))
    });
    descriptor::probes().iter().copied().chain(of_modules.filter_map(ProbeEntry::descriptor))
}

/// Those that are there.
fn versions() -> impl Iterator<Item = &'static Version> {
    places().filter(|version| version.length.load(Acquire) != 0)
}

fn places() -> impl Iterator<Item = &'static Version> {
    // SAFETY: null, or a place that is never freed.
    let at = |place: &AtomicPtr<Version>| unsafe { place.load(Acquire).as_ref() };
    iter::successors(at(&VERSIONS), move |version| at(&version.next))
}

/// Adds the probes of a module's version; whether there are new classes. The caller has the lock of the sessions.
///
/// # Safety
///
/// They stay until [`remove`] has returned.
pub(super) unsafe fn add(entries: &'static [ProbeEntry]) -> bool {
    let new = entries.iter().filter_map(ProbeEntry::descriptor);
    let mut all = classes().to_vec();
    for probe in new {
        let known = all.iter().position(|class| class.is_like(probe));
        let id = known.unwrap_or_else(|| {
            all.push(kept(probe));
            all.len() - 1
        });
        // What has no id that fits is not recorded.
        probe.set_id(u16::try_from(id).unwrap_or(u16::MAX));
    }
    let are_new = all.len() > classes().len();
    if are_new {
        // Release: who sees the list sees what is in it.
        CLASSES.store(Box::into_raw(Box::new(all)), Release);
    }
    let free = places().find(|version| version.length.load(Relaxed) == 0).unwrap_or_else(new_place);
    free.first.store(entries.as_ptr().cast_mut(), Relaxed);
    // Release: with `versions`.
    free.length.store(entries.len(), Release);
    are_new
}

fn new_place() -> &'static Version {
    let next = AtomicPtr::new(VERSIONS.load(Relaxed));
    let version = Version { first: AtomicPtr::new(ptr::null_mut()), length: AtomicUsize::new(0), next };
    let version = Box::into_raw(Box::new(version));
    // Release: with `places`.
    VERSIONS.store(version, Release);
    // SAFETY: made above, and never freed.
    unsafe { &*version }
}

/// Removes the probes of a module's version. The caller has the lock of the sessions.
pub(super) fn remove(entries: &'static [ProbeEntry]) {
    for version in versions().filter(|version| ptr::eq(version.first.load(Relaxed), entries.as_ptr())) {
        version.length.store(0, Release);
    }
    // It may stay in memory, where no session that ends would tell its probes.
    entries.iter().filter_map(ProbeEntry::descriptor).for_each(Descriptor::clear_sessions);
}

/// What stays of a probe when its module is gone.
fn kept(probe: &Descriptor) -> &'static Descriptor {
    static NO_WORD: AtomicU32 = AtomicU32::new(0);
    let text = |text: &str| -> &'static str { Box::leak(Box::from(text)) };
    let argument = |argument: &Argument| Argument { name: text(argument.name), kind: argument.kind };
    let arguments = Vec::leak(probe.arguments.iter().map(argument).collect());
    Box::leak(Box::new(Descriptor::new(text(probe.provider), text(probe.name), arguments, || &raw const NO_WORD)))
}
