//! The recorder of the host, as guests (see [`host`](crate::host)) call it: their events go into its rings.

use super::field::Field;
use super::payload::Payload;
use crate::host::OfHost;

/// The host's functions.
pub(crate) struct HostRecorder {
    /// Records an event of a probe with this id in this session; the thread is pinned.
    pub(super) record: fn(usize, u16, &dyn DynPayload),
    pub(super) trigger: fn(),
    pub(super) decision: fn() -> u32,
    pub(super) set_decision: fn(u32),
}

pub(super) static HOST: OfHost<HostRecorder> = OfHost::new();

/// This copy is a guest from now on.
pub(crate) fn enter(host: &'static HostRecorder) {
    HOST.install(host);
}

/// The arguments of a firing in a guest: any [`Payload`].
pub(super) trait DynPayload {
    fn bytes(&self) -> usize;

    /// # Safety
    ///
    /// As that of [`Payload::put`].
    unsafe fn write(&self, at: *mut u8);

    fn time(&self) -> Option<u64>;

    fn fields(&self, look: &mut dyn FnMut(&[Field<'_>]));
}

impl<P: Payload> DynPayload for P {
    fn bytes(&self) -> usize {
        self.size()
    }

    unsafe fn write(&self, at: *mut u8) {
        // SAFETY: as the caller promises.
        unsafe { self.put(at) }
    }

    fn time(&self) -> Option<u64> {
        Payload::time(self)
    }

    fn fields(&self, look: &mut dyn FnMut(&[Field<'_>])) {
        self.show(look);
    }
}
