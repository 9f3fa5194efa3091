// Every item of streams, used with its types written out.

use std::future::poll_fn;
use std::io::{self, ErrorKind, IoSlice, IoSliceMut};
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, IntoRawFd, RawFd};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use net::unix::{self, UCred};
use net::{
    TcpListener, TcpSocket, TcpStream, ToSocketAddrs, UdpSocket, UnixDatagram, UnixListener, UnixSocket, UnixStream, tcp,
};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, Interest, ReadBuf, Ready};

/// Checks the output's type, and that the future is `Send`.
fn future<T>(future: impl Future<Output = io::Result<T>> + Send) -> impl Future<Output = io::Result<T>> + Send {
    future
}

fn owned<T>(future: impl Future<Output = io::Result<T>> + Send + 'static) -> impl Future<Output = io::Result<T>> {
    future
}

fn socket<T: Send + Sync + Unpin + std::panic::UnwindSafe + std::panic::RefUnwindSafe + std::fmt::Debug + AsFd + AsRawFd>() {}
fn stream<T: AsyncRead + AsyncWrite + Send + Sync + Unpin + AsRef<T> + 'static>() {}
fn reads<T: AsyncRead + Send + Sync + Unpin + std::fmt::Debug + AsRef<S>, S>() {}
fn writes<T: AsyncWrite + Send + Sync + Unpin + std::fmt::Debug + AsRef<S>, S>() {}
fn raw<T: FromRawFd + IntoRawFd>() {}
fn error<T: std::error::Error + Send + Sync + 'static>() {}

fn loopback() -> SocketAddr {
    ([127, 0, 0, 1], 0).into()
}

async fn tcp_pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind(loopback()).await.unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    (client, listener.accept().await.unwrap().0)
}

