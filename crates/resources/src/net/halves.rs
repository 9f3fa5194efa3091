//! The halves of a stream.

/// Defines them, for a stream of this crate with its type of addresses.
macro_rules! halves {
    ($name:literal, $stream:ident, $address:ty) => {
        #[doc = concat!("Reads from a stream that is borrowed: half of [`", $name, "::split`].")]
        #[derive(Debug)]
        pub struct ReadHalf<'a>(pub(super) &'a $stream);

        #[doc = concat!("Writes to a stream that is borrowed: half of [`", $name, "::split`].")]
        #[derive(Debug)]
        pub struct WriteHalf<'a>(pub(super) &'a $stream);

        #[doc = concat!("Reads from a stream that it has together with the other half of [`", $name, "::into_split`].")]
        #[derive(Debug)]
        pub struct OwnedReadHalf {
            inner: Arc<$stream>,
        }

        #[doc = concat!("Writes to a stream that it has together with the other half of [`", $name, "::into_split`].")]
        /// Dropping it shuts the stream down for writing.
        #[derive(Debug)]
        pub struct OwnedWriteHalf {
            inner: Arc<$stream>,
            shutdown_on_drop: bool,
        }

        /// Two halves are not of the same stream. Contains both.
        #[derive(Debug)]
        pub struct ReuniteError(pub OwnedReadHalf, pub OwnedWriteHalf);

        impl fmt::Display for ReuniteError {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("tried to reunite halves that are not from the same socket")
            }
        }

        impl Error for ReuniteError {}

        /// Splits a stream that nobody polls any more.
        pub(super) fn split(stream: &mut $stream) -> (ReadHalf<'_>, WriteHalf<'_>) {
            stream.0.reader_left();
            stream.0.writer_left();
            (ReadHalf(stream), WriteHalf(stream))
        }

        /// Splits a stream that nobody polls any more.
        pub(super) fn into_split(stream: $stream) -> (OwnedReadHalf, OwnedWriteHalf) {
            stream.0.reader_left();
            stream.0.writer_left();
            let inner = Arc::new(stream);
            (OwnedReadHalf { inner: Arc::clone(&inner) }, OwnedWriteHalf { inner, shutdown_on_drop: true })
        }

        fn reunite(read: OwnedReadHalf, write: OwnedWriteHalf) -> Result<$stream, ReuniteError> {
            if !Arc::ptr_eq(&read.inner, &write.inner) {
                return Err(ReuniteError(read, write));
            }
            let inner = Arc::clone(&read.inner);
            write.forget();
            drop(read);
            Ok(Arc::try_unwrap(inner).expect("nothing but the two halves has the stream"))
        }

        impl OwnedReadHalf {
            /// Makes the stream of both halves again. Ends their waits.
            ///
            /// # Errors
            ///
            /// The halves are not of the same stream.
            pub fn reunite(self, other: OwnedWriteHalf) -> Result<$stream, ReuniteError> {
                reunite(self, other)
            }
        }

        impl OwnedWriteHalf {
            /// Makes the stream of both halves again. Ends their waits.
            ///
            /// # Errors
            ///
            /// The halves are not of the same stream.
            pub fn reunite(self, other: OwnedReadHalf) -> Result<$stream, ReuniteError> {
                reunite(other, self)
            }

            /// Drops the half without shutting the stream down.
            pub fn forget(mut self) {
                self.shutdown_on_drop = false;
            }
        }

        impl Drop for OwnedReadHalf {
            fn drop(&mut self) {
                self.inner.0.reader_left();
            }
        }

        impl Drop for OwnedWriteHalf {
            fn drop(&mut self) {
                self.inner.0.writer_left();
                if self.shutdown_on_drop {
                    // As tokio's: nobody is there to hear of an error.
                    let _ = self.inner.0.shut_down();
                }
            }
        }

        $crate::net::halves::half!(ReadHalf<'_>, $stream, $address, |half| half.0, reads);
        $crate::net::halves::half!(OwnedReadHalf, $stream, $address, |half| &*half.inner, reads);
        $crate::net::halves::half!(WriteHalf<'_>, $stream, $address, |half| half.0, writes);
        $crate::net::halves::half!(OwnedWriteHalf, $stream, $address, |half| &*half.inner, writes);
    };
}

