//! All doors of a host in one table, and how a copy of this crate becomes its guest.
//!
//! Both sides are compiled from the same text by the same compiler, which fingerprints see to; so the tables of the rooms mean the
//! same to both.

use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::allocator;
use super::descriptor::FORM;
use crate::breakpoint;
use crate::clock;
use crate::host;
use crate::process;
use crate::recorder;
use crate::scope;
use crate::seq_trace::era::{self, Era};
use crate::tag::{self, TagData};
use crate::thread_progress;

/// What the host does for its guests, room by room.
#[repr(C)]
struct Doors {
    form: u32,
    allocator: &'static allocator::Door,
    thread_progress: &'static thread_progress::Door,
    clock: &'static clock::HostClock,
    tag: &'static scope::Door<TagData>,
    any_tag_spreads: &'static AtomicBool,
    processes: &'static scope::Door<Option<process::Process>>,
    process: &'static process::Door,
    era_of_tokens: fn() -> &'static Era,
    recorder: &'static recorder::HostRecorder,
    breakpoint: &'static breakpoint::Door,
}

/// The doors of this copy, for the modules that it loads.
static DOORS: Doors = Doors {
    form: FORM,
    allocator: &allocator::DOOR,
    thread_progress: &thread_progress::DOOR,
    clock: &clock::HOST_CLOCK,
    tag: &tag::DOOR,
    any_tag_spreads: tag::ANY_SPREADS.own(),
    processes: &process::SLOT_DOOR,
    process: &process::DOOR,
    era_of_tokens: era::own,
    recorder: &recorder::HOST_RECORDER,
    breakpoint: &breakpoint::DOOR,
};

/// Where a module's file has the address of its host's doors. The host writes it into the copy that it loads: so a module is a guest
/// before its constructors run, which may take memory and start threads.
#[doc(hidden)]
#[derive(Debug)]
#[repr(transparent)]
pub struct HostPlace(AtomicUsize);

/// The place's name in a module's file.
pub(super) const PLACE: &str = "__dyntrace_host";

impl HostPlace {
    /// As it is compiled. Not zero, so that the file has bytes for it.
    pub const fn nobody() -> HostPlace {
        HostPlace(AtomicUsize::new(usize::MAX))
    }

    /// The bytes that the file of a guest of this copy has there.
    pub(super) fn of_guests() -> [u8; size_of::<usize>()] {
        ptr::from_ref(&DOORS).expose_provenance().to_ne_bytes()
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
/// The host is a copy with the same [fingerprint](super::descriptor::FINGERPRINT), and stays longer than this one. Nothing of
/// this copy has run yet, and nothing runs meanwhile.
unsafe fn become_guest(host: &'static Doors) {
    if ptr::eq(host, &DOORS) || host::is_guest() {
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
    breakpoint::HOST.install(host.breakpoint);
}

impl std::fmt::Debug for Doors {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Doors").field("form", &self.form).finish_non_exhaustive()
    }
}
