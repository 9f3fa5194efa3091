//! The futures that calls of asynchronous exports return.

use std::fmt;
use std::future::Future;
use std::mem::ManuallyDrop;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::call_error::CallError;
use super::export_entry::ExportEntry;
use super::hold::Hold;
use super::panicked::{Panicked, caught};
use dyntrace_processes::task_table;
use dyntrace_processes::waiting::{Waited, Waiting};

/// The future of a call of an asynchronous export. While it lives, its version is in use.
///
/// It runs where the caller polls it. Its wait fires `process-wait` and `process-resume`, with the export as the resource; its place is the
/// call.
#[must_use = "futures do nothing unless they are awaited"]
pub struct Pending<R> {
    /// The module's. Dropped before the hold.
    future: Waiting<OfModule<R>, Call>,
    /// `None` only until the call has returned it.
    _hold: Option<Hold>,
}

type OfModule<R> = Pin<Box<dyn Future<Output = Result<R, Panicked>> + Send>>;

/// The export that was called. `None` only until the call has returned its future.
struct Call(Option<&'static ExportEntry>);

impl Call {
    fn export(&self) -> &'static str {
        self.0.map_or("", ExportEntry::shown)
    }
}

impl Waited for Call {
    const ENCLOSES: bool = true;

    fn key(&self) -> task_table::Resource {
        task_table::Resource::Named(self.export())
    }

    fn kind(&self) -> &'static str {
        "code::call"
    }
}

/// A future of the module that catches its panics, both when it is polled and when it is dropped.
struct Caught<F>(ManuallyDrop<F>);

impl<R> Pending<R> {
    /// For the attribute `export`.
    #[doc(hidden)]
    pub fn new(future: impl Future<Output = R> + Send + 'static) -> Pending<R> {
        let future: OfModule<R> = Box::pin(Caught(ManuallyDrop::new(future)));
        Pending { future: Waiting::new(Call(None), Location::caller(), future), _hold: None }
    }

    /// The caller, at `place`, is still inside the version. The place is one of the caller's object: the module's may be unmapped.
    pub(crate) fn holding(
        self,
        hold: Hold,
        entry: &'static ExportEntry,
        place: &'static Location<'static>,
    ) -> Pending<R> {
        Pending { future: Waiting::new(Call(Some(entry)), place, self.future.into_inner()), _hold: Some(hold) }
    }
}

impl<R> Future for Pending<R> {
    type Output = Result<R, CallError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.future).poll(cx).map(|result| Ok(result?))
    }
}

impl<F: Future> Future for Caught<F> {
    type Output = Result<F::Output, Panicked>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: the field is pinned with `self`: nothing moves it, and it is dropped in place.
        let future = unsafe { self.map_unchecked_mut(|caught| &mut *caught.0) };
        match caught(|| future.poll(cx)) {
            Ok(poll) => poll.map(Ok),
            Err(panicked) => Poll::Ready(Err(panicked)),
        }
    }
}

impl<F> Drop for Caught<F> {
    fn drop(&mut self) {
        // SAFETY: it is not used again.
        let dropped = caught(|| unsafe { ManuallyDrop::drop(&mut self.0) });
        // The caller has dropped the future: the message goes nowhere.
        let _ = dropped.map_err(Panicked::into_message);
    }
}

impl<R> fmt::Debug for Pending<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pending")
    }
}
