//! A hit's reference to the generation that it found.

use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::Arc;

use dyntrace_probes::host::OfHost;
use dyntrace_probes::thread_progress::Pin;

use crate::breakpoint::state::data::BpData;

/// The host's function that drops its data.
pub(crate) static HOST: OfHost<fn(Arc<BpData>)> = OfHost::new();

pub(crate) enum DataRef {
    /// A counted reference, for calls that last.
    Counted(Counted),
    /// Borrowed while pinned, for short work: counting references would take longer than most of it.
    Pinned(Pinned),
    /// Released.
    Over,
}

/// A reference that is dropped by the host, since the last one frees the host's data.
pub(crate) struct Counted(ManuallyDrop<Arc<BpData>>);

/// A reference to the active generation, with the pin that keeps it valid.
pub(crate) struct Pinned {
    data: NonNull<Arc<BpData>>,
    _pin: Pin,
}

// SAFETY: never moved to another thread. Only a synchronous call has one: `begun` keeps it on its stack and lends it to the body. The hits
// of futures, which may move between threads, are `Counted`.
unsafe impl Send for Pinned {}

impl DataRef {
    #[inline]
    pub(crate) fn new(data: Arc<BpData>) -> DataRef {
        DataRef::Counted(Counted(ManuallyDrop::new(data)))
    }

    /// Takes a counted reference instead of the pin, before work that may take long.
    #[cold]
    pub(crate) fn unpin(&mut self) {
        if let DataRef::Pinned(pinned) = self {
            *self = DataRef::new(Arc::clone(pinned.data()));
        }
    }

    /// Releases the pin if the data was only borrowed.
    #[inline]
    pub(crate) fn end_moment(&mut self) {
        if let DataRef::Pinned(_) = self {
            *self = DataRef::Over;
        }
    }
}

impl Pinned {
    /// # Safety
    ///
    /// `data` was found active since `pin` began.
    #[inline(always)]
    pub(crate) unsafe fn new(data: NonNull<Arc<BpData>>, pin: Pin) -> Pinned {
        Pinned { data, _pin: pin }
    }

    #[inline(always)]
    pub(crate) fn data(&self) -> &Arc<BpData> {
        // SAFETY: the generation is not written while the thread is pinned (step 8 of a setting).
        unsafe { self.data.as_ref() }
    }
}

impl Deref for DataRef {
    type Target = BpData;

    #[inline]
    fn deref(&self) -> &BpData {
        match self {
            DataRef::Counted(Counted(data)) => data,
            DataRef::Pinned(pinned) => pinned.data(),
            DataRef::Over => unreachable!("no entry wants the end"),
        }
    }
}

impl Drop for Counted {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: it is dropped once, and not used afterwards.
        let data = unsafe { ManuallyDrop::take(&mut self.0) };
        match HOST.get() {
            None => drop(data),
            Some(give_back) => give_back(data),
        }
    }
}
