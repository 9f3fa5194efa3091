//! A socket of tokio's, with its number and its waits.

use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;
use std::task::Poll;

use dyntrace_processes::probes::resource as probes;
use dyntrace_processes::waiting::{In, Numbered, Polled, Resource, ResourceKind, Waiting};

/// A socket's type.
pub(super) trait Endpoint {
    const KIND: ResourceKind;
    /// The operation for which its polls that read wait.
    const READS: &'static str;
    /// The operation for which its polls that write wait.
    const WRITES: &'static str;

    /// Its addresses, for tracers.
    fn name(&self) -> Option<String>;
}

/// A socket, and what tracers see of it.
pub(super) struct Socket<T: Endpoint> {
    pub(super) io: T,
    // Dropped last: it tells the end.
    seen: SocketWaits<T>,
}

struct SocketWaits<T: Endpoint> {
    resource: Resource,
    reads: Polled,
    writes: Polled,
    of: PhantomData<fn() -> T>,
}

impl<T: Endpoint> Socket<T> {
    /// Fires `resource-new`.
    #[inline]
    pub(super) fn new(io: T, place: &'static Location<'static>) -> Socket<T> {
        let resource = Resource::at(T::KIND, place);
        let socket =
            Socket { io, seen: SocketWaits { resource, reads: Polled::new(), writes: Polled::new(), of: PhantomData } };
        if probes::new::is_enabled() {
            socket.number();
        }
        socket
    }

    /// Returns tokio's socket. Ends the waits.
    pub(super) fn into_inner(self) -> T {
        self.io
    }

    /// Notes the answer of a poll that reads.
    #[inline(always)]
    pub(super) fn polled_read<R>(&self, answer: Poll<R>) -> Poll<R> {
        self.seen.reads.answered(answer.is_ready(), In(self, T::READS), self.seen.resource.place());
        answer
    }

    /// Notes the answer of a poll that writes.
    #[inline(always)]
    pub(super) fn polled_write<R>(&self, answer: Poll<R>) -> Poll<R> {
        self.seen.writes.answered(answer.is_ready(), In(self, T::WRITES), self.seen.resource.place());
        answer
    }

    /// A future that reads, with the probes of a wait.
    #[inline(always)]
    pub(super) fn reads<'s, F: Future>(
        &'s self,
        operation: &'static str,
        place: &'static Location<'static>,
        future: F,
    ) -> Waiting<F, In<&'s Self>> {
        self.seen.reads.left(In(self, T::READS), self.seen.resource.place());
        self.waits(operation, place, future)
    }

    /// A future that writes, with the probes of a wait.
    #[inline(always)]
    pub(super) fn writes<'s, F: Future>(
        &'s self,
        operation: &'static str,
        place: &'static Location<'static>,
        future: F,
    ) -> Waiting<F, In<&'s Self>> {
        self.seen.writes.left(In(self, T::WRITES), self.seen.resource.place());
        self.waits(operation, place, future)
    }

    /// A future that may do both, with the probes of a wait.
    #[inline(always)]
    pub(super) fn waits<'s, F: Future>(
        &'s self,
        operation: &'static str,
        place: &'static Location<'static>,
        future: F,
    ) -> Waiting<F, In<&'s Self>> {
        Waiting::new(In(self, operation), place, future)
    }

    /// Ends the wait of polls that read: nobody polls any more.
    #[inline]
    pub(super) fn reader_left(&self) {
        self.seen.reader_left();
    }

    /// Ends the wait of polls that write: nobody polls any more.
    #[inline]
    pub(super) fn writer_left(&self) {
        self.seen.writer_left();
    }
}

impl<T: Endpoint> SocketWaits<T> {
    // A wait that has begun has given the resource its number.
    fn reader_left(&self) {
        self.reads.given_up(In(&self.resource.told(), T::READS), self.resource.place());
    }

    fn writer_left(&self) {
        self.writes.given_up(In(&self.resource.told(), T::WRITES), self.resource.place());
    }
}

impl<T: Endpoint> Drop for SocketWaits<T> {
    #[inline]
    fn drop(&mut self) {
        self.reader_left();
        self.writer_left();
    }
}

impl<T: Endpoint> Numbered for Socket<T> {
    fn number(&self) -> u64 {
        self.seen.resource.number_named(|| self.io.name())
    }
}

impl<T: Endpoint + fmt::Debug> fmt::Debug for Socket<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.io.fmt(f)
    }
}
