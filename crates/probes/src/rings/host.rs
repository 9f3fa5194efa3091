//! The host's recorder, which guests (see [`host`](crate::host)) call: their events go into its rings.

use super::field::Field;
use super::form::Form;
use super::payload::Payload;
use crate::host::OfHost;

/// The host's functions.
pub struct HostRecorder {
    /// Records an event in a session: the session's slot, the probe's id, the arguments. The thread is pinned.
    pub record: fn(usize, u16, &dyn DynPayload),
    pub trigger: fn(),
    pub decision: fn() -> u32,
    pub set_decision: fn(u32),
}

pub static HOST: OfHost<HostRecorder> = OfHost::new();

/// Makes this copy a guest.
pub fn enter(host: &'static HostRecorder) {
    HOST.install(host);
}

/// A [`Payload`] without generic methods, so that it can cross from guest to host.
pub trait DynPayload {
    fn dyn_form(&self) -> Form;

    fn dyn_size(&self, form: Form) -> usize;

    /// # Safety
    ///
    /// As that of [`Payload::put`].
    unsafe fn dyn_put(&self, at: *mut u8, form: Form);

    fn dyn_time(&self) -> Option<u64>;

    fn dyn_show(&self, look: &mut dyn FnMut(&[Field<'_>]));
}

impl<P: Payload> DynPayload for P {
    fn dyn_form(&self) -> Form {
        self.form()
    }

    fn dyn_size(&self, form: Form) -> usize {
        self.size(form)
    }

    unsafe fn dyn_put(&self, at: *mut u8, form: Form) {
        // SAFETY: as the caller promises.
        unsafe { self.put(at, form) }
    }

    fn dyn_time(&self) -> Option<u64> {
        Payload::time(self)
    }

    fn dyn_show(&self, look: &mut dyn FnMut(&[Field<'_>])) {
        self.show(look);
    }
}
