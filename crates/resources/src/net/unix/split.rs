//! Halves of a `UnixStream`.

use std::error::Error;
use std::fmt;
use std::io::{self, IoSlice, IoSliceMut};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::BufMut;
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf, Ready};
use tokio::net::unix::SocketAddr;

use super::super::halves::halves;
use super::stream::UnixStream;

halves!("UnixStream", UnixStream, SocketAddr);
