//! Forked children of a program that records: they begin with no session, and share no memory with their parent's rings.
//!
//! The kernel does most of it while it makes the child, so that it holds for children of a bare system call, too:
//!
//! - It wipes what firing threads read of sessions ([`SLOTS`]) and the list of sessions. A thread that fires finds no ring.
//! - It leaves the rings' mappings out of the child (`MADV_DONTFORK`), which also gives the child their addresses.
//!
//! Linux and FreeBSD can wipe. Elsewhere (macOS, illumos, NetBSD) the mappings stay, and the handler that runs in the child after `fork`
//! clears both. There a child that fires before that handler, in one that the program has registered earlier or in a signal handler,
//! writes into its parent's rings; so does a child of a bare system call. The handler also turns the probes off and closes the
//! descriptors that the parent alone is to have.
//!
//! A signal handler that forks may have interrupted a firing, which the child goes on with when the handler returns. The handlers
//! of the fork give such a child private memory in place of the thread's rings. Not covered: a bare system call in such a
//! place, and one that interrupts a thread's first firing.

use std::cell::Cell;
use std::io;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Release};

use super::slot::{self, SESSIONS, SLOTS};
use super::{closed_in_children, descriptor, probes, sessions, stream_file, trigger};
use crate::forks::{self, Anew};
use crate::thread_progress;

/// Whether this process serves its control socket: a forked child does not.
pub(super) static IS_CONTROLLED: Anew<AtomicBool> = Anew::new(AtomicBool::new(false));

/// Where one ring lies, and how many bytes; no bytes for none.
type Mapping = (usize, usize);

thread_local! {
    /// The rings that the thread is writing to while it forks.
    static WRITTEN: [Cell<Mapping>; SESSIONS] = const { [const { Cell::new((0, 0)) }; SESSIONS] };
}

/// Has each forked child begin without sessions. Repeated calls do nothing.
pub(super) fn begin_anew() -> io::Result<()> {
    static DONE: AtomicBool = AtomicBool::new(false);
    // No lock, which a fork could leave taken: what two threads both do here is done twice, and no harm.
    if DONE.load(Acquire) {
        return Ok(());
    }
    forks::count()?;
    // The child reads the list: nobody may be making it at the fork.
    descriptor::probes();
    thread_progress::os::in_forked_child(before, in_child)?;
    if SLOTS.wipe_in_children() && sessions::wipe_in_children() && IS_CONTROLLED.wipe_in_children() {
        stream_file::leave_out_of_children();
    }
    DONE.store(true, Release);
    Ok(())
}

/// In the thread that forks.
extern "C" fn before() {
    let is_writing = thread_progress::is_pinned();
    WRITTEN.with(|written| {
        for (number, written) in written.iter().enumerate() {
            written.set(if is_writing { slot::own_mapping(number) } else { (0, 0) });
        }
    });
}

/// In the child, on its only thread.
extern "C" fn in_child() {
    WRITTEN.with(|written| {
        for (base, length) in written.iter().map(|written| written.replace((0, 0))).filter(|mapping| mapping.1 > 0) {
            // SAFETY: the mapping of a ring of the parent's, which this child does not use but for the firing that goes on.
            unsafe { stream_file::make_private(base, length) };
        }
    });
    closed_in_children::close();
    for probe in probes::present() {
        probe.clear_sessions();
    }
    trigger::clear();
    // SAFETY: the child has one thread.
    unsafe {
        SLOTS.forget();
        sessions::forget();
        IS_CONTROLLED.forget();
    }
}
