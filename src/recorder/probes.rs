//! All probes: the program's, and those of modules that are loaded and unloaded.
//!
//! A *class* is the name and arguments of a probe. Its id is permanent, since traces contain it. Probes of several modules, or of a module
//! and the program, that have the same name and arguments are of one class. The lists here are changed under the lock of the sessions, and
//! read without a lock: in a forked child, a thread that is gone may hold one.

use std::iter;
use std::ptr;
use std::slice;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize};

use dyntrace_probes::rings::descriptor::{self, Argument, Descriptor, ProbeEntry};
use dyntrace_probes::rings::form::Form;

/// All classes, in the order of their ids; null while there are only the program's. A replaced list is never freed: modules rarely bring
/// new classes.
static CLASSES: AtomicPtr<Vec<&'static Descriptor>> = AtomicPtr::new(ptr::null_mut());

/// The probes of a module's version, or an unused entry.
struct Version {
    first: AtomicPtr<ProbeEntry>,
    /// Zero if unused.
    length: AtomicUsize,
    next: AtomicPtr<Version>,
}

static VERSIONS: AtomicPtr<Version> = AtomicPtr::new(ptr::null_mut());

/// All classes, in the order of their ids.
pub(super) fn classes() -> &'static [&'static Descriptor] {
    // SAFETY: null, or a list that is never freed.
    match unsafe { CLASSES.load(Acquire).as_ref() } {
        Some(classes) => classes,
        None => descriptor::probes(),
    }
}

/// All probes present. The caller holds the lock of the sessions, or is a forked child's only thread.
pub(super) fn present() -> impl Iterator<Item = &'static Descriptor> {
    // SAFETY: `add` stored both parts of a slice that stays until `remove` has returned. The lock, or being the child's only thread, keeps
    // `remove` from running meanwhile.
    let of_modules = versions().flat_map(|version| unsafe {
        slice::from_raw_parts(version.first.load(Relaxed), version.length.load(Acquire))
    });
    descriptor::probes().iter().copied().chain(of_modules.filter_map(ProbeEntry::descriptor))
}

fn versions() -> impl Iterator<Item = &'static Version> {
    entries().filter(|version| version.length.load(Acquire) != 0)
}

fn entries() -> impl Iterator<Item = &'static Version> {
    // SAFETY: null, or an entry that is never freed.
    let at = |next: &AtomicPtr<Version>| unsafe { next.load(Acquire).as_ref() };
    iter::successors(at(&VERSIONS), move |version| at(&version.next))
}

/// Adds the probes of a module's version. Returns whether there are new classes. The caller holds the lock of the sessions.
///
/// # Safety
///
/// They stay until [`remove`] has returned.
pub(super) unsafe fn add(added: &'static [ProbeEntry]) -> bool {
    let new = added.iter().filter_map(ProbeEntry::descriptor);
    let mut all = classes().to_vec();
    for probe in new {
        let known = all.iter().position(|class| class.is_like(probe));
        let id = known.unwrap_or_else(|| {
            all.push(kept(probe));
            all.len() - 1
        });
        // Each class has an id of events for each form. The probes of the last possible class and of those after it are not recorded.
        probe.set_id(u16::try_from(id).unwrap_or(u16::MAX).min(Form::CLASSES));
    }
    let are_new = all.len() > classes().len();
    if are_new {
        // Release: with `classes`.
        CLASSES.store(Box::into_raw(Box::new(all)), Release);
    }
    let free = entries().find(|version| version.length.load(Relaxed) == 0).unwrap_or_else(new_entry);
    free.first.store(added.as_ptr().cast_mut(), Relaxed);
    // Release: with `versions`.
    free.length.store(added.len(), Release);
    are_new
}

fn new_entry() -> &'static Version {
    let next = AtomicPtr::new(VERSIONS.load(Relaxed));
    let version = Version { first: AtomicPtr::new(ptr::null_mut()), length: AtomicUsize::new(0), next };
    let version = Box::into_raw(Box::new(version));
    // Release: with `entries`.
    VERSIONS.store(version, Release);
    // SAFETY: made above, and never freed.
    unsafe { &*version }
}

/// Removes the probes of a module's version. The caller holds the lock of the sessions.
pub(super) fn remove(removed: &'static [ProbeEntry]) {
    for version in versions().filter(|version| ptr::eq(version.first.load(Relaxed), removed.as_ptr())) {
        // Release: with `versions`.
        version.length.store(0, Release);
    }
    // The version may stay in memory, and no session that ends would clear its probes.
    removed.iter().filter_map(ProbeEntry::descriptor).for_each(Descriptor::clear_sessions);
}

/// A copy of the descriptor, which stays when the module is unloaded.
fn kept(probe: &Descriptor) -> &'static Descriptor {
    static NO_WORD: AtomicU32 = AtomicU32::new(0);
    let text = |text: &str| -> &'static str { Box::leak(Box::from(text)) };
    let argument = |argument: &Argument| Argument { name: text(argument.name), kind: argument.kind };
    let arguments = Vec::leak(probe.arguments.iter().map(argument).collect());
    Box::leak(Box::new(Descriptor::new(text(probe.provider), text(probe.name), arguments, || &raw const NO_WORD)))
}
