//! The cursor of an open file: its buffer, and the one operation that may be in flight on it.

use std::fs::File;
use std::future::Future;
use std::io::{self, SeekFrom};
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::sync::oneshot;

use super::tape::Tape;
use crate::efile::{Command, Descriptor, Request};

/// The most bytes that one READ or WRITE moves, and the most that may be read ahead.
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
    /// Kept until the caller sees it.
    write_error: Option<io::Error>,
}

type InFlight = Pin<Box<dyn Future<Output = (Finished, Option<Tape>)> + Send>>;

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

    pub(super) fn take_write_error(&mut self) -> io::Result<()> {
        self.write_error.take().map_or(Ok(()), Err)
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

    /// Waits for the operation in flight and takes the error that is kept, if there is one.
    pub(super) fn poll_written(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_idle(cx));
        Poll::Ready(self.take_write_error())
    }

    /// As [`poll_idle`](Cursor::poll_idle), for the answer to a seek: its position, or where the last one went.
    pub(super) fn poll_position(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<u64>> {
        if let Some(Finished::Seek(answer)) = ready!(self.poll_idle(cx)) {
            self.position = answer?;
        }
        self.take_write_error()?;
        Poll::Ready(Ok(self.position))
    }

    pub(super) fn begin_read(&mut self, wanted: usize) {
        let size = wanted.max(self.read_ahead).min(MAX_SIZE);
        let request = self.descriptor.request_with_flags(Command::Read).i3(size as i64);
        self.begin(request, move |file, tape| tape.read(file, size), Finished::Read);
    }

    pub(super) fn begin_read_line(&mut self) {
        const SIZE: usize = 64 << 10;
        let size = if self.read_ahead == 0 { SIZE } else { self.read_ahead };
        let request = self.descriptor.request_with_flags(Command::ReadLine);
        let request = request.i3(self.unread().len() as i64).i4(size as i64);
        self.begin(request, move |file, tape| tape.read(file, size), Finished::Read);
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

    /// Takes up to [`MAX_SIZE`] bytes to be written, and says how many. The operation needs nobody to poll it.
    pub(super) fn begin_write(&mut self, source: &[u8]) -> usize {
        let size = source.len().min(MAX_SIZE);
        self.ahead = self.tape.ahead();
        self.tape.load(&source[..size]);
        let request = self.descriptor.request_with_flags(Command::Write).i3(size as i64);
        let tape = mem::take(&mut self.tape);
        let (sender, receiver) = oneshot::channel();
        let descriptor = Arc::clone(&self.descriptor);
        self.descriptor.driver().detach(
            self.descriptor.port(),
            request,
            tape,
            move |_, tape| tape.write(descriptor.file()),
            |answer, tape| {
                // The file may have been dropped.
                let _ = sender.send((Finished::Write(answer), tape));
            },
        );
        self.in_flight = Some(Box::pin(async { receiver.await.expect("every operation is answered") }));
        size
    }

    fn begin<T: Send + 'static>(
        &mut self,
        request: Request,
        work: impl FnOnce(&File, &mut Tape) -> io::Result<T> + Send + 'static,
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
