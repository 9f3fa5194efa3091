//! A reference of what a breakpoint does.

use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::sync::Arc;

use super::data::BpData;
use super::door;

/// A reference that goes back to the host: the last one of them drops what is the host's.
pub(super) struct Held(ManuallyDrop<Arc<BpData>>);

impl Held {
    #[inline]
    pub(super) fn new(data: Arc<BpData>) -> Held {
        Held(ManuallyDrop::new(data))
    }
}

impl Deref for Held {
    type Target = BpData;

    #[inline]
    fn deref(&self) -> &BpData {
        &self.0
    }
}

impl Drop for Held {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: it is dropped once, and not used afterwards.
        let data = unsafe { ManuallyDrop::take(&mut self.0) };
        match door::HOST.get() {
            None => drop(data),
            Some(host) => (host.give_back)(data),
        }
    }
}
