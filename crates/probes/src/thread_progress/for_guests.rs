//! For guests: their threads pin the host's records, so that the host waits for them.

use std::sync::atomic::Ordering;

use super::pin::{EXPEDITED, own_record};
use super::record::Record;
use crate::host::OfHost;

/// The host's functions.
pub struct ForGuests {
    own: fn() -> Option<&'static Record>,
    is_expedited: fn() -> bool,
}

static HOST: OfHost<ForGuests> = OfHost::new();

pub static FOR_GUESTS: ForGuests = ForGuests { own: own_record, is_expedited: || EXPEDITED.load(Ordering::Relaxed) };

/// Makes this copy a guest. If the host does not use barriers in other threads yet, the guest's pins keep their own for good.
pub fn enter(for_guests: &'static ForGuests) {
    EXPEDITED.store((for_guests.is_expedited)(), Ordering::Relaxed);
    HOST.install(for_guests);
}

/// Returns the current thread's record, if this is a guest.
pub(super) fn of_host() -> Option<Option<&'static Record>> {
    HOST.get().map(|host| (host.own)())
}