pub async fn every_item_of_tcp_is_there() {
    socket::<TcpListener>();
    socket::<TcpStream>();
    socket::<TcpSocket>();
    stream::<TcpStream>();
    reads::<tcp::ReadHalf<'_>, TcpStream>();
    reads::<tcp::OwnedReadHalf, TcpStream>();
    writes::<tcp::WriteHalf<'_>, TcpStream>();
    writes::<tcp::OwnedWriteHalf, TcpStream>();
    raw::<TcpSocket>();
    error::<tcp::ReuniteError>();

    // Sockets
    let mut addresses = owned(net::lookup_host("127.0.0.1:80")).await.unwrap();
    assert_eq!(addresses.next(), Some(([127, 0, 0, 1], 80).into()));
    let socket: TcpSocket = TcpSocket::new_v4().unwrap();
    let _: io::Result<TcpSocket> = TcpSocket::new_v6();
    let (_, _): ((), bool) = (socket.set_keepalive(true).unwrap(), socket.keepalive().unwrap());
    let (_, _): ((), bool) = (socket.set_reuseaddr(true).unwrap(), socket.reuseaddr().unwrap());
    let (_, _): ((), bool) = (socket.set_reuseport(true).unwrap(), socket.reuseport().unwrap());
    let (_, _): ((), u32) = (socket.set_send_buffer_size(9999).unwrap(), socket.send_buffer_size().unwrap());
    let (_, _): ((), u32) = (socket.set_recv_buffer_size(9999).unwrap(), socket.recv_buffer_size().unwrap());
    #[allow(deprecated)]
    socket.set_linger(Some(Duration::from_secs(1))).unwrap();
    assert_eq!(socket.linger().unwrap(), Some(Duration::from_secs(1)));
    socket.set_zero_linger().unwrap();
    assert_eq!(socket.linger().unwrap(), Some(Duration::ZERO));
    let (_, _): ((), bool) = (socket.set_nodelay(true).unwrap(), socket.nodelay().unwrap());
    let (_, _): (io::Result<()>, io::Result<u32>) = (socket.set_tclass_v6(1), socket.tclass_v6());
    let (_, _): ((), u32) = (socket.set_tos_v4(16).unwrap(), socket.tos_v4().unwrap());
    #[allow(deprecated)]
    let (_, _): ((), u32) = (socket.set_tos(16).unwrap(), socket.tos().unwrap());
    let (_, _): (io::Result<()>, Option<Vec<u8>>) = (socket.bind_device(None), socket.device().unwrap());
    socket.bind(loopback()).unwrap();
    let _: Option<io::Error> = socket.take_error().unwrap();
    let _: (RawFd, BorrowedFd<'_>) = (socket.as_raw_fd(), socket.as_fd());
    let at: SocketAddr = socket.local_addr().unwrap();
    let listener: TcpListener = socket.listen(16).unwrap();
    assert_eq!(listener.local_addr().unwrap(), at);

    // Listeners
    listener.set_ttl(60).unwrap();
    let _: u32 = listener.ttl().unwrap();
    let client: TcpStream = owned(TcpSocket::new_v4().unwrap().connect(at)).await.unwrap();
    let (mut server, address): (TcpStream, SocketAddr) = future(listener.accept()).await.unwrap();
    assert_eq!((address, client.peer_addr().unwrap()), (client.local_addr().unwrap(), at));
    drop(owned(TcpStream::connect((std::net::Ipv4Addr::LOCALHOST, at.port()))).await.unwrap());
    let polled: Poll<io::Result<(TcpStream, SocketAddr)>> =
        poll_fn(|context| Poll::Ready(listener.poll_accept(context))).await;
    assert!(polled.is_ready() || listener.accept().await.is_ok());
    let _: TcpListener = owned(TcpListener::bind("127.0.0.1:0")).await.unwrap();
    fn binds<A: ToSocketAddrs + Send>(_: A) {}
    binds(loopback());

    // Streams
    let (mut client, mut buffer) = (client, [0; 8]);
    assert!(client.as_ref().as_raw_fd() == client.as_raw_fd() && client.as_fd().as_raw_fd() >= 0);
    let ready: Ready = future(client.ready(Interest::WRITABLE)).await.unwrap();
    assert!(ready.is_writable());
    future(client.writable()).await.unwrap();
    poll_fn(|context| client.poll_write_ready(context)).await.unwrap();
    assert_eq!(client.try_write(b"rye").unwrap(), 3);
    assert_eq!(client.try_write_vectored(&[IoSlice::new(b"br"), IoSlice::new(b"ead")]).unwrap(), 5);
    future(server.readable()).await.unwrap();
    poll_fn(|context| server.poll_read_ready(context)).await.unwrap();
    assert_eq!(future(server.peek(&mut buffer[..3])).await.unwrap(), 3);
    let mut peeked = ReadBuf::new(&mut buffer);
    let _: usize = poll_fn(|context| server.poll_peek(context, &mut peeked)).await.unwrap();
    assert_eq!(server.try_read(&mut buffer[..3]).unwrap(), 3);
    assert_eq!(server.try_read_vectored(&mut [IoSliceMut::new(&mut buffer[..1])]).unwrap(), 1);
    let mut vec: Vec<u8> = Vec::with_capacity(1);
    let _: usize = server.try_read_buf(&mut vec).unwrap();
    let _: io::Result<u32> = server.try_io(Interest::READABLE, || Ok(7));
    assert_eq!(future(server.async_io(Interest::WRITABLE, || Ok(7))).await.unwrap(), 7);
    let _: Option<io::Error> = server.take_error().unwrap();
    let (_, _): ((), bool) = (server.set_nodelay(true).unwrap(), server.nodelay().unwrap());
    let (_, _): ((), bool) = (server.set_quickack(true).unwrap(), server.quickack().unwrap());
    let (_, _): ((), u32) = (server.set_ttl(60).unwrap(), server.ttl().unwrap());
    #[allow(deprecated)]
    server.set_linger(None).unwrap();
    let _: Option<Duration> = server.linger().unwrap();
    server.set_zero_linger().unwrap();

    // Halves
    let (mut read, mut write): (tcp::ReadHalf<'_>, tcp::WriteHalf<'_>) = server.split();
    assert!(future(write.ready(Interest::WRITABLE)).await.unwrap().is_writable());
    future(write.writable()).await.unwrap();
    assert_eq!(write.try_write(b"ry").unwrap() + write.try_write_vectored(&[IoSlice::new(b"e")]).unwrap(), 3);
    let _: &TcpStream = write.as_ref();
    assert_eq!((write.peer_addr().unwrap(), read.local_addr().unwrap()), (read.peer_addr().unwrap(), write.local_addr().unwrap()));
    write.flush().await.unwrap();
    let (mut other, _): (tcp::ReadHalf<'_>, tcp::WriteHalf<'_>) = client.split();
    assert_eq!(future(other.peek(&mut buffer)).await.unwrap(), 3);
    let mut peeked = ReadBuf::new(&mut buffer);
    let _: usize = poll_fn(|context| other.poll_peek(context, &mut peeked)).await.unwrap();
    assert!(future(other.ready(Interest::READABLE)).await.unwrap().is_readable());
    future(other.readable()).await.unwrap();
    assert_eq!(other.try_read(&mut buffer[..1]).unwrap(), 1);
    assert_eq!(other.try_read_vectored(&mut [IoSliceMut::new(&mut buffer[..1])]).unwrap(), 1);
    let _: usize = other.try_read_buf(&mut vec).unwrap();
    let _: &TcpStream = other.as_ref();
    let _: io::Result<usize> = read.try_read(&mut buffer);
    drop(read.peek(&mut buffer));
    let (mut read, write): (tcp::OwnedReadHalf, tcp::OwnedWriteHalf) = client.into_split();
    let _: (&TcpStream, &TcpStream) = (read.as_ref(), write.as_ref());
    assert!(future(write.ready(Interest::WRITABLE)).await.unwrap().is_writable());
    future(write.writable()).await.unwrap();
    assert_eq!(write.try_write(b"ry").unwrap() + write.try_write_vectored(&[IoSlice::new(b"e")]).unwrap(), 3);
    assert_eq!(read.peer_addr().unwrap(), write.peer_addr().unwrap());
    assert_eq!(read.local_addr().unwrap(), write.local_addr().unwrap());
    let _: io::Result<usize> = read.try_read(&mut buffer);
    let _: io::Result<usize> = read.try_read_vectored(&mut [IoSliceMut::new(&mut buffer)]);
    let _: io::Result<usize> = read.try_read_buf(&mut vec);
    let _: Poll<io::Result<usize>> =
        read.poll_peek(&mut Context::from_waker(Waker::noop()), &mut ReadBuf::new(&mut buffer));
    drop((future(read.ready(Interest::READABLE)), future(read.readable())));
    drop(future(read.peek(&mut buffer)));
    let client: TcpStream = read.reunite(write).unwrap();
    let (read, write) = client.into_split();
    let client: Result<TcpStream, tcp::ReuniteError> = write.reunite(read);
    let (read, write) = client.unwrap().into_split();
    write.forget();
    drop(read);
}

pub async fn every_item_of_unix_streams_is_there() {
    socket::<UnixListener>();
    socket::<UnixStream>();
    socket::<UnixSocket>();
    stream::<UnixStream>();
    reads::<unix::ReadHalf<'_>, UnixStream>();
    reads::<unix::OwnedReadHalf, UnixStream>();
    writes::<unix::WriteHalf<'_>, UnixStream>();
    writes::<unix::OwnedWriteHalf, UnixStream>();
    raw::<UnixSocket>();
    error::<unix::ReuniteError>();
    let _: (unix::uid_t, unix::gid_t, unix::pid_t) = (1, 1, 1);
    let _: fn() -> io::Result<(unix::pipe::Sender, unix::pipe::Receiver)> = unix::pipe::pipe;

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bakery");
    let socket: UnixSocket = UnixSocket::new_stream().unwrap();
    socket.bind(&path).unwrap();
    let listener: UnixListener = socket.listen(16).unwrap();
    let mut client: UnixStream = future(UnixSocket::new_stream().unwrap().connect(&path)).await.unwrap();
    let (mut server, address): (UnixStream, unix::SocketAddr) = future(listener.accept()).await.unwrap();
    assert!(address.is_unnamed() && address.as_pathname().is_none());
    assert_eq!(listener.local_addr().unwrap().as_pathname(), Some(path.as_path()));
    let _: Option<io::Error> = listener.take_error().unwrap();
    let polled: Poll<io::Result<(UnixStream, unix::SocketAddr)>> =
        listener.poll_accept(&mut Context::from_waker(Waker::noop()));
    assert!(polled.is_pending());

    let credentials: UCred = server.peer_cred().unwrap();
    assert_eq!(credentials.pid(), Some(std::process::id() as i32));
    let _: (RawFd, BorrowedFd<'_>) = (server.as_raw_fd(), server.as_fd());
    assert_eq!(client.peer_addr().unwrap().as_pathname(), Some(path.as_path()));
    assert!(client.local_addr().unwrap().is_unnamed());
    let _: Option<io::Error> = server.take_error().unwrap();
    assert!(future(client.ready(Interest::WRITABLE)).await.unwrap().is_writable());
    future(client.writable()).await.unwrap();
    poll_fn(|context| client.poll_write_ready(context)).await.unwrap();
    assert_eq!(client.try_write(b"ry").unwrap() + client.try_write_vectored(&[IoSlice::new(b"e")]).unwrap(), 3);
    future(server.readable()).await.unwrap();
    poll_fn(|context| server.poll_read_ready(context)).await.unwrap();
    let (mut buffer, mut vec) = ([0; 8], Vec::<u8>::with_capacity(1));
    assert_eq!(server.try_read(&mut buffer[..1]).unwrap(), 1);
    assert_eq!(server.try_read_vectored(&mut [IoSliceMut::new(&mut buffer[..1])]).unwrap(), 1);
    let _: usize = server.try_read_buf(&mut vec).unwrap();
    assert_eq!(server.try_io(Interest::WRITABLE, || Ok(7)).unwrap(), 7);
    assert_eq!(future(server.async_io(Interest::WRITABLE, || Ok(7))).await.unwrap(), 7);

    let (read, write): (unix::ReadHalf<'_>, unix::WriteHalf<'_>) = client.split();
    let (_, _): (&UnixStream, &UnixStream) = (read.as_ref(), write.as_ref());
    assert!(future(write.ready(Interest::WRITABLE)).await.unwrap().is_writable());
    future(write.writable()).await.unwrap();
    assert_eq!(write.try_write(b"ry").unwrap() + write.try_write_vectored(&[IoSlice::new(b"e")]).unwrap(), 3);
    let (_, _): (unix::SocketAddr, unix::SocketAddr) = (write.peer_addr().unwrap(), read.local_addr().unwrap());
    let (_, _): (unix::SocketAddr, unix::SocketAddr) = (read.peer_addr().unwrap(), write.local_addr().unwrap());
    let (read, _) = server.split();
    assert!(future(read.ready(Interest::READABLE)).await.unwrap().is_readable());
    future(read.readable()).await.unwrap();
    assert_eq!(read.try_read(&mut buffer[..1]).unwrap(), 1);
    assert_eq!(read.try_read_vectored(&mut [IoSliceMut::new(&mut buffer[..1])]).unwrap(), 1);
    let _: usize = read.try_read_buf(&mut vec).unwrap();
    let (read, write): (unix::OwnedReadHalf, unix::OwnedWriteHalf) = server.into_split();
    let (_, _): (&UnixStream, &UnixStream) = (read.as_ref(), write.as_ref());
    assert!(future(write.ready(Interest::WRITABLE)).await.unwrap().is_writable());
    future(write.writable()).await.unwrap();
    assert_eq!(write.try_write(b"ry").unwrap() + write.try_write_vectored(&[IoSlice::new(b"e")]).unwrap(), 3);
    let (_, _): (unix::SocketAddr, unix::SocketAddr) = (write.peer_addr().unwrap(), read.local_addr().unwrap());
    let (_, _): (unix::SocketAddr, unix::SocketAddr) = (read.peer_addr().unwrap(), write.local_addr().unwrap());
    assert_eq!(read.try_read(&mut buffer).unwrap_err().kind(), ErrorKind::WouldBlock);
    let _: io::Result<usize> = read.try_read_vectored(&mut [IoSliceMut::new(&mut buffer)]);
    let _: io::Result<usize> = read.try_read_buf(&mut vec);
    drop((future(read.ready(Interest::READABLE)), future(read.readable())));
    let server: UnixStream = read.reunite(write).unwrap();
    let (read, write) = server.into_split();
    let server: Result<UnixStream, unix::ReuniteError> = write.reunite(read);
    let (read, write) = server.unwrap().into_split();
    write.forget();
    drop(read);

    let (one, other): (UnixStream, UnixStream) = UnixStream::pair().unwrap();
    drop((one, other));
    let _: UnixStream = future(UnixStream::connect(&path)).await.unwrap();
    let _: UnixStream = future(UnixStream::connect_addr(&listener.local_addr().unwrap())).await.unwrap();
    let _: UnixListener = UnixListener::bind(folder.path().join("other")).unwrap();
    // A name without a file.
    let name = format!("\0dyntrace-{}-{}", std::process::id(), folder.path().display());
    let listener: UnixListener = UnixListener::bind(&name).unwrap();
    let address: unix::SocketAddr = listener.local_addr().unwrap();
    assert_eq!(address.as_abstract_name(), Some(&name.as_bytes()[1..]));
    let client = UnixStream::connect_addr(&address).await.unwrap();
    assert_eq!(client.peer_addr().unwrap().as_abstract_name(), address.as_abstract_name());
    drop(listener);
    // A program that looks at this one's descriptors by `/proc` has the old socket for a moment, too.
    let listener = timeout(Duration::from_secs(60), async {
        loop {
            match UnixListener::bind_addr(&address) {
                Err(error) if error.kind() == ErrorKind::AddrInUse => tokio::task::yield_now().await,
                bound => break bound.unwrap(),
            }
        }
    });
    let listener = listener.await.unwrap();
    assert_eq!(listener.local_addr().unwrap().as_abstract_name(), address.as_abstract_name());
    let unnamed = client.local_addr().unwrap();
    let refused = UnixStream::connect_addr(&unnamed).await.unwrap_err();
    assert_eq!(refused.kind(), UnixStream::connect("").await.unwrap_err().kind());
}
