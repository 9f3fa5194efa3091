//! The host's interface: the functions and state that guests use, in one table; and how a copy of this crate becomes a guest.
//!
//! Fingerprints make sure that both copies were compiled from the same sources by the same compiler. So the table means the same to both.

use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use dyntrace_probes::clock;
use dyntrace_probes::host;
use dyntrace_probes::rings::{self, host::HostRecorder};
use dyntrace_probes::thread_progress;

use super::allocator;
use crate::breakpoint;
use crate::recorder;
use dyntrace_processes::process;
use dyntrace_processes::scope;
use dyntrace_processes::sequence::era::{self, Era};
use dyntrace_processes::tag::{self, TagState, entered, entered::EnteredTags};

/// The host's functions and state for its guests, by room.
#[repr(C)]
struct HostInterface {
    allocator: &'static allocator::HostCalls,
    thread_progress: &'static thread_progress::ForGuests,
    clock: &'static clock::HostClock,
    tag: &'static scope::ForGuests<TagState>,
    any_tag: &'static AtomicBool,
    any_tag_spreads: &'static AtomicBool,
    entered_tags: &'static scope::ForGuests<EnteredTags>,
    any_tag_entered: &'static AtomicBool,
    processes: &'static scope::ForGuests<Option<process::Process>>,
    process: &'static process::ForGuests,
    era_of_tokens: fn() -> &'static Era,
    recorder: &'static HostRecorder,
    breakpoint: &'static breakpoint::HostCalls,
}

/// The interface of this copy, for the modules that it loads.
static INTERFACE: HostInterface = HostInterface {
    allocator: &allocator::HOST_CALLS,
    thread_progress: &thread_progress::FOR_GUESTS,
    clock: &clock::HOST_CLOCK,
    tag: &tag::FOR_GUESTS,
    any_tag: tag::ANY.own(),
    any_tag_spreads: tag::ANY_SPREADS.own(),
    entered_tags: &entered::FOR_GUESTS,
    any_tag_entered: entered::ANY_ENTERED.own(),
    processes: &process::SLOT_FOR_GUESTS,
    process: &process::FOR_GUESTS,
    era_of_tokens: era::own,
    recorder: &recorder::HOST_RECORDER,
    breakpoint: &breakpoint::HOST_CALLS,
};

/// The address of the host's interface, in a module's file. The host writes it into the copy that it loads, so that the module is a
/// guest before its other constructors run, which may allocate and start threads.
#[doc(hidden)]
#[derive(Debug)]
#[repr(transparent)]
pub struct HostAddress(AtomicUsize);

/// Its symbol name in a module's file.
pub(crate) const SYMBOL: &str = "__dyntrace_host";

impl HostAddress {
    /// The value as compiled. Not zero, so that it takes bytes in the file.
    pub const fn unset() -> HostAddress {
        HostAddress(AtomicUsize::new(usize::MAX))
    }

    /// The bytes to write into the file of a guest of this copy.
    pub(crate) fn for_guests() -> [u8; size_of::<usize>()] {
        ptr::from_ref(&INTERFACE).expose_provenance().to_ne_bytes()
    }

    /// Makes this copy a guest, if a host has loaded it. The module's first constructor calls it.
    pub fn enter(&self) {
        match self.0.load(Ordering::Relaxed) {
            usize::MAX => {}
            // SAFETY: a host with the same fingerprint has written the address of its own static there. This is the first
            // constructor that runs.
            host => unsafe { become_guest(&*ptr::with_exposed_provenance(host)) },
        }
    }
}

/// Makes this copy a guest of the copy with this interface. Does nothing in a guest, nor in that copy itself: a library that shares the
/// program's copy is no guest.
///
/// # Safety
///
/// The host is a copy with the same [fingerprint](super::fingerprint::OWN_FINGERPRINT) and outlives this one. No other code of this
/// copy has run yet, or runs meanwhile.
unsafe fn become_guest(host: &'static HostInterface) {
    if ptr::eq(host, &INTERFACE) || host::is_guest() {
        return;
    }
    host::enter();
    allocator::HOST.install(host.allocator);
    thread_progress::enter(host.thread_progress);
    clock::enter(host.clock);
    tag::TAGS.enter(host.tag);
    tag::ANY.enter(host.any_tag);
    tag::ANY_SPREADS.enter(host.any_tag_spreads);
    entered::ENTERED.enter(host.entered_tags);
    entered::ANY_ENTERED.enter(host.any_tag_entered);
    process::PROCESS.enter(host.processes);
    process::HOST.install(host.process);
    era::enter((host.era_of_tokens)());
    rings::host::enter(host.recorder);
    breakpoint::enter(host.breakpoint);
}
