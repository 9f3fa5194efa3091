//! The methods that datagram sockets have in common.

/// Defines them, for a socket of this crate with its type of addresses.
macro_rules! datagrams {
    ($name:literal, $socket:ident, $address:ty) => {
        impl $socket {
            $crate::net::by_tokio::same! { $name:
                fn local_addr(&self) -> io::Result<$address>;
                fn peer_addr(&self) -> io::Result<$address>;
                fn take_error(&self) -> io::Result<Option<io::Error>>;
                fn try_send(&self, buf: &[u8]) -> io::Result<usize>;
                fn try_recv(&self, buf: &mut [u8]) -> io::Result<usize>;
                fn try_recv_buf<B: BufMut>(&self, buf: &mut B) -> io::Result<usize>;
                fn try_recv_from(&self, buf: &mut [u8]) -> io::Result<(usize, $address)>;
                fn try_recv_buf_from<B: BufMut>(&self, buf: &mut B) -> io::Result<(usize, $address)>;
            }

            $crate::net::by_tokio::waits! { $name:
                waits ready(&self, interest: Interest) -> io::Result<Ready>;
                reads readable(&self) -> io::Result<()>;
                writes writable(&self) -> io::Result<()>;
                writes send(&self, buf: &[u8]) -> io::Result<usize>;
                reads recv(&self, buf: &mut [u8]) -> io::Result<usize>;
                reads recv_buf<B: BufMut>(&self, buf: &mut B) -> io::Result<usize>;
                reads recv_from(&self, buf: &mut [u8]) -> io::Result<(usize, $address)>;
                reads recv_buf_from<B: BufMut>(&self, buf: &mut B) -> io::Result<(usize, $address)>;
            }

            $crate::net::by_tokio::polls! { $name:
                polled_write poll_send_ready(&self, cx) -> io::Result<()>;
                polled_read poll_recv_ready(&self, cx) -> io::Result<()>;
                polled_write poll_send(&self, cx, buf: &[u8]) -> io::Result<usize>;
                polled_read poll_recv(&self, cx, buf: &mut ReadBuf<'_>) -> io::Result<()>;
                polled_read poll_recv_from(&self, cx, buf: &mut ReadBuf<'_>) -> io::Result<$address>;
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
        }
    };
}

pub(super) use datagrams;