/// The methods and traits of one half, whose stream the closure returns.
macro_rules! half {
    ($half:ty, $stream:ident, $address:ty, |$this:ident| $inner:expr, $direction:ident) => {
        impl $half {
            fn stream(&self) -> &$stream {
                let $this = self;
                $inner
            }

            #[doc = concat!("Does the same as [`ready`](", stringify!($stream), "::ready) of the stream.")]
            #[track_caller]
            pub fn ready(&self, interest: Interest) -> impl Future<Output = io::Result<Ready>> {
                self.stream().ready(interest)
            }

            /// Returns the address of the other end.
            pub fn peer_addr(&self) -> io::Result<$address> {
                self.stream().peer_addr()
            }

            /// Returns the stream's own address.
            pub fn local_addr(&self) -> io::Result<$address> {
                self.stream().local_addr()
            }
        }

        impl AsRef<$stream> for $half {
            fn as_ref(&self) -> &$stream {
                self.stream()
            }
        }

        $crate::net::halves::$direction!($half);
    };
}

/// Defines the rest of a half that reads.
macro_rules! reads {
    ($half:ty) => {
        impl $half {
            /// Waits until there is something to read.
            #[track_caller]
            pub fn readable(&self) -> impl Future<Output = io::Result<()>> {
                self.stream().readable()
            }

            /// Reads if there is something to read.
            ///
            /// # Errors
            ///
            /// There is nothing ([`WouldBlock`](io::ErrorKind::WouldBlock)), or the system's error.
            pub fn try_read(&self, buf: &mut [u8]) -> io::Result<usize> {
                self.stream().try_read(buf)
            }

            /// Reads into the first buffer, then the next, as [`try_read`](Self::try_read).
            pub fn try_read_vectored(&self, bufs: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
                self.stream().try_read_vectored(bufs)
            }

            /// Reads into the room that a buffer has left, as [`try_read`](Self::try_read).
            pub fn try_read_buf<B: BufMut>(&self, buf: &mut B) -> io::Result<usize> {
                self.stream().try_read_buf(buf)
            }
        }

        impl AsyncRead for $half {
            fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
                self.stream().0.poll_read(cx, buf)
            }
        }
    };
}

/// Defines the rest of a half that writes.
macro_rules! writes {
    ($half:ty) => {
        impl $half {
            /// Waits until there is room for something to write.
            #[track_caller]
            pub fn writable(&self) -> impl Future<Output = io::Result<()>> {
                self.stream().writable()
            }

            /// Writes if there is room.
            ///
            /// # Errors
            ///
            /// There is none ([`WouldBlock`](io::ErrorKind::WouldBlock)), or the system's error.
            pub fn try_write(&self, buf: &[u8]) -> io::Result<usize> {
                self.stream().try_write(buf)
            }

            /// Writes the first buffer, then the next, as [`try_write`](Self::try_write).
            pub fn try_write_vectored(&self, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
                self.stream().try_write_vectored(bufs)
            }
        }

        impl AsyncWrite for $half {
            fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
                self.stream().0.poll_write(cx, buf)
            }

            fn poll_write_vectored(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                bufs: &[IoSlice<'_>],
            ) -> Poll<io::Result<usize>> {
                self.stream().0.poll_write_vectored(cx, bufs)
            }

            fn is_write_vectored(&self) -> bool {
                self.stream().is_write_vectored()
            }

            fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
                Poll::Ready(Ok(()))
            }

            fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
                self.stream().0.writer_left();
                Poll::Ready(self.stream().0.shut_down())
            }
        }
    };
}

pub(super) use {half, halves, reads, writes};
