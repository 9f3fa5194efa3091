//! Registration: once at start, and again in a forked child where the system does not inherit it.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::device::{self, Device, Ticket};
use super::{object, section};
use crate::sdt::registration::Registration;

/// The C library calls it before `main`, or when it loads the shared object.
#[cfg(dof)]
#[used]
#[unsafe(link_section = ".init_array")]
static AT_START: extern "C" fn() = {
    extern "C" fn at_start() {
        register();
    }
    at_start
};

/// The C library calls it when the program ends, or when it unloads the shared object.
#[cfg(dof)]
#[used]
#[unsafe(link_section = ".fini_array")]
static AT_END: extern "C" fn() = {
    extern "C" fn at_end() {
        deregister();
    }
    at_end
};

/// The present registration. The section's room for DOF is written only under this lock, and only while there is none.
static HELD: Mutex<Option<Ticket>> = Mutex::new(None);

fn held() -> MutexGuard<'static, Option<Ticket>> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Registers the probes of the program or shared object that this copy of the crate is linked into. Does nothing if they are registered.
pub fn register() -> Registration {
    register_with(Path::new(device::PATH), device::accepts_this_thread())
}

/// Removes the registration.
pub fn deregister() -> Registration {
    let mut held = held();
    if held.is_some() && !device::accepts_this_thread() {
        return Registration::OtherThread;
    }
    match held.take() {
        None => Registration::NotNeeded,
        Some(ticket) => {
            Device::open(Path::new(device::PATH)).map_or_else(|status| status, |device| device.remove(ticket))
        }
    }
}

/// Like [`register`], with the given device, which accepts requests from this thread if `accepted`.
pub(super) fn register_with(path: &Path, accepted: bool) -> Registration {
    let mut held = held();
    if held.is_some() {
        return Registration::Registered;
    }
    let sites = section::sites();
    let Some(dof) = object::build(sites) else {
        return Registration::NotNeeded;
    };
    let device = match Device::open(path) {
        Ok(device) => device,
        Err(status) => return status,
    };
    if !accepted {
        return Registration::OtherThread;
    }
    // SAFETY: there is no registration, so nothing uses the room, and the lock excludes other threads.
    let room = unsafe { section::room() };
    let Some(room) = room.get_mut(..dof.len()) else {
        return Registration::Refused(libc::E2BIG);
    };
    room.copy_from_slice(&dof);
    match device.add(room, sites[0].address) {
        Ok(ticket) => {
            *held = Some(ticket);
            #[cfg(target_os = "linux")]
            in_children();
            Registration::Registered
        }
        Err(status) => status,
    }
}

/// Makes forked children register again: `dtprobed` knows probes by process. (The kernels of the other systems copy registrations:
/// `dtrace_helpers_duplicate`.)
#[cfg(target_os = "linux")]
fn in_children() {
    use std::sync::Once;

    extern "C" fn again() {
        if held().take().is_some() {
            // The child has one thread, its first.
            register();
        }
    }

    static NOTED: Once = Once::new();
    NOTED.call_once(|| {
        // First, so that the lock is free in the child when `again` runs.
        crate::forks::hold_across_forks!(Option<Ticket>, held());
        // On failure, children have no probes for DTrace.
        let _ = crate::thread_progress::os::after_fork_in_child(again);
    });
}
