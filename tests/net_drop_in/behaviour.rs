// Programs rely on this.

use tokio::task::yield_now;
use tokio::time::timeout;

/// On one thread, and on three.
pub fn run(test: impl AsyncFn()) {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(test());
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap().block_on(test());
}

fn is_ready(future: Pin<&mut impl Future>) -> bool {
    future.poll(&mut Context::from_waker(Waker::noop())).is_ready()
}

pub async fn sockets_are_made_of_the_standard_librarys() {
    let listener = std::net::TcpListener::bind(loopback()).unwrap();
    listener.set_nonblocking(true).unwrap();
    let listener = TcpListener::try_from(listener).unwrap();
    let client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    client.set_nonblocking(true).unwrap();
    let mut client = TcpStream::try_from(client).unwrap();
    let (mut server, _) = listener.accept().await.unwrap();
    client.write_all(b"rye").await.unwrap();
    assert_eq!(server.read_u8().await.unwrap(), b'r');
    let server: std::net::TcpStream = server.into_std().unwrap();
    let server = TcpStream::from_std(server).unwrap();
    let listener: std::net::TcpListener = listener.into_std().unwrap();
    let _: TcpListener = TcpListener::from_std(listener).unwrap();
    drop((client, server));
    let socket = std::net::TcpStream::from(std::os::fd::OwnedFd::from(std::net::TcpListener::bind(loopback()).unwrap()));
    let socket: TcpSocket = TcpSocket::from_std_stream(socket);
    // SAFETY: nobody else has the descriptor.
    let socket = unsafe { TcpSocket::from_raw_fd(socket.into_raw_fd()) };
    assert!(socket.local_addr().unwrap().port() > 0);
    // SAFETY: nobody else has the descriptor.
    drop(unsafe { UnixSocket::from_raw_fd(UnixSocket::new_stream().unwrap().into_raw_fd()) });

    let udp = std::net::UdpSocket::bind(loopback()).unwrap();
    udp.set_nonblocking(true).unwrap();
    let udp: std::net::UdpSocket = UdpSocket::try_from(udp).unwrap().into_std().unwrap();
    let _: UdpSocket = UdpSocket::from_std(udp).unwrap();
    let (one, _) = std::os::unix::net::UnixStream::pair().unwrap();
    one.set_nonblocking(true).unwrap();
    let one: std::os::unix::net::UnixStream = UnixStream::try_from(one).unwrap().into_std().unwrap();
    let _: UnixStream = UnixStream::from_std(one).unwrap();
    let (one, _) = std::os::unix::net::UnixDatagram::pair().unwrap();
    one.set_nonblocking(true).unwrap();
    let one: std::os::unix::net::UnixDatagram = UnixDatagram::try_from(one).unwrap().into_std().unwrap();
    let _: UnixDatagram = UnixDatagram::from_std(one).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let listener = std::os::unix::net::UnixListener::bind(folder.path().join("bakery")).unwrap();
    listener.set_nonblocking(true).unwrap();
    let listener: std::os::unix::net::UnixListener = UnixListener::try_from(listener).unwrap().into_std().unwrap();
    let _: UnixListener = UnixListener::from_std(listener).unwrap();
}

pub async fn halves_meet_again_or_tell_that_they_cannot() {
    let ((one, other), (third, _)) = (tcp_pair().await, tcp_pair().await);
    let ((one_reads, one_writes), (third_reads, third_writes)) = (one.into_split(), third.into_split());
    let error = one_reads.reunite(third_writes).unwrap_err();
    assert_eq!(error.to_string(), "tried to reunite halves that are not from the same socket");
    let error = one_writes.reunite(third_reads).unwrap_err();
    let (third_reads, one_writes) = (error.0, error.1);
    drop(third_reads);
    // They were not shut down on the way.
    let (mut other_reads, mut other_writes) = other.into_split();
    other_writes.write_all(b"rye").await.unwrap();
    drop(one_writes);
    assert_eq!(other_reads.read(&mut [0; 8]).await.unwrap(), 0);
    let ((one, _), (other, _)) = (UnixStream::pair().unwrap(), UnixStream::pair().unwrap());
    let ((reads, _one), (_other, writes)) = (one.into_split(), other.into_split());
    assert_eq!(
        reads.reunite(writes).unwrap_err().to_string(),
        "tried to reunite halves that are not from the same socket"
    );
}

