//! Registration, once: at start, and again in the child of a fork where the system forgets it.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::device::{self, Device, Ticket};
use super::{object, section};
use crate::sdt::registration::Registration;

/// Run by the C library before `main`, or when the shared object is loaded.
#[cfg(dof)]
#[used]
#[unsafe(link_section = ".init_array")]
static AT_START: extern "C" fn() = {
    extern "C" fn at_start() {
        register();
    }
    at_start
};

/// Run when the program ends, or the shared object is unloaded.
#[cfg(dof)]
#[used]
#[unsafe(link_section = ".fini_array")]
static AT_END: extern "C" fn() = {
    extern "C" fn at_end() {
        deregister();
    }
    at_end
};

/// What DTrace was given: DOF in the section's room, which is written under this lock only, and while there is no ticket.
static HELD: Mutex<Option<Ticket>> = Mutex::new(None);

fn held() -> MutexGuard<'static, Option<Ticket>> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes the probes of this program known to DTrace. Further calls change nothing; one that failed can be repeated.
///
/// Speaks for the program or shared object that this copy of the crate is linked into.
pub fn register() -> Registration {
    register_with(Path::new(device::PATH), device::hears_this_thread())
}

/// Takes the probes back.
pub fn deregister() -> Registration {
    let mut held = held();
    if held.is_some() && !device::hears_this_thread() {
        return Registration::OtherThread;
    }
    match held.take() {
        None => Registration::NotNeeded,
        Some(ticket) => {
            Device::open(Path::new(device::PATH)).map_or_else(|status| status, |device| device.remove(ticket))
        }
    }
}

/// The same as [`register`], with the given device, which takes this thread for the process if it is `heard`.
pub(super) fn register_with(path: &Path, heard: bool) -> Registration {
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
    if !heard {
        return Registration::OtherThread;
    }
    // SAFETY: there is no ticket, so that nobody has DOF of this room, and nobody else can get here.
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

/// Has the children of forks register anew: `dtprobed` knows the probes by the process. (The kernels of the other systems
/// copy what they know: `dtrace_helpers_duplicate`.)
#[cfg(target_os = "linux")]
fn in_children() {
    use std::sync::Once;

    extern "C" fn again() {
        if held().take().is_some() {
            // It has one thread.
            register();
        }
    }

    static NOTED: Once = Once::new();
    NOTED.call_once(|| {
        // First, so that the child has it free when `again` runs.
        crate::forks::hold_across_forks!(Option<Ticket>, held());
        // Without memory for that, children have no probes for DTrace.
        let _ = crate::thread_progress::os::after_fork_in_child(again);
    });
}
