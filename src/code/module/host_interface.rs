//! All doors of a host in one table, and how a copy of this crate becomes its guest.
//!
//! Both sides are compiled from the same text by the same compiler, which fingerprints see to; so the tables of the rooms mean the
//! same to both.

use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::allocator;
use crate::breakpoint;
use crate::clock;
use crate::host;
use crate::process;
use crate::recorder;
use crate::scope;
use crate::sequence::era::{self, Era};
use crate::tag::{self, TagState};
use crate::thread_progress;

/// Number of this form of descriptors, and of the table of doors.
pub const FORM: u32 = 1;

/// What the host does for its guests, room by room.
#[repr(C)]
struct HostInterface {
    form: u32,
    allocator: &'static allocator::HostCalls,
    thread_progress: &'static thread_progress::Door,
    clock: &'static clock::HostClock,
    tag: &'static scope::Door<TagState>,
    any_tag_spreads: &'static AtomicBool,
    processes: &'static scope::Door<Option<process::Process>>,
    process: &'static process::Door,
    era_of_tokens: fn() -> &'static Era,
    recorder: &'static recorder::HostRecorder,
    breakpoint: &'static breakpoint::HostCalls,
}

/// The doors of this copy, for the modules that it loads.
static INTERFACE: HostInterface = HostInterface {
    form: FORM,
    allocator: &allocator::HOST_CALLS,
    thread_progress: &thread_progress::DOOR,
    clock: &clock::HOST_CLOCK,
    tag: &tag::DOOR,
    any_tag_spreads: tag::ANY_SPREADS.own(),
    processes: &process::SLOT_DOOR,
    process: &process::DOOR,
    era_of_tokens: era::own,
    recorder: &recorder::HOST_RECORDER,
    breakpoint: &breakpoint::HOST_CALLS,
};

/// Where a module's file has the address of its host's doors. The host writes it into the copy that it loads: so a module is a guest
/// before its constructors run, which may take memory and start threads.
#[doc(hidden)]
#[derive(Debug)]
#[repr(transparent)]
pub struct HostAddress(AtomicUsize);

/// The place's name in a module's file.
pub(crate) const SYMBOL: &str = "__dyntrace_host";

impl HostAddress {
    /// As it is compiled. Not zero, so that the file has bytes for it.
    pub const fn unset() -> HostAddress {
        HostAddress(AtomicUsize::new(usize::MAX))
    }

    /// The bytes that the file of a guest of this copy has there.
    pub(crate) fn for_guests() -> [u8; size_of::<usize>()] {
        ptr::from_ref(&INTERFACE).expose_provenance().to_ne_bytes()
    }

    /// The module's first constructor: makes this copy a guest, if a host has loaded it.
    pub fn enter(&self) {
        match self.0.load(Ordering::Relaxed) {
            usize::MAX => {}
            // SAFETY: a host with the same fingerprint has written its own doors' address there, which stay. This is the first
            // constructor that runs.
            doors => unsafe { become_guest(&*ptr::with_exposed_provenance(doors)) },
        }
    }
}

/// Makes this copy a guest of the one whose doors these are. Does nothing if it is one already, nor in that one itself: a library
/// that shares the program's copy is no guest.
///
/// # Safety
///
/// The host is a copy with the same [fingerprint](super::fingerprint::FINGERPRINT), and stays longer than this one. Nothing of
/// this copy has run yet, and nothing runs meanwhile.
unsafe fn become_guest(host: &'static HostInterface) {
    if ptr::eq(host, &INTERFACE) || host::is_guest() {
        return;
    }
    host::enter();
    allocator::HOST.install(host.allocator);
    thread_progress::enter(host.thread_progress);
    clock::enter(host.clock);
    tag::TAGS.enter(host.tag);
    tag::ANY_SPREADS.enter(host.any_tag_spreads);
    process::PROCESS.enter(host.processes);
    process::HOST.install(host.process);
    era::enter((host.era_of_tokens)());
    recorder::enter(host.recorder);
    breakpoint::enter(host.breakpoint);
}

impl std::fmt::Debug for HostInterface {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HostInterface").field("form", &self.form).finish_non_exhaustive()
    }
}
