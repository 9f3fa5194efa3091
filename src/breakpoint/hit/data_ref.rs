//! A hit's reference to the generation that it found.

use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::Arc;

use crate::breakpoint::state::data::BpData;
use crate::host::OfHost;
use crate::thread_progress::Pin;

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

// SAFETY: a pinned one is only lent to the body of the function, which uses it on the same thread.
unsafe impl Send for DataRef {}

impl DataRef {
    #[inline]
    pub(crate) fn new(data: Arc<BpData>) -> DataRef {
        DataRef::Counted(Counted(ManuallyDrop::new(data)))
    }

    /// # Safety
    ///
    /// It was found active since the pin began.
    #[inline]
    pub(crate) unsafe fn pinned(data: NonNull<Arc<BpData>>, pin: Pin) -> DataRef {
        DataRef::Pinned(Pinned { data, _pin: pin })
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
    #[inline]
    fn data(&self) -> &Arc<BpData> {
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
