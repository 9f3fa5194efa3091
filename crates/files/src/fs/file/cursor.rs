//! The cursor of an open file: its buffer, and the one operation that may be in flight on it.

use std::fs::File;
use std::future::Future;
use std::io::{self, Read, SeekFrom};
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use rustix::io::Errno;
use tokio::io::ReadBuf;
use tokio::sync::oneshot;

use super::buffer::Buffer;
use crate::efile::inline::{Attempt, Miss, Permit, Trial};
use crate::efile::{Command, Descriptor, Request, Unanswered, answered, poll_budget};
use dyntrace_processes::tag;

/// The most bytes that one READ or WRITE moves unless the file says otherwise, and the most that may be read ahead.
pub(super) const MAX_SIZE: usize = 2 << 20;

pub(super) struct Cursor {
    descriptor: Arc<Descriptor>,
    /// The operation in flight owns it; an empty one is here meanwhile.
    buffer: Buffer,
    /// A seek that the next poll begins.
    seek: Option<SeekFrom>,
    in_flight: Option<InFlight>,
    /// Whether the task has yielded for the operation that it begins.
    has_yielded: bool,
    /// [`Buffer::ahead`] when the operation in flight was begun.
    ahead: u64,
    /// The least bytes that a read asks for.
    pub(super) read_ahead: usize,
    /// Where the last seek went.
    position: u64,
    /// Kept until an operation returns it. The unwritten bytes stay in the buffer.
    write_error: Option<io::Error>,
}

type InFlight = Pin<Box<dyn Future<Output = (Finished, Option<Buffer>)> + Send + Sync>>;

/// How an operation ended.
pub(super) enum Finished {
    /// READ or READ_LINE, with the count of bytes.
    Read(io::Result<usize>),
    /// WRITE.
    Write(io::Result<()>),
    /// LSEEK, with the new position.
    Seek(io::Result<u64>),
}

impl Cursor {
    pub(super) fn new(descriptor: Arc<Descriptor>) -> Cursor {
        Cursor {
            descriptor,
            buffer: Buffer::default(),
            seek: None,
            in_flight: None,
            has_yielded: false,
            ahead: 0,
            read_ahead: 0,
            position: 0,
            write_error: None,
        }
    }

    pub(super) fn is_idle(&self) -> bool {
        self.in_flight.is_none() && self.seek.is_none()
    }

    pub(super) fn unread(&self) -> &[u8] {
        self.buffer.unread()
    }

    pub(super) fn consume(&mut self, count: usize) {
        self.buffer.consume(count);
    }

    pub(super) fn forget_unread(&mut self) {
        self.buffer.forget_unread();
    }

    /// As [`Buffer::return_unread`]. No operation may be in flight.
    pub(super) fn return_unread(&mut self) {
        self.buffer.return_unread(self.descriptor.file());
    }

    fn take_write_error(&mut self) -> io::Result<()> {
        self.write_error.take().map_or(Ok(()), Err)
    }

    /// Returns whether a failed write left bytes. No operation may be in flight.
    pub(super) fn has_unwritten(&self) -> bool {
        !self.buffer.unwritten().is_empty()
    }

    /// As [`Buffer::must_write_first`]. No operation may be in flight.
    pub(super) fn must_write_first(&self) -> bool {
        self.buffer.must_write_first()
    }

    /// As [`Buffer::take_unwritten`], for another file that writes them. No operation may be in flight.
    #[cfg(all(feature = "tokio-fs", not(loom)))]
    pub(super) fn take_unwritten(&mut self) -> Vec<u8> {
        self.buffer.take_unwritten()
    }

    /// Has the next operation that returns write errors return this one.
    #[cfg(all(feature = "tokio-fs", not(loom)))]
    pub(super) fn keep_write_error(&mut self, error: io::Error) {
        self.write_error = Some(error);
    }

    /// Has the cursor's operations wait for another file that writes at the same position. No operation may be in flight.
    #[cfg(all(feature = "tokio-fs", not(loom)))]
    pub(super) fn wait_for(&mut self, written: impl Future<Output = io::Result<()>> + Send + Sync + 'static) {
        debug_assert!(self.is_idle());
        self.ahead = 0;
        self.in_flight = Some(Box::pin(async { (Finished::Write(written.await), None) }));
    }

