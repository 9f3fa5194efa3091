//! What a hit has of what its breakpoint does.

use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::Arc;

use crate::breakpoint::state::data::BpData;
use crate::host::OfHost;
use crate::thread_progress::Pin;

/// The host's function that drops its data.
pub(crate) static HOST: OfHost<fn(Arc<BpData>)> = OfHost::new();

pub(crate) enum Held {
    /// A reference, for as long as it takes.
    Counted(Counted),
    /// None of its own, for a moment: to count references takes longer than most of what is done then.
    Pinned(Pinned),
    /// Nothing any more.
    Over,
}

/// A reference that goes back to the host: the last one of them drops what is the host's.
pub(crate) struct Counted(ManuallyDrop<Arc<BpData>>);

/// What was found in the active generation of a breakpoint.
pub(crate) struct Pinned {
    data: NonNull<Arc<BpData>>,
    _pin: Pin,
}

// SAFETY: one that is pinned is lent by who found it to the body of the function, which tells of the call on the same thread.
unsafe impl Send for Held {}

impl Held {
    #[inline]
    pub(crate) fn new(data: Arc<BpData>) -> Held {
        Held::Counted(Counted(ManuallyDrop::new(data)))
    }

    /// # Safety
    ///
    /// It was found active since the pin began.
    #[inline]
    pub(crate) unsafe fn pinned(data: NonNull<Arc<BpData>>, pin: Pin) -> Held {
        Held::Pinned(Pinned { data, _pin: pin })
    }

    /// The thread is not pinned any more: what comes next may take long.
    pub(crate) fn unpin(&mut self) {
        if let Held::Pinned(pinned) = self {
            *self = Held::new(Arc::clone(pinned.data()));
        }
    }

    /// Nothing more is wanted of what was to be had for a moment.
    #[inline]
    pub(crate) fn end_moment(&mut self) {
        if let Held::Pinned(_) = self {
            *self = Held::Over;
        }
    }
}

impl Pinned {
    #[inline]
    fn data(&self) -> &Arc<BpData> {
        // SAFETY: as long as the thread is pinned, nobody writes the generation (step 8 of a setting).
        unsafe { self.data.as_ref() }
    }
}

impl Deref for Held {
    type Target = BpData;

    #[inline]
    fn deref(&self) -> &BpData {
        match self {
            Held::Counted(Counted(data)) => data,
            Held::Pinned(pinned) => pinned.data(),
            Held::Over => unreachable!("nothing is wanted of the end"),
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
