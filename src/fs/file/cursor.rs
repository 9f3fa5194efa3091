//! The cursor of an open file: its buffer, and the one operation that may be in flight on it.

use std::fs::File;
use std::future::Future;
use std::io::{self, Read, SeekFrom};
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use rustix::io::Errno;
use tokio::sync::oneshot;

use super::tape::Tape;
use crate::efile::{Command, Descriptor, Request, answered};
use crate::tag;

/// The most bytes that one READ or WRITE moves unless the file says otherwise, and the most that may be read ahead.
pub(super) const MAX_SIZE: usize = 2 << 20;

pub(super) struct Cursor {
    descriptor: Arc<Descriptor>,
    /// In flight with the operation; an empty one is here meanwhile.
    tape: Tape,
    in_flight: Option<InFlight>,
    /// [`Tape::ahead`] as it was when the operation in flight was begun.
    ahead: u64,
    /// How many bytes a read asks for at least.
    pub(super) read_ahead: usize,
    /// Where the last seek went.
    position: u64,
    /// Kept until the caller sees it. What could not be written is in the tape, and stays there.
    write_error: Option<io::Error>,
}

type InFlight = Pin<Box<dyn Future<Output = (Finished, Option<Tape>)> + Send + Sync>>;

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
            tape: Tape::default(),
            in_flight: None,
            ahead: 0,
            read_ahead: 0,
            position: 0,
            write_error: None,
        }
    }

    pub(super) fn is_idle(&self) -> bool {
        self.in_flight.is_none()
    }

    pub(super) fn unread(&self) -> &[u8] {
        self.tape.unread()
    }

    pub(super) fn consume(&mut self, count: usize) {
        self.tape.consume(count);
    }

    pub(super) fn forget_unread(&mut self) {
        self.tape.forget_unread();
    }

    /// As [`Tape::return_unread`]. No operation may be in flight.
    pub(super) fn return_unread(&mut self) {
        self.tape.return_unread(self.descriptor.file());
    }

    fn take_write_error(&mut self) -> io::Result<()> {
        self.write_error.take().map_or(Ok(()), Err)
    }

    /// Whether bytes are left of a write that failed. No operation may be in flight.
    pub(super) fn has_unwritten(&self) -> bool {
        !self.tape.unwritten().is_empty()
    }

    /// As [`Tape::must_write_first`]. No operation may be in flight.
    pub(super) fn must_write_first(&self) -> bool {
        self.tape.must_write_first()
    }

    /// As [`Tape::take_unwritten`], for another file that writes them. No operation may be in flight.
    #[cfg(all(feature = "tokio-fs", not(loom)))]
    pub(super) fn take_unwritten(&mut self) -> Vec<u8> {
        self.tape.take_unwritten()
    }

    /// Has the next operation that tells of write errors tell this one.
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

    /// Whether something was accepted and not written, as far as the operation in flight has not ended.
    pub(super) fn owes_a_write(&self) -> bool {
        self.write_error.is_some() || self.has_unwritten()
    }

    /// Waits for the operation in flight and says how it ended; `None` if there is none. A write's error is kept.
    pub(super) fn poll_idle(&mut self, cx: &mut Context<'_>) -> Poll<Option<Finished>> {
        let Some(operation) = &mut self.in_flight else { return Poll::Ready(None) };
        let (finished, tape) = ready!(operation.as_mut().poll(cx));
        self.in_flight = None;
        self.tape = tape.unwrap_or_else(|| Tape::lost(self.ahead));
        match finished {
            Finished::Write(Err(error)) => {
                self.write_error = Some(error);
                Poll::Ready(None)
            }
            finished => Poll::Ready(Some(finished)),
        }
    }

    /// Waits until everything that was accepted is written. What is left of a write that failed is tried again once its
    /// error was told.
    pub(super) fn poll_written(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            ready!(self.poll_idle(cx));
            self.take_write_error()?;
            if !self.has_unwritten() {
                return Poll::Ready(Ok(()));
            }
            self.write_tape();
        }
    }

    /// As [`poll_idle`](Cursor::poll_idle), for the answer to a seek: its position, or where the last one went.
    pub(super) fn poll_position(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<u64>> {
        if let Some(Finished::Seek(answer)) = ready!(self.poll_idle(cx)) {
            self.position = answer?;
        }
        self.take_write_error()?;
        Poll::Ready(Ok(self.position))
    }

    pub(super) fn begin_read(&mut self, wanted: usize, max_size: usize) {
        let size = wanted.max(self.read_ahead).min(max_size);
        let request = self.descriptor.request_with_flags(Command::Read).i3(size as i64);
        self.begin_reading(request, size);
    }

    pub(super) fn begin_read_line(&mut self, max_size: usize) {
        const SIZE: usize = 64 << 10;
        let size = if self.read_ahead == 0 { SIZE } else { self.read_ahead }.min(max_size);
        let request = self.descriptor.request_with_flags(Command::ReadLine);
        let request = request.i3(self.unread().len() as i64).i4(size as i64);
        self.begin_reading(request, size);
    }

    pub(super) fn begin_seek(&mut self, to: SeekFrom) {
        // The caller counts from behind what it has read.
        let (to, offset, origin) = match to {
            SeekFrom::Start(offset) => (to, offset as i64, 0),
            SeekFrom::Current(offset) => {
                let offset = offset.saturating_sub_unsigned(self.tape.ahead());
                (SeekFrom::Current(offset), offset, 1)
            }
            SeekFrom::End(offset) => (to, offset, 2),
        };
        let request = self.descriptor.request(Command::Lseek).i2(offset).i3(origin);
        self.begin(request, move |file, tape| tape.seek(file, to), Finished::Seek);
    }

    /// Takes up to `max_size` bytes to be written, and says how many. Everything from before must be written.
    pub(super) fn begin_write<'a>(&mut self, sources: impl Iterator<Item = &'a [u8]>, max_size: usize) -> usize {
        let size = self.tape.load(sources, max_size);
        if size > 0 {
            self.write_tape();
        }
        size
    }

    /// Begins an operation that needs nobody to poll it.
    fn write_tape(&mut self) {
        self.ahead = self.tape.ahead();
        let size = self.tape.unwritten().len();
        let request = self.descriptor.request_with_flags(Command::Write).i3(size as i64);
        let tape = mem::take(&mut self.tape);
        let (sender, receiver) = oneshot::channel();
        let descriptor = Arc::clone(&self.descriptor);
        self.descriptor.driver().detach(
            self.descriptor.port(),
            tag::get_tag_data(),
            request,
            tape,
            move |_, tape| tape.write(descriptor.file()),
            |answer, tape| {
                // The file may have been dropped.
                let _ = sender.send((Finished::Write(answer), tape));
            },
        );
        let in_flight = answered(receiver);
        self.in_flight = Some(Box::pin(async {
            match in_flight.await {
                Some(answer) => answer.expect("every operation is answered"),
                // The parent of this process writes.
                None => (Finished::Write(Err(Errno::CANCELED.into())), None),
            }
        }));
    }

    fn begin_reading(&mut self, request: Request, size: usize) {
        debug_assert!(self.is_idle());
        self.ahead = self.tape.ahead();
        let tape = mem::take(&mut self.tape);
        let descriptor = Arc::clone(&self.descriptor);
        self.in_flight = Some(Box::pin(async move {
            let (inline, user) = (descriptor.is_inline(size), Arc::clone(&descriptor));
            let attempt =
                |_: &Request, tape: &mut Tape| tape.read(descriptor.file(), size, |bytes| descriptor.try_read(bytes));
            let work =
                move |_: &Request, tape: &mut Tape| tape.read(user.file(), size, |bytes| read(user.file(), bytes));
            let (driver, port) = (descriptor.driver(), descriptor.port());
            let (answer, tape) = driver.run_inline(inline, port, request, tape, attempt, work).await;
            (Finished::Read(answer), tape)
        }));
    }

    fn begin<T: Send + 'static>(
        &mut self,
        request: Request,
        work: impl FnOnce(&File, &mut Tape) -> io::Result<T> + Send + Sync + 'static,
        finished: fn(io::Result<T>) -> Finished,
    ) {
        debug_assert!(self.is_idle());
        self.ahead = self.tape.ahead();
        let tape = mem::take(&mut self.tape);
        let descriptor = Arc::clone(&self.descriptor);
        self.in_flight = Some(Box::pin(async move {
            let user = Arc::clone(&descriptor);
            let work = move |_: &Request, tape: &mut Tape| work(user.file(), tape);
            let (answer, tape) = descriptor.driver().run_with(descriptor.port(), request, tape, work).await;
            (finished(answer), tape)
        }));
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
