//! Frames: a length, then a message, a user tag, or nothing (a tick).

use std::io;
use std::time::Duration;

use erl_dist::message::Message;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::time::timeout;

/// The first byte of a message on a connection without an atom cache.
pub(super) const MESSAGE: u8 = 112;
/// The first byte of a user tag, which goes before its message. Only nodes of dyntrace get it.
pub(super) const USER_TAG: u8 = 0xd7;

/// A tick.
pub(super) const TICK: [u8; 4] = [0; 4];

/// The size of a read.
const STEP: usize = 256 << 10;

/// Appends a frame to `bytes`.
pub(super) fn write<E>(
    bytes: &mut Vec<u8>,
    kind: u8,
    content: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
) -> Result<(), E> {
    let start = bytes.len();
    bytes.extend_from_slice(&TICK);
    bytes.push(kind);
    content(bytes)?;
    // Longer messages are refused before this.
    let length = u32::try_from(bytes.len() - start - TICK.len()).unwrap_or(u32::MAX);
    bytes[start..start + TICK.len()].copy_from_slice(&length.to_be_bytes());
    Ok(())
}

/// Appends a message as a frame.
pub(super) fn message(bytes: &mut Vec<u8>, message: Message) -> Result<(), String> {
    write(bytes, MESSAGE, |bytes| message.write_into(bytes)).map_err(|reason| reason.to_string())
}

/// A message as a frame.
pub(super) fn of(message: Message) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::with_capacity(128);
    self::message(&mut bytes, message)?;
    Ok(bytes)
}

/// Reads frames.
pub(super) struct Frames<R> {
    source: R,
    bytes: Vec<u8>,
    /// The bytes before it have been returned.
    at: usize,
    limit: usize,
    /// The longest time without a byte.
    silence: Option<Duration>,
}

impl<R: AsyncRead + Unpin> Frames<R> {
    pub(super) fn new(source: R, limit: usize, silence: Option<Duration>) -> Frames<R> {
        Frames { source, bytes: Vec::new(), at: 0, limit, silence }
    }

    /// Returns the next frame without its length; `None` at the end. Cancellation loses nothing.
    ///
    /// # Errors
    ///
    /// Those of the source; `InvalidData` for a frame above the limit; `UnexpectedEof` in the middle of a frame; `TimedOut` after the
    /// longest time without a byte. A whole frame may take longer.
    pub(super) async fn next(&mut self) -> io::Result<Option<&[u8]>> {
        let length = loop {
            let there = &self.bytes[self.at..];
            if let Some((length, frame)) = there.split_first_chunk::<4>() {
                let length = u32::from_be_bytes(*length) as usize;
                if length > self.limit {
                    let reason = format!("it sent a message of {length} bytes; Options::max_message is {}", self.limit);
                    return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
                }
                if frame.len() >= length {
                    break length;
                }
            }
            if !self.fill().await? {
                return match self.bytes.len() == self.at {
                    true => Ok(None),
                    false => Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it ended in the middle of a message")),
                };
            }
        };
        let start = self.at + 4;
        self.at = start + length;
        Ok(Some(&self.bytes[start..self.at]))
    }

    /// Reads more bytes. The buffer grows with the bytes that have arrived, not with the length that a peer claims.
    async fn fill(&mut self) -> io::Result<bool> {
        self.bytes.drain(..self.at);
        self.at = 0;
        if self.bytes.is_empty() {
            self.bytes.shrink_to(STEP);
        }
        self.bytes.reserve(STEP);
        let read = self.source.read_buf(&mut self.bytes);
        let count = match self.silence {
            None => read.await,
            Some(silence) => timeout(silence, read).await.unwrap_or_else(|_| {
                let reason = format!("nothing came from it for {silence:?}, not even a tick");
                Err(io::Error::new(io::ErrorKind::TimedOut, reason))
            }),
        };
        Ok(count? > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn all(bytes: &[u8], limit: usize) -> (Vec<Vec<u8>>, Option<io::ErrorKind>) {
        let mut frames = Frames::new(bytes, limit, None);
        let mut seen = Vec::new();
        loop {
            match frames.next().await {
                Ok(Some(frame)) => seen.push(frame.to_vec()),
                Ok(None) => return (seen, None),
                Err(error) => return (seen, Some(error.kind())),
            }
        }
    }

    #[tokio::test]
    async fn frames_are_told_apart_and_held_to_their_limit() {
        let mut bytes = TICK.to_vec();
        let content = |bytes: &mut Vec<u8>| io::Write::write_all(bytes, b"content");
        write(&mut bytes, 7, content).unwrap();
        bytes.extend_from_slice(&TICK);
        assert_eq!(all(&bytes, 8).await, (vec![vec![], b"\x07content".to_vec(), vec![]], None));
        assert_eq!(all(&bytes, 7).await, (vec![vec![]], Some(io::ErrorKind::InvalidData)));
        assert_eq!(all(&bytes[..10], 8).await, (vec![vec![]], Some(io::ErrorKind::UnexpectedEof)));
        assert_eq!(all(&u32::MAX.to_be_bytes(), 8).await, (vec![], Some(io::ErrorKind::InvalidData)));
    }
}