    /// Returns whether accepted bytes are unwritten, or a write error is pending. No operation may be in flight.
    pub(super) fn owes_a_write(&self) -> bool {
        self.write_error.is_some() || self.has_unwritten()
    }

    /// Waits for the operation in flight and returns its result; `None` if there is none. Keeps the error of a write, and the position of a
    /// seek.
    pub(super) fn poll_idle(&mut self, cx: &mut Context<'_>) -> Poll<Option<Finished>> {
        let answered = match self.seek {
            Some(to) => ready!(self.poll_begin_seek(to, cx)).map(Finished::Seek),
            None => None,
        };
        let finished = match (answered, &mut self.in_flight) {
            (Some(finished), _) => finished,
            (None, None) => return Poll::Ready(None),
            (None, Some(operation)) => {
                let (finished, buffer) = ready!(operation.as_mut().poll(cx));
                self.in_flight = None;
                self.buffer = buffer.unwrap_or_else(|| Buffer::lost(self.ahead));
                finished
            }
        };
        match finished {
            Finished::Write(Err(error)) => {
                self.write_error = Some(error);
                Poll::Ready(None)
            }
            finished => {
                if let Finished::Seek(Ok(position)) = finished {
                    self.position = position;
                }
                Poll::Ready(Some(finished))
            }
        }
    }

