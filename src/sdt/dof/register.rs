//! Registration, once.

use std::sync::{Mutex, PoisonError};

use super::{device, object, section};
use crate::sdt::Registration;

/// What DTrace was given. The DOF stays where it is: DTrace tells registrations apart by its address.
struct Held {
    dof: Vec<u8>,
    ticket: device::Ticket,
}

static HELD: Mutex<Option<Held>> = Mutex::new(None);

/// Makes the probes of this program known to DTrace. Further calls change nothing; one that failed can be repeated.
///
/// Speaks for the program or shared object that this copy of the crate is linked into.
pub fn register() -> Registration {
    let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
    if held.is_some() {
        return Registration::Registered;
    }
    let Some(first) = section::sites().first() else {
        return Registration::NotNeeded;
    };
    let dof = object::build(section::sites());
    match device::add(&dof, first.address) {
        Ok(ticket) => {
            *held = Some(Held { dof, ticket });
            Registration::Registered
        }
        Err(status) => status,
    }
}

/// Takes the probes back, as a shared object must before it is unloaded.
pub fn deregister() -> Registration {
    let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(Held { dof, ticket }) = held.take() else {
        return Registration::NotNeeded;
    };
    let status = device::remove(ticket);
    drop(dof);
    status
}