pub async fn a_dropped_half_ends_the_stream_unless_it_is_forgotten() {
    let (one, mut other) = tcp_pair().await;
    let (mut reads, writes) = one.into_split();
    writes.forget();
    let mut bread = [0; 3];
    assert!(!is_ready(pin!(other.read(&mut bread))));
    other.write_all(b"rye").await.unwrap();
    reads.read_exact(&mut bread).await.unwrap();
    drop(reads);
    assert_eq!(other.read(&mut bread).await.unwrap(), 0);
    let (one, mut other) = UnixStream::pair().unwrap();
    let (mut reads, writes) = one.into_split();
    drop(writes);
    assert_eq!(other.read(&mut bread).await.unwrap(), 0);
    other.write_all(b"oat").await.unwrap();
    reads.read_exact(&mut bread).await.unwrap();
    assert_eq!(&bread, b"oat");
}

pub async fn borrowed_halves_give_the_stream_back() {
    let (mut one, mut other) = tcp_pair().await;
    let (mut reads, mut writes) = one.split();
    let mut bread = [0; 3];
    let (read, wrote) = tokio::join!(reads.read_exact(&mut bread), async {
        writes.write_all(b"oat").await?;
        other.write_all(b"rye").await
    });
    read.unwrap();
    wrote.unwrap();
    // The halves are still in scope, and end with their last use.
    one.shutdown().await.unwrap();
    let mut rest = Vec::new();
    other.read_to_end(&mut rest).await.unwrap();
    assert_eq!((&bread, &*rest), (b"rye", &b"oat"[..]));
    // A half that writes shuts down when it is told to.
    let (mut one, mut other) = UnixStream::pair().unwrap();
    let (_, mut writes) = one.split();
    writes.shutdown().await.unwrap();
    writes.shutdown().await.unwrap();
    assert_eq!(other.read(&mut bread).await.unwrap(), 0);
    assert_eq!(one.write(b"rye").await.unwrap_err().kind(), ErrorKind::BrokenPipe);
}

/// The next message arrives while the reader takes the last one: no event may be lost.
pub async fn partial_reads_lose_no_event() {
    let (one, other) = tcp_pair().await;
    let ((mut reads, mut writes), (mut other_reads, mut other_writes)) = (one.into_split(), other.into_split());
    let echo = tokio::spawn(async move {
        let mut buffer = [0; 64];
        loop {
            let bytes = other_reads.read(&mut buffer).await.unwrap();
            if bytes == 0 {
                break;
            }
            other_writes.write_all(&buffer[..bytes]).await.unwrap();
        }
    });
    let sends = tokio::spawn(async move {
        for number in 0..20_000_u32 {
            writes.write_u32(number).await.unwrap();
            if number % 64 == 0 {
                yield_now().await;
            }
        }
    });
    for number in 0..20_000_u32 {
        assert_eq!(reads.read_u32().await.unwrap(), number);
    }
    sends.await.unwrap();
    assert_eq!(reads.read(&mut [0; 8]).await.unwrap(), 0);
    echo.await.unwrap();
}

pub async fn writers_wait_for_room() {
    let (one, mut other) = UnixStream::pair().unwrap();
    let (_reads, mut writes) = one.into_split();
    let bread = vec![7; 1 << 20];
    let mut written = pin!(writes.write_all(&bread));
    assert!(!is_ready(written.as_mut()));
    let mut eaten = vec![0; 1 << 20];
    let (written, eaten) = tokio::join!(written, other.read_exact(&mut eaten));
    written.unwrap();
    eaten.unwrap();
}

pub async fn vectored_writes_arrive_in_order() {
    let (one, mut other) = tcp_pair().await;
    let (_reads, mut writes) = one.into_split();
    assert!(writes.is_write_vectored() && other.is_write_vectored());
    let bytes = writes.write_vectored(&[IoSlice::new(b"ry"), IoSlice::new(b"e")]).await.unwrap();
    assert_eq!(bytes, 3);
    assert_eq!(other.write_vectored(&[IoSlice::new(b"oa"), IoSlice::new(b"t")]).await.unwrap(), 3);
    let mut bread = [0; 3];
    other.read_exact(&mut bread).await.unwrap();
    assert_eq!(&bread, b"rye");
    // Vectored writes fill the kernel's buffer, too.
    let (mut one, mut other) = UnixStream::pair().unwrap();
    let (_reads, mut writes) = one.split();
    let (bread, mut total) = (vec![7; 1 << 16], 0);
    while let Ok(bytes) = writes.try_write_vectored(&[IoSlice::new(&bread)]) {
        total += bytes;
    }
    let slices = [IoSlice::new(&bread)];
    let mut waits = pin!(writes.write_vectored(&slices));
    assert!(!is_ready(waits.as_mut()));
    let mut eaten = vec![0; total];
    let (wrote, _) = tokio::join!(waits, other.read_exact(&mut eaten));
    assert!(wrote.unwrap() > 0);
}

