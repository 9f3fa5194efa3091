//! Length fields of handshake messages: two bytes over TCP, four over TLS. `erl_dist` knows only those of two.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Widens the length fields of written messages to four bytes, and narrows those of read messages to two.
#[derive(Debug, Default)]
pub(super) struct Lengths {
    /// The bytes of a length that have arrived.
    length: Vec<u8>,
    /// Bytes to return before more are read.
    given: VecDeque<u8>,
    /// The bytes of a message that are still missing.
    left: usize,
    /// The beginning of an incomplete message.
    begun: Vec<u8>,
    /// Bytes to write.
    ready: VecDeque<u8>,
}

impl Lengths {
    pub(super) fn poll_read(
        &mut self,
        socket: &mut (impl AsyncRead + Unpin),
        context: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        loop {
            if !self.given.is_empty() {
                return Poll::Ready(io::Read::read(&mut self.given, buffer));
            }
            if self.left > 0 {
                let at_most = self.left.min(buffer.len());
                let read = ready!(read(socket, context, &mut buffer[..at_most]))?;
                self.left -= read;
                return Poll::Ready(Ok(read));
            }
            let mut length = [0; 4];
            let missing = length.len() - self.length.len();
            let count = ready!(read(socket, context, &mut length[..missing]))?;
            if count == 0 {
                return Poll::Ready(Ok(0));
            }
            self.length.extend_from_slice(&length[..count]);
            if let Ok(length) = <[u8; 4]>::try_from(&*self.length) {
                let too_long = || io::Error::new(io::ErrorKind::InvalidData, "a message of the handshake is too long");
                let length = u16::try_from(u32::from_be_bytes(length)).map_err(|_| too_long())?;
                self.given.extend(length.to_be_bytes());
                self.left = length.into();
                self.length.clear();
            }
        }
    }

    /// Buffers `bytes`. A later call writes them, at the latest [`Lengths::poll_flush`].
    pub(super) fn poll_write(
        &mut self,
        socket: &mut (impl AsyncWrite + Unpin),
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_drain(socket, context))?;
        self.begun.extend_from_slice(bytes);
        while let Some((length, rest)) = self.begun.split_first_chunk::<2>() {
            let length = u16::from_be_bytes(*length);
            let Some(message) = rest.get(..length.into()) else { break };
            self.ready.extend(u32::from(length).to_be_bytes());
            self.ready.extend(message);
            self.begun.drain(..2 + usize::from(length));
        }
        Poll::Ready(Ok(bytes.len()))
    }

    pub(super) fn poll_flush(
        &mut self,
        socket: &mut (impl AsyncWrite + Unpin),
        context: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        ready!(self.poll_drain(socket, context))?;
        Pin::new(socket).poll_flush(context)
    }

    fn poll_drain(
        &mut self,
        socket: &mut (impl AsyncWrite + Unpin),
        context: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        while !self.ready.is_empty() {
            let written = ready!(Pin::new(&mut *socket).poll_write(context, self.ready.as_slices().0))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.ready.drain(..written);
        }
        Poll::Ready(Ok(()))
    }
}

/// The number of bytes that arrived.
fn read(
    socket: &mut (impl AsyncRead + Unpin),
    context: &mut Context<'_>,
    buffer: &mut [u8],
) -> Poll<io::Result<usize>> {
    let mut buffer = ReadBuf::new(buffer);
    ready!(Pin::new(socket).poll_read(context, &mut buffer))?;
    Poll::Ready(Ok(buffer.filled().len()))
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    #[tokio::test]
    async fn messages_are_the_same_whatever_pieces_they_come_in() {
        for room in [1, 2, 3, 5, 64] {
            let (mut near, mut far) = tokio::io::duplex(room);
            let wide = async {
                far.write_all(b"\0\0\0\x03abc\0\0\0\0\0\0\0\x01d").await.unwrap();
                let mut written = [0; 14];
                far.read_exact(&mut written).await.unwrap();
                assert_eq!(&written, b"\0\0\0\x02no\0\0\0\0\0\0\0\0"[..].first_chunk().unwrap());
                drop(far);
            };
            let narrow = async {
                let mut lengths = Lengths::default();
                let mut seen = Vec::new();
                while seen.len() < 10 {
                    let mut buffer = [0; 2];
                    let read = poll_fn(|context| lengths.poll_read(&mut near, context, &mut buffer)).await.unwrap();
                    seen.extend_from_slice(&buffer[..read]);
                }
                assert_eq!(seen, b"\0\x03abc\0\0\0\x01d");
                for bytes in [&b"\0"[..], b"\x02n", b"o\0\0", b"\0\0"] {
                    let taken = poll_fn(|context| lengths.poll_write(&mut near, context, bytes)).await.unwrap();
                    assert_eq!(taken, bytes.len());
                }
                poll_fn(|context| lengths.poll_flush(&mut near, context)).await.unwrap();
                let mut buffer = [0; 2];
                assert_eq!(poll_fn(|context| lengths.poll_read(&mut near, context, &mut buffer)).await.unwrap(), 0);
            };
            tokio::join!(wide, narrow);
        }
    }

    #[tokio::test]
    async fn a_length_that_no_handshake_has() {
        let mut socket = &b"\0\x01\0\0"[..];
        let read = poll_fn(|context| Lengths::default().poll_read(&mut socket, context, &mut [0; 2])).await;
        assert_eq!(read.unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
}
