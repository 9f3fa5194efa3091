//! The methods and traits that streams have in common.

/// Defines them, for a stream of this crate with its type of addresses and the types of its halves.
macro_rules! stream {
    ($name:literal, $stream:ident, $address:ty) => {
        impl $stream {
            $crate::net::by_tokio::same! { $name:
                fn local_addr(&self) -> io::Result<$address>;
                fn peer_addr(&self) -> io::Result<$address>;
                fn take_error(&self) -> io::Result<Option<io::Error>>;
                fn try_read(&self, buf: &mut [u8]) -> io::Result<usize>;
                fn try_read_vectored(&self, bufs: &mut [IoSliceMut<'_>]) -> io::Result<usize>;
                fn try_read_buf<B: BufMut>(&self, buf: &mut B) -> io::Result<usize>;
                fn try_write(&self, buf: &[u8]) -> io::Result<usize>;
                fn try_write_vectored(&self, bufs: &[IoSlice<'_>]) -> io::Result<usize>;
            }

            $crate::net::by_tokio::waits! { $name:
                waits ready(&self, interest: Interest) -> io::Result<Ready>;
                reads readable(&self) -> io::Result<()>;
                writes writable(&self) -> io::Result<()>;
            }

            $crate::net::by_tokio::polls! { $name:
                polled_read poll_read_ready(&self, cx) -> io::Result<()>;
                polled_write poll_write_ready(&self, cx) -> io::Result<()>;
            }

            #[doc = concat!("Does the same as [`tokio::net::", $name, "::try_io`].")]
            pub fn try_io<R>(&self, interest: Interest, f: impl FnOnce() -> io::Result<R>) -> io::Result<R> {
                self.0.io.try_io(interest, f)
            }

            #[doc = concat!("Does the same as [`tokio::net::", $name, "::async_io`], and shows the wait.")]
            #[track_caller]
            pub fn async_io<R>(
                &self,
                interest: Interest,
                f: impl FnMut() -> io::Result<R>,
            ) -> impl Future<Output = io::Result<R>> {
                self.0.waits(concat!($name, "::async_io"), Location::caller(), self.0.io.async_io(interest, f))
            }

            /// Borrows the stream as a half that reads and one that writes. Ends its waits.
            #[allow(clippy::needless_lifetimes, reason = "callers may name it, as tokio's")]
            pub fn split<'a>(&'a mut self) -> (ReadHalf<'a>, WriteHalf<'a>) {
                split(self)
            }

            /// Splits the stream into a half that reads and one that writes. Ends its waits.
            pub fn into_split(self) -> (OwnedReadHalf, OwnedWriteHalf) {
                into_split(self)
            }
        }

        impl AsRef<Self> for $stream {
            fn as_ref(&self) -> &Self {
                self
            }
        }

        impl AsyncRead for $stream {
            #[inline]
            fn poll_read(
                mut self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                buf: &mut ReadBuf<'_>,
            ) -> Poll<io::Result<()>> {
                let answer = Pin::new(&mut self.0.io).poll_read(cx, buf);
                self.0.polled_read(answer)
            }
        }

        impl AsyncWrite for $stream {
            #[inline]
            fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
                let answer = Pin::new(&mut self.0.io).poll_write(cx, buf);
                self.0.polled_write(answer)
            }

            #[inline]
            fn poll_write_vectored(
                mut self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                bufs: &[IoSlice<'_>],
            ) -> Poll<io::Result<usize>> {
                let answer = Pin::new(&mut self.0.io).poll_write_vectored(cx, bufs);
                self.0.polled_write(answer)
            }

            fn is_write_vectored(&self) -> bool {
                self.0.io.is_write_vectored()
            }

            fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                Pin::new(&mut self.0.io).poll_flush(cx)
            }

            fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                self.0.writer_left();
                Pin::new(&mut self.0.io).poll_shutdown(cx)
            }
        }

        $crate::net::polling::stream_of_tokio!(::tokio::net::$stream);
    };
}

pub(super) use stream;