    /// Waits until all accepted bytes are written. Retries the unwritten bytes of a failed write once its error was returned.
    pub(super) fn poll_written(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            ready!(self.poll_idle(cx));
            self.take_write_error()?;
            if !self.has_unwritten() {
                return Poll::Ready(Ok(()));
            }
            self.write_buffer(None);
        }
    }

    /// As [`poll_idle`](Cursor::poll_idle), for a seek: returns its position, or that of the last seek.
    pub(super) fn poll_position(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<u64>> {
        if let Some(Finished::Seek(answer)) = ready!(self.poll_idle(cx)) {
            answer?;
        }
        self.take_write_error()?;
        Poll::Ready(Ok(self.position))
    }

    /// Begins a READ of as many bytes as `into` has room for, or of those to read ahead. Returns the count if the caches have the answer:
    /// these bytes are in `into`, or unread.
    pub(super) fn poll_begin_read(
        &mut self,
        into: &mut ReadBuf<'_>,
        max_size: usize,
        cx: &mut Context<'_>,
    ) -> Poll<Option<io::Result<usize>>> {
        let size = into.remaining().max(self.read_ahead).min(max_size);
        let request = self.descriptor.request_with_flags(Command::Read).i3(size as i64);
        let into = (self.buffer.is_clear() && size <= into.remaining()).then_some(into);
        self.poll_begin_reading(request, size, into, cx)
    }

    /// Begins a READ_LINE, and returns the count of bytes if the caches have the answer.
    pub(super) fn poll_begin_read_line(
        &mut self,
        max_size: usize,
        cx: &mut Context<'_>,
    ) -> Poll<Option<io::Result<usize>>> {
        const SIZE: usize = 64 << 10;
        let size = if self.read_ahead == 0 { SIZE } else { self.read_ahead }.min(max_size);
        let request = self.descriptor.request_with_flags(Command::ReadLine);
        let request = request.i3(self.unread().len() as i64).i4(size as i64);
        self.poll_begin_reading(request, size, None, cx)
    }

    /// Has the next poll begin an LSEEK. No operation may be in flight.
    pub(super) fn seek(&mut self, to: SeekFrom) {
        debug_assert!(self.is_idle());
        self.seek = Some(to);
    }

    fn poll_begin_seek(&mut self, to: SeekFrom, cx: &mut Context<'_>) -> Poll<Option<io::Result<u64>>> {
        // The caller counts from the end of the bytes that it has taken.
        let (to, offset, origin) = match to {
            SeekFrom::Start(offset) => (to, offset as i64, 0),
            SeekFrom::Current(offset) => {
                let offset = offset.saturating_sub_unsigned(self.buffer.ahead());
                (SeekFrom::Current(offset), offset, 1)
            }
            SeekFrom::End(offset) => (to, offset, 2),
        };
        let request = self.descriptor.request(Command::Lseek).i2(offset).i3(origin);
        let attempt = |descriptor: &Descriptor, _: &Request, buffer: &mut Buffer, _: &mut Trial| {
            // The pool finds an error again.
            buffer.seek(descriptor.file(), to).map_err(|_| Miss::NotCached)
        };
        let work = move |file: &File, _: &Request, buffer: &mut Buffer| buffer.seek(file, to);
        let answer = ready!(self.poll_begin(self.descriptor.permit_seek(), request, attempt, work, Finished::Seek, cx));
        self.seek = None;
        Poll::Ready(answer)
    }

    /// Begins to write up to `max_size` bytes, and returns how many. No earlier bytes may be unwritten.
    pub(super) fn begin_write<'a>(&mut self, sources: impl Iterator<Item = &'a [u8]>, max_size: usize) -> usize {
        let size = self.buffer.load(sources, max_size);
        if size > 0 {
            self.write_buffer(None);
        }
        size
    }

    /// Writes up to `max_size` bytes if the cache has room, or begins to write them. Returns how many it accepted. No earlier bytes may be
    /// unwritten. Pending only while the task must yield.
    pub(super) fn poll_write(&mut self, from: &[u8], max_size: usize, cx: &mut Context<'_>) -> Poll<usize> {
        let from = &from[..from.len().min(max_size)];
        let is_attempted = self.buffer.is_clear() && !from.is_empty();
        let Some(permit) = is_attempted.then(|| self.descriptor.permit_write(from.len())).flatten() else {
            return Poll::Ready(self.begin_write([from].into_iter(), max_size));
        };
        ready!(poll_budget(|| permit.must_yield(), &mut self.has_yielded, cx));
        let descriptor = &self.descriptor;
        let entered = Cursor::enter_write(descriptor, from.len());
        let attempt = |request: &Request, (): &mut (), _: &mut Trial| request.moving(descriptor.try_write(from, None));
        match descriptor.driver().attempt(permit, entered, attempt) {
            // No attempt to write ends with an error.
            Ok((answer, ())) => Poll::Ready(answer.unwrap_or(0)),
            Err(unanswered) => {
                self.buffer.load([from].into_iter(), from.len());
                self.write_buffer(Some(unanswered));
                Poll::Ready(from.len())
            }
        }
    }

    fn enter_write(descriptor: &Descriptor, size: usize) -> Unanswered<()> {
        let request = descriptor.request_with_flags(Command::Write).i3(size as i64);
        Unanswered::enter(descriptor.port(), tag::get_tag_data(), request)
    }

    /// Begins a detached WRITE of the unwritten bytes, which may have been entered.
    fn write_buffer(&mut self, entered: Option<Unanswered<()>>) {
        self.ahead = self.buffer.ahead();
        let size = self.buffer.unwritten().len();
        let entered = entered.unwrap_or_else(|| Cursor::enter_write(&self.descriptor, size));
        let buffer = mem::take(&mut self.buffer);
        let (sender, receiver) = oneshot::channel();
        let descriptor = Arc::clone(&self.descriptor);
        let unwritten = self.descriptor.accept_write();
        self.descriptor.driver().detach_entered(
            entered,
            self.descriptor.port(),
            buffer,
            move |request, buffer| buffer.write(descriptor.file(), |bytes| request.add_moved(bytes as u64)),
            |answer, buffer| {
                drop(unwritten);
                // The file may have been dropped.
                let _ = sender.send((Finished::Write(answer), buffer));
            },
        );
        let in_flight = answered(receiver);
        self.in_flight = Some(Box::pin(async {
            match in_flight.await {
                Some(answer) => answer.expect("every operation sends its result"),
                // The parent process writes.
                None => (Finished::Write(Err(Errno::CANCELED.into())), None),
            }
        }));
    }

    fn poll_begin_reading(
        &mut self,
        request: Request,
        size: usize,
        into: Option<&mut ReadBuf<'_>>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<io::Result<usize>>> {
        let attempt = |descriptor: &Descriptor, request: &Request, buffer: &mut Buffer, trial: &mut Trial| {
            let read = |bytes: &mut [u8]| request.moving(descriptor.try_read(bytes, trial));
            let Some(into) = into else { return buffer.read(descriptor.file(), size, read) };
            let count = read(into.initialize_unfilled_to(size))?;
            into.advance(count);
            Ok(count)
        };
        let work = move |file: &File, request: &Request, buffer: &mut Buffer| {
            buffer.read(file, size, |bytes| request.moving(read(file, bytes)))
        };
        self.poll_begin(self.descriptor.permit_read(size), request, attempt, work, Finished::Read, cx)
    }

    /// Begins an operation: with a permit attempts it, and returns the answer of the caches. Otherwise it is in flight. Pending only while
    /// the task must yield.
    fn poll_begin<T: Send + 'static>(
        &mut self,
        permit: Option<Permit>,
        request: Request,
        attempt: impl FnOnce(&Descriptor, &Request, &mut Buffer, &mut Trial) -> Attempt<T>,
        work: impl FnOnce(&File, &Request, &mut Buffer) -> io::Result<T> + Send + Sync + 'static,
        finished: fn(io::Result<T>) -> Finished,
        cx: &mut Context<'_>,
    ) -> Poll<Option<io::Result<T>>> {
        debug_assert!(self.in_flight.is_none());
        if let Some(permit) = permit {
            ready!(poll_budget(|| permit.must_yield(), &mut self.has_yielded, cx));
        }
        self.ahead = self.buffer.ahead();
        let buffer = mem::take(&mut self.buffer);
        let descriptor = &self.descriptor;
        let (driver, port) = (descriptor.driver(), descriptor.port());
        let attempt =
            |request: &Request, buffer: &mut Buffer, trial: &mut Trial| attempt(descriptor, request, buffer, trial);
        match driver.begin(permit, port, request, buffer, attempt) {
            Ok((answer, buffer)) => {
                self.buffer = buffer;
                Poll::Ready(Some(answer))
            }
            Err(unanswered) => {
                let user = Arc::clone(descriptor);
                let work = move |request: &Request, buffer: &mut Buffer| work(user.file(), request, buffer);
                let operation = driver.submit_unanswered(unanswered, port, work);
                self.in_flight = Some(Box::pin(async move {
                    let (answer, buffer) = operation.await;
                    (finished(answer), buffer)
                }));
                Poll::Ready(None)
            }
        }
    }
}