pub async fn a_reader_that_gave_up_loses_nothing() {
    let (mut one, other) = tcp_pair().await;
    let (mut reads, _writes) = other.into_split();
    let mut bread = [0; 3];
    assert!(timeout(Duration::from_millis(1), reads.read(&mut bread)).await.is_err());
    assert!(timeout(Duration::from_millis(1), reads.readable()).await.is_err());
    one.write_all(b"rye").await.unwrap();
    reads.read_exact(&mut bread).await.unwrap();
    assert_eq!(&bread, b"rye");
    let listener = UnixListener::bind(format!("\0given-up-{:p}-{}", &bread, std::process::id())).unwrap();
    assert!(!is_ready(pin!(listener.accept())));
    let address = listener.local_addr().unwrap();
    let connected = UnixStream::connect_addr(&address);
    let (accepted, connected) = tokio::join!(listener.accept(), connected);
    accepted.unwrap();
    connected.unwrap();
}

pub async fn the_end_and_errors_are_told() {
    let (one, mut other) = tcp_pair().await;
    one.set_zero_linger().unwrap();
    let (mut reads, _) = UnixStream::pair().unwrap().0.into_split();
    assert_eq!(reads.read(&mut [0; 8]).await.unwrap(), 0);
    assert_eq!(reads.read(&mut []).await.unwrap(), 0);
    drop(one);
    let (mut reads, mut writes) = other.split();
    assert_eq!(reads.read(&mut [0; 8]).await.unwrap_err().kind(), ErrorKind::ConnectionReset);
    assert_eq!(writes.write(b"rye").await.unwrap_err().kind(), ErrorKind::BrokenPipe);
    let listener = TcpListener::bind(loopback()).await.unwrap();
    let address = listener.local_addr().unwrap();
    let in_use = TcpListener::bind(address).await.unwrap_err();
    assert_eq!(in_use.kind(), ErrorKind::AddrInUse);
}

pub async fn errors_of_connections_are_alike() {
    // Ports that no other test takes.
    let own = || TcpListener::bind(SocketAddr::from(([127, 0, 0, 9], 0)));
    let listener = own().await.unwrap();
    let address = listener.local_addr().unwrap();
    let free = own().await.unwrap().local_addr().unwrap();
    // The second address accepts.
    let stream = TcpStream::connect(&[free, address][..]).await.unwrap();
    assert_eq!(stream.peer_addr().unwrap(), address);
    assert_eq!(TcpStream::connect(free).await.unwrap_err().kind(), ErrorKind::ConnectionRefused);
    let none = TcpStream::connect(&[][..] as &[SocketAddr]).await.unwrap_err();
    assert_eq!((none.kind(), none.to_string()), (ErrorKind::InvalidInput, "could not resolve to any address".to_owned()));
    let error = TcpStream::connect("no port").await.unwrap_err();
    assert_eq!((error.kind(), error.to_string()), (ErrorKind::InvalidInput, "invalid socket address".to_owned()));
    let error = TcpSocket::new_v4().unwrap().connect(free).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
    let missing = UnixStream::connect("/no/such/bakery").await.unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::NotFound);
    assert!(UnixSocket::new_datagram().unwrap().listen(1).is_err());
    assert!(UnixSocket::new_stream().unwrap().datagram().is_err());
    let late = TcpStream::connect(address);
    drop(listener);
    assert_eq!(late.await.unwrap_err().kind(), ErrorKind::ConnectionRefused);
}

pub async fn a_stream_outlives_its_runtime() {
    let (sender, receiver) = tokio::sync::oneshot::channel();
    let thread = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let pair = runtime.block_on(async {
            let (mut one, other) = tcp_pair().await;
            assert!(!is_ready(pin!(one.read(&mut [0; 8]))));
            (one, other)
        });
        drop(runtime);
        let _ = sender.send(pair);
    });
    let (mut one, other) = receiver.await.unwrap();
    thread.join().unwrap();
    assert_eq!(one.read(&mut [0; 8]).await.unwrap_err().kind(), ErrorKind::Other);
    let (mut reads, mut writes) = other.into_split();
    assert_eq!(reads.read(&mut [0; 8]).await.unwrap_err().kind(), ErrorKind::Other);
    assert_eq!(writes.write(b"rye").await.unwrap_err().kind(), ErrorKind::Other);
}

