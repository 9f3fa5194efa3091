//! What this room does for guests: their threads pin the host's records, so that the host waits for them.

use std::cell::Cell;
use std::sync::atomic::Ordering;

use super::pin::{EXPEDITED, OWN, claim};
use super::record::Record;
use crate::host::OfHost;

/// The host's functions.
pub(crate) struct Door {
    own: fn() -> Option<&'static Record>,
    is_expedited: fn() -> bool,
}

static HOST: OfHost<Door> = OfHost::new();

pub(crate) static DOOR: Door =
    Door { own: || OWN.with(Cell::get).or_else(claim), is_expedited: || EXPEDITED.load(Ordering::Relaxed) };

/// This copy is a guest from now on. Where the host's pins have no barriers of their own yet, the guest's keep theirs for good.
pub(crate) fn enter(door: &'static Door) {
    EXPEDITED.store((door.is_expedited)(), Ordering::Relaxed);
    HOST.install(door);
}

/// The current thread's record, if this is a guest.
pub(super) fn of_host() -> Option<Option<&'static Record>> {
    HOST.get().map(|host| (host.own)())
}
