//! `Readiness` of a socket, pipe or other registered file descriptor.

use super::{Site, descriptor, waits};
use crate::listing::Await;

pub(super) fn read(site: &Site<'_, '_>) -> Option<Await> {
    // the future does not know its descriptor: tokio's functions around it have the socket among their variables
    let found = site.within_tokio().find_map(|frame| descriptor::among(site.walk, frame.variables))?;
    Some(waits(descriptor::describe(site.walk, found)))
}