pub async fn tasks_share_a_datagram_socket() {
    let socket = Arc::new(UdpSocket::bind(loopback()).await.unwrap());
    let to = socket.local_addr().unwrap();
    let receives = tokio::spawn({
        let socket = Arc::clone(&socket);
        async move {
            let mut buffer = [0; 8];
            let bytes = socket.recv(&mut buffer).await.unwrap();
            buffer[..bytes].to_vec()
        }
    });
    yield_now().await;
    socket.send_to(b"rye", to).await.unwrap();
    assert_eq!(receives.await.unwrap(), b"rye");
    // The last poll has its waker called.
    let mut buffer = [0; 8];
    let mut context = Context::from_waker(Waker::noop());
    assert!(socket.poll_recv(&mut context, &mut ReadBuf::new(&mut buffer)).is_pending());
    let received = poll_fn(|context| {
        let mut buffer = ReadBuf::new(&mut buffer);
        socket.poll_recv(context, &mut buffer).map_ok(|()| buffer.filled().len())
    });
    let (received, sent) = tokio::join!(received, socket.send_to(b"oats", to));
    assert_eq!((received.unwrap(), sent.unwrap()), (4, 4));
}

pub async fn closures_of_async_io_run_until_they_are_ready() {
    let (one, other) = tcp_pair().await;
    let mut calls = 0;
    let mut waits = Box::pin(one.async_io(Interest::READABLE, || {
        calls += 1;
        one.try_read(&mut [0; 8])
    }));
    assert!(!is_ready(waits.as_mut()));
    assert_eq!(other.try_write(b"rye").unwrap(), 3);
    assert_eq!(waits.await.unwrap(), 3);
    assert!(calls > 0);
    let panics = one.async_io(Interest::WRITABLE, || -> io::Result<()> { panic!("no bread") });
    let mut panics = Box::pin(panics);
    let panics = std::panic::AssertUnwindSafe(|| while !is_ready(panics.as_mut()) {});
    std::panic::catch_unwind(panics).unwrap_err();
    // A closure that finds nothing takes the readiness back.
    let empty = || io::Result::<()>::Err(ErrorKind::WouldBlock.into());
    assert_eq!(one.try_io(Interest::READABLE, empty).unwrap_err().kind(), ErrorKind::WouldBlock);
    assert_eq!(one.try_io(Interest::READABLE, || Ok(())).unwrap_err().kind(), ErrorKind::WouldBlock);
}

pub async fn texts_are_alike() {
    let (one, other) = tcp_pair().await;
    let text = format!("{one:?}");
    assert!(text.starts_with("TcpStream { addr: "), "{text}");
    let (reads, writes) = one.into_split();
    assert_eq!(format!("{reads:?}"), format!("OwnedReadHalf {{ inner: {text} }}"));
    assert_eq!(format!("{writes:?}"), format!("OwnedWriteHalf {{ inner: {text}, shutdown_on_drop: true }}"));
    let text = format!("{other:?}");
    let mut other = other;
    let (reads, writes) = other.split();
    assert_eq!(format!("{reads:?} {writes:?}"), format!("ReadHalf({text}) WriteHalf({text})"));
    let listener = TcpListener::bind(loopback()).await.unwrap();
    assert!(format!("{listener:?}").starts_with("TcpListener { addr: "));
    assert!(format!("{:?}", UdpSocket::bind(loopback()).await.unwrap()).contains("UdpSocket { addr: "));
    assert!(format!("{:?}", UnixDatagram::unbound().unwrap()).starts_with("UnixDatagram { fd: "));
    assert!(format!("{:?}", UnixStream::pair().unwrap()).starts_with("(UnixStream { fd: "));
    assert!(format!("{:?}", UnixSocket::new_stream().unwrap()).starts_with("UnixSocket { inner: "));
    assert!(format!("{:?}", TcpSocket::new_v4().unwrap()).starts_with("Socket {"));
}

/// A reader that always finds something leaves its turn to others, as tokio's budget says.
pub async fn a_task_that_never_waits_lets_others_run() {
    let (one, other) = UnixStream::pair().unwrap();
    let (mut reads, mut writes) = (one.into_split().0, other.into_split().1);
    writes.write_all(&[7; 4096]).await.unwrap();
    let mut turns = 0;
    let reads_all = async {
        for _ in 0..4096 {
            reads.read_u8().await.unwrap();
        }
    };
    let mut reads_all = pin!(reads_all);
    poll_fn(|context| {
        turns += 1;
        reads_all.as_mut().poll(context)
    })
    .await;
    assert!(turns > 4, "{turns} turns");
}
