//! `Readiness` of a socket, pipe or other registered file descriptor.

use super::{Site, descriptor, waits};
use crate::listing::{Await, Ready};

/// Bits of `Interest`.
const READABLE: u64 = 1;
const WRITABLE: u64 = 2;

pub(super) fn read(site: &Site<'_, '_>) -> Option<Await> {
    // the future does not know its descriptor: tokio's functions around it have the socket among their variables
    let found = site.within_tokio().find_map(|frame| descriptor::among(site.walk, frame.variables))?;
    let interest = site.number(&["waiter", "value", "interest", "only"]).unwrap_or(0);
    let ready = Ready::of(interest & READABLE != 0, interest & WRITABLE != 0);
    Some(waits(descriptor::describe(site.walk, found, ready)))
}