fn read(mut file: &File, bytes: &mut [u8]) -> io::Result<usize> {
    loop {
        match file.read(bytes) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            answer => return answer,
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::future::poll_fn;
    use std::io::SeekFrom;
    use std::pin::Pin;

    use tokio::io::{AsyncReadExt, AsyncSeek, AsyncWriteExt};

    use crate::efile::tests::{finish, stepped};
    use crate::fs::OpenOptions;

    #[test]
    fn the_position_of_a_seek_that_another_operation_completes_is_kept() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("file");
        std::fs::write(&path, "0123456789").unwrap();
        let (pool, driver, _) = stepped();
        let mut file = finish(&pool, OpenOptions::new().read(true).write(true).open_with(&driver, &path)).unwrap();
        let mut byte = [0];
        Pin::new(&mut file).start_seek(SeekFrom::Start(5)).unwrap();
        finish(&pool, file.read_exact(&mut byte)).unwrap();
        assert_eq!(finish(&pool, poll_fn(|cx| Pin::new(&mut file).poll_complete(cx))).unwrap(), 5);
        Pin::new(&mut file).start_seek(SeekFrom::Start(3)).unwrap();
        finish(&pool, file.flush()).unwrap();
        assert_eq!(finish(&pool, poll_fn(|cx| Pin::new(&mut file).poll_complete(cx))).unwrap(), 3);
    }
}
