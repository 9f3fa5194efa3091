//! Halves of a `TcpStream`.

use std::error::Error;
use std::fmt;
use std::io::{self, IoSlice, IoSliceMut};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::BufMut;
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf, Ready};

use super::super::halves::halves;
use super::stream::TcpStream;

halves!("TcpStream", TcpStream, SocketAddr);

macro_rules! peeks {
    ($($half:ty)+) => { $(
        impl $half {
            /// Reads, and leaves what it read for the next reader.
            #[track_caller]
            pub fn peek(&mut self, buf: &mut [u8]) -> impl Future<Output = io::Result<usize>> {
                self.stream().peek(buf)
            }

            /// [`peek`](Self::peek), for futures written by hand.
            pub fn poll_peek(&mut self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<usize>> {
                self.stream().poll_peek(cx, buf)
            }
        }
    )+ };
}

peeks!(ReadHalf<'_> OwnedReadHalf);
