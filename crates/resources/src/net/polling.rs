//! Reading and writing through a shared reference, as halves of a stream do.
//!
//! tokio's streams do that for their own halves only. Its public parts add up to the same: wait for readiness, then try, and take the
//! readiness back if the kernel has no more. Between the look at the readiness and that, `try_io` keeps an event that arrives.

use std::io::{self, ErrorKind, IoSlice};
use std::net::Shutdown;
use std::os::fd::AsFd;
use std::task::{Context, Poll, ready};

use tokio::io::{Interest, ReadBuf};

use super::socket::{Endpoint, Socket};

/// A stream of tokio's.
pub(super) trait Stream: Endpoint + AsFd {
    fn read_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>>;
    fn write_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>>;
    fn tried<R>(&self, interest: Interest, f: impl FnOnce() -> io::Result<R>) -> io::Result<R>;
    fn read_now(&self, buf: &mut ReadBuf<'_>) -> io::Result<usize>;
    fn write_now(&self, buf: &[u8]) -> io::Result<usize>;
    fn write_vectored_now(&self, bufs: &[IoSlice<'_>]) -> io::Result<usize>;
}

macro_rules! stream_of_tokio {
    ($stream:ty) => {
        impl $crate::net::polling::Stream for $stream {
            fn read_ready(&self, cx: &mut ::std::task::Context<'_>) -> ::std::task::Poll<::std::io::Result<()>> {
                self.poll_read_ready(cx)
            }

            fn write_ready(&self, cx: &mut ::std::task::Context<'_>) -> ::std::task::Poll<::std::io::Result<()>> {
                self.poll_write_ready(cx)
            }

            fn tried<R>(
                &self,
                interest: ::tokio::io::Interest,
                f: impl FnOnce() -> ::std::io::Result<R>,
            ) -> ::std::io::Result<R> {
                self.try_io(interest, f)
            }

            fn read_now(&self, buf: &mut ::tokio::io::ReadBuf<'_>) -> ::std::io::Result<usize> {
                self.try_read_buf(buf)
            }

            fn write_now(&self, buf: &[u8]) -> ::std::io::Result<usize> {
                self.try_write(buf)
            }

            fn write_vectored_now(&self, bufs: &[::std::io::IoSlice<'_>]) -> ::std::io::Result<usize> {
                self.try_write_vectored(bufs)
            }
        }
    };
}
pub(super) use stream_of_tokio;

/// Whether a part of a buffer says that the kernel has no more, or no more room, and that an event will tell when it has. True of epoll
/// and of kqueue; tokio's own streams take that way on the same systems.
fn is_drained(moved: usize, length: usize) -> bool {
    let by_edges = cfg!(all(
        not(mio_unsupported_force_poll_poll),
        any(
            target_os = "android",
            target_os = "dragonfly",
            target_os = "freebsd",
            target_os = "illumos",
            target_os = "ios",
            target_os = "linux",
            target_os = "macos",
            target_os = "netbsd",
            target_os = "openbsd",
        )
    ));
    by_edges && 0 < moved && moved < length
}

impl<T: Stream> Socket<T> {
    pub(super) fn poll_read(&self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.polled_read(read(&self.io, cx, buf))
    }

    pub(super) fn poll_write(&self, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.polled_write(write(&self.io, cx, |io| io.write_now(buf), |moved| is_drained(moved, buf.len())))
    }

    pub(super) fn poll_write_vectored(&self, cx: &mut Context<'_>, bufs: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        self.polled_write(write(&self.io, cx, |io| io.write_vectored_now(bufs), |_| false))
    }

    /// Ends the stream in the direction in which it writes.
    pub(super) fn shut_down(&self) -> io::Result<()> {
        match shutdown(&self.io, Shutdown::Write) {
            Err(error) if error.kind() == ErrorKind::NotConnected => Ok(()),
            answer => answer,
        }
    }
}

pub(super) fn shutdown(socket: impl AsFd, how: Shutdown) -> io::Result<()> {
    let how = match how {
        Shutdown::Read => rustix::net::Shutdown::Read,
        Shutdown::Write => rustix::net::Shutdown::Write,
        Shutdown::Both => rustix::net::Shutdown::Both,
    };
    Ok(rustix::net::shutdown(socket, how)?)
}

fn read<T: Stream>(io: &T, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
    loop {
        ready!(io.read_ready(cx))?;
        let room = buf.remaining();
        let moved = moved(io, Interest::READABLE, || io.read_now(buf), |moved| is_drained(moved, room));
        if let Some(answer) = moved {
            return Poll::Ready(answer.map(drop));
        }
    }
}

fn write<T: Stream>(
    io: &T,
    cx: &mut Context<'_>,
    write: impl Fn(&T) -> io::Result<usize>,
    is_drained: impl Fn(usize) -> bool,
) -> Poll<io::Result<usize>> {
    loop {
        ready!(io.write_ready(cx))?;
        if let Some(answer) = moved(io, Interest::WRITABLE, || write(io), &is_drained) {
            return Poll::Ready(answer);
        }
    }
}

/// Moves bytes, and takes the readiness back if the kernel is drained. `None` if the stream is not ready.
fn moved<T: Stream>(
    io: &T,
    interest: Interest,
    moves: impl FnOnce() -> io::Result<usize>,
    is_drained: impl FnOnce(usize) -> bool,
) -> Option<io::Result<usize>> {
    let mut moved = None;
    let tried = io.tried(interest, || {
        let bytes = moves()?;
        moved = Some(bytes);
        // This error takes the readiness back.
        if is_drained(bytes) { Err(ErrorKind::WouldBlock.into()) } else { Ok(bytes) }
    });
    match (moved, tried) {
        (Some(bytes), _) => Some(Ok(bytes)),
        (None, Err(error)) if error.kind() == ErrorKind::WouldBlock => None,
        (None, tried) => Some(tried),
    }
}
