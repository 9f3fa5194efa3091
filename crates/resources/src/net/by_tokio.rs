//! Methods with the names and signatures of tokio's, by one line each.

/// Methods that never wait: tokio's own. With `self.0.io`.
macro_rules! same {
    ($tokio:literal: $($(#[$attribute:meta])* fn $name:ident $(<$generic:ident: $bound:path>)? (&self $(, $argument:ident: $type:ty)*) -> $answer:ty;)+) => { $(
        #[doc = concat!("Does the same as [`tokio::net::", $tokio, "::", stringify!($name), "`].")]
        $(#[$attribute])*
        #[inline]
        pub fn $name $(<$generic: $bound>)? (&self $(, $argument: $type)*) -> $answer {
            self.0.io.$name($($argument),*)
        }
    )+ };
}

/// Options of IP that sockets of TCP and UDP share.
macro_rules! options_of_ip {
    ($tokio:literal) => {
        $crate::net::by_tokio::same! { $tokio:
            #[cfg(any(
                target_os = "android", target_os = "dragonfly", target_os = "freebsd", target_os = "linux", target_os = "macos",
                target_os = "netbsd", target_os = "openbsd"
            ))]
            fn tclass_v6(&self) -> io::Result<u32>;
            #[cfg(any(
                target_os = "android", target_os = "dragonfly", target_os = "freebsd", target_os = "linux", target_os = "macos",
                target_os = "netbsd", target_os = "openbsd"
            ))]
            fn set_tclass_v6(&self, tclass: u32) -> io::Result<()>;
            #[cfg(not(any(target_os = "illumos", target_os = "redox", target_os = "solaris")))]
            fn tos_v4(&self) -> io::Result<u32>;
            #[cfg(not(any(target_os = "illumos", target_os = "redox", target_os = "solaris")))]
            fn set_tos_v4(&self, tos: u32) -> io::Result<()>;
            #[cfg(not(any(target_os = "illumos", target_os = "redox", target_os = "solaris")))]
            #[deprecated = "its new name is tos_v4"]
            #[allow(deprecated)]
            #[doc(hidden)]
            fn tos(&self) -> io::Result<u32>;
            #[cfg(not(any(target_os = "illumos", target_os = "redox", target_os = "solaris")))]
            #[deprecated = "its new name is set_tos_v4"]
            #[allow(deprecated)]
            #[doc(hidden)]
            fn set_tos(&self, tos: u32) -> io::Result<()>;
            #[cfg(any(target_os = "android", target_os = "linux"))]
            fn device(&self) -> io::Result<Option<Vec<u8>>>;
            #[cfg(any(target_os = "android", target_os = "linux"))]
            fn bind_device(&self, interface: Option<&[u8]>) -> io::Result<()>;
        }
    };
}

/// Asynchronous methods. `reads`, `writes` or `waits` is the direction.
macro_rules! waits {
    ($tokio:literal: $($direction:ident $name:ident $(<$generic:ident: $bound:path>)? (&self $(, $argument:ident: $type:ty)*) -> $answer:ty;)+) => { $(
        #[doc = concat!("Does the same as [`tokio::net::", $tokio, "::", stringify!($name), "`], and shows the wait.")]
        #[track_caller]
        #[inline]
        pub fn $name $(<$generic: $bound>)? (&self $(, $argument: $type)*) -> impl Future<Output = $answer> {
            let operation = concat!($tokio, "::", stringify!($name));
            self.0.$direction(operation, ::std::panic::Location::caller(), self.0.io.$name($($argument),*))
        }
    )+ };
}

/// Methods for futures written by hand. `polled_read` or `polled_write` is the direction.
macro_rules! polls {
    ($tokio:literal: $($direction:ident $name:ident $(<$generic:ident: $bound:path>)? (&self, $cx:ident $(, $argument:ident: $type:ty)*) -> $answer:ty;)+) => { $(
        #[doc = concat!(
            "Does the same as [`tokio::net::", $tokio, "::", stringify!($name),
            "`], and shows the wait as the [module's documentation](crate::net) says."
        )]
        #[inline]
        pub fn $name $(<$generic: $bound>)? (&self, $cx: &mut ::std::task::Context<'_> $(, $argument: $type)*) -> ::std::task::Poll<$answer> {
            self.0.$direction(self.0.io.$name($cx $(, $argument)*))
        }
    )+ };
}

/// The traits that each socket has, and the conversions.
macro_rules! socket {
    ($socket:ident, $std:ty) => {
        impl $socket {
            #[inline]
            pub(in crate::net) fn made(
                io: ::tokio::net::$socket,
                place: &'static ::std::panic::Location<'static>,
            ) -> Self {
                $socket($crate::net::socket::Socket::new(io, place))
            }

            /// Takes a socket of the standard library, which must be in nonblocking mode.
            ///
            /// # Errors
            ///
            /// The runtime cannot register the socket.
            ///
            /// # Panics
            ///
            /// Panics outside of a tokio runtime with I/O, and if the socket is in blocking mode, as tokio's does.
            #[track_caller]
            pub fn from_std(socket: $std) -> ::std::io::Result<Self> {
                Ok(Self::from(::tokio::net::$socket::from_std(socket)?))
            }

            /// Returns a socket of the standard library, in nonblocking mode.
            ///
            /// # Errors
            ///
            /// The runtime cannot deregister the socket.
            pub fn into_std(self) -> ::std::io::Result<$std> {
                self.0.into_inner().into_std()
            }

            /// Returns tokio's socket. Its waits are not shown.
            pub fn into_inner(self) -> ::tokio::net::$socket {
                self.0.into_inner()
            }
        }

        impl From<::tokio::net::$socket> for $socket {
            #[track_caller]
            fn from(io: ::tokio::net::$socket) -> Self {
                $socket::made(io, ::std::panic::Location::caller())
            }
        }

        impl TryFrom<$std> for $socket {
            type Error = ::std::io::Error;

            #[track_caller]
            fn try_from(socket: $std) -> ::std::io::Result<Self> {
                Self::from_std(socket)
            }
        }

        impl ::std::os::fd::AsRawFd for $socket {
            fn as_raw_fd(&self) -> ::std::os::fd::RawFd {
                self.0.io.as_raw_fd()
            }
        }

        impl ::std::os::fd::AsFd for $socket {
            fn as_fd(&self) -> ::std::os::fd::BorrowedFd<'_> {
                self.0.io.as_fd()
            }
        }

        impl ::std::fmt::Debug for $socket {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

pub(super) use {options_of_ip, polls, same, socket, waits};
