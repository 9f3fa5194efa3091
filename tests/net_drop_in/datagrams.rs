// Every item of datagram sockets, used with its types written out.

pub async fn every_item_of_udp_is_there() {
    socket::<UdpSocket>();
    let one: UdpSocket = owned(UdpSocket::bind("127.0.0.1:0")).await.unwrap();
    let other: UdpSocket = UdpSocket::bind(loopback()).await.unwrap();
    let (from, to): (SocketAddr, SocketAddr) = (one.local_addr().unwrap(), other.local_addr().unwrap());
    let (mut buffer, mut vec) = ([0; 8], Vec::<u8>::with_capacity(64));
    let _: (RawFd, BorrowedFd<'_>) = (one.as_raw_fd(), one.as_fd());

    assert_eq!(future(one.send_to(b"rye", to)).await.unwrap(), 3);
    assert_eq!(one.try_send_to(b"rye", to).unwrap(), 3);
    assert_eq!(poll_fn(|context| one.poll_send_to(context, b"rye", to)).await.unwrap(), 3);
    future(other.readable()).await.unwrap();
    assert!(future(other.ready(Interest::READABLE)).await.unwrap().is_readable());
    poll_fn(|context| other.poll_recv_ready(context)).await.unwrap();
    assert_eq!(future(other.peek(&mut buffer)).await.unwrap(), 3);
    assert_eq!(other.try_peek(&mut buffer).unwrap(), 3);
    assert_eq!(future(other.peek_from(&mut buffer)).await.unwrap(), (3, from));
    assert_eq!(other.try_peek_from(&mut buffer).unwrap(), (3, from));
    assert_eq!(future(other.peek_sender()).await.unwrap(), from);
    assert_eq!(other.try_peek_sender().unwrap(), from);
    poll_fn(|context| other.poll_peek(context, &mut ReadBuf::new(&mut [0; 8]))).await.unwrap();
    let sender: SocketAddr =
        poll_fn(|context| other.poll_peek_from(context, &mut ReadBuf::new(&mut [0; 8]))).await.unwrap();
    assert_eq!((sender, poll_fn(|context| other.poll_peek_sender(context)).await.unwrap()), (from, from));
    assert_eq!(future(other.recv_from(&mut buffer)).await.unwrap(), (3, from));
    assert_eq!(other.try_recv_from(&mut buffer).unwrap(), (3, from));
    let sender: SocketAddr =
        poll_fn(|context| other.poll_recv_from(context, &mut ReadBuf::new(&mut [0; 8]))).await.unwrap();
    assert_eq!(sender, from);

    future(one.connect(to)).await.unwrap();
    assert_eq!(one.peer_addr().unwrap(), to);
    future(one.writable()).await.unwrap();
    poll_fn(|context| one.poll_send_ready(context)).await.unwrap();
    assert_eq!(future(one.send(b"rye")).await.unwrap() + one.try_send(b"rye").unwrap(), 6);
    assert_eq!(poll_fn(|context| one.poll_send(context, b"rye")).await.unwrap(), 3);
    for _ in 0..4 {
        one.send(b"rye").await.unwrap();
    }
    assert_eq!(future(other.recv(&mut buffer)).await.unwrap() + other.try_recv(&mut buffer).unwrap(), 6);
    poll_fn(|context| other.poll_recv(context, &mut ReadBuf::new(&mut [0; 8]))).await.unwrap();
    assert_eq!(future(other.recv_buf(&mut vec)).await.unwrap() + other.try_recv_buf(&mut vec).unwrap(), 6);
    assert_eq!(future(other.recv_buf_from(&mut vec)).await.unwrap(), (3, from));
    assert_eq!(other.try_recv_buf_from(&mut vec).unwrap(), (3, from));
    assert_eq!(vec, b"ryeryeryerye");
    let _: io::Result<u32> = other.try_io(Interest::READABLE, || Ok(7));
    assert_eq!(future(other.async_io(Interest::WRITABLE, || Ok(7))).await.unwrap(), 7);

    let (_, _): ((), bool) = (one.set_broadcast(true).unwrap(), one.broadcast().unwrap());
    let (_, _): ((), bool) = (one.set_multicast_loop_v4(true).unwrap(), one.multicast_loop_v4().unwrap());
    let (_, _): ((), u32) = (one.set_multicast_ttl_v4(1).unwrap(), one.multicast_ttl_v4().unwrap());
    let (_, _): (io::Result<()>, io::Result<bool>) = (one.set_multicast_loop_v6(true), one.multicast_loop_v6());
    let (_, _): (io::Result<()>, io::Result<u32>) = (one.set_tclass_v6(1), one.tclass_v6());
    let (_, _): ((), u32) = (one.set_ttl(60).unwrap(), one.ttl().unwrap());
    let (_, _): ((), u32) = (one.set_tos_v4(16).unwrap(), one.tos_v4().unwrap());
    #[allow(deprecated)]
    let (_, _): ((), u32) = (one.set_tos(16).unwrap(), one.tos().unwrap());
    let (_, _): (io::Result<()>, Option<Vec<u8>>) = (one.bind_device(None), one.device().unwrap());
    let (group, all) = ([224, 0, 0, 123].into(), std::net::Ipv4Addr::LOCALHOST);
    let (_, _): (io::Result<()>, io::Result<()>) = (one.join_multicast_v4(group, all), one.leave_multicast_v4(group, all));
    let group = std::net::Ipv6Addr::LOCALHOST;
    let (_, _): (io::Result<()>, io::Result<()>) = (one.join_multicast_v6(&group, 0), one.leave_multicast_v6(&group, 0));
    let _: Option<io::Error> = one.take_error().unwrap();
}

pub async fn every_item_of_unix_datagrams_is_there() {
    socket::<UnixDatagram>();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("letters");
    let other: UnixDatagram = UnixDatagram::bind(&path).unwrap();
    let one: UnixDatagram = UnixDatagram::unbound().unwrap();
    let _: UnixDatagram = UnixSocket::new_datagram().unwrap().datagram().unwrap();
    let (mut buffer, mut vec) = ([0; 8], Vec::<u8>::with_capacity(64));
    let _: (RawFd, BorrowedFd<'_>) = (one.as_raw_fd(), one.as_fd());

    assert_eq!(future(one.send_to(b"rye", &path)).await.unwrap() + one.try_send_to(b"rye", &path).unwrap(), 6);
    assert_eq!(poll_fn(|context| one.poll_send_to(context, b"rye", &path)).await.unwrap(), 3);
    let (bytes, address): (usize, unix::SocketAddr) = future(other.recv_from(&mut buffer)).await.unwrap();
    assert!(bytes == 3 && address.is_unnamed());
    let _: (usize, unix::SocketAddr) = other.try_recv_from(&mut buffer).unwrap();
    let _: unix::SocketAddr =
        poll_fn(|context| other.poll_recv_from(context, &mut ReadBuf::new(&mut [0; 8]))).await.unwrap();

    one.connect(&path).unwrap();
    assert_eq!(one.peer_addr().unwrap().as_pathname(), other.local_addr().unwrap().as_pathname());
    assert!(future(one.ready(Interest::WRITABLE)).await.unwrap().is_writable());
    future(one.writable()).await.unwrap();
    poll_fn(|context| one.poll_send_ready(context)).await.unwrap();
    assert_eq!(future(one.send(b"rye")).await.unwrap() + one.try_send(b"rye").unwrap(), 6);
    assert_eq!(poll_fn(|context| one.poll_send(context, b"rye")).await.unwrap(), 3);
    future(other.readable()).await.unwrap();
    poll_fn(|context| other.poll_recv_ready(context)).await.unwrap();
    assert_eq!(future(other.recv(&mut buffer)).await.unwrap() + other.try_recv(&mut buffer).unwrap(), 6);
    poll_fn(|context| other.poll_recv(context, &mut ReadBuf::new(&mut [0; 8]))).await.unwrap();
    for _ in 0..4 {
        one.send(b"rye").await.unwrap();
    }
    assert_eq!(future(other.recv_buf(&mut vec)).await.unwrap() + other.try_recv_buf(&mut vec).unwrap(), 6);
    let _: (usize, unix::SocketAddr) = future(other.recv_buf_from(&mut vec)).await.unwrap();
    let _: (usize, unix::SocketAddr) = other.try_recv_buf_from(&mut vec).unwrap();
    assert_eq!(vec, b"ryeryeryerye");
    assert_eq!(other.try_io(Interest::WRITABLE, || Ok(7)).unwrap(), 7);
    assert_eq!(future(other.async_io(Interest::WRITABLE, || Ok(7))).await.unwrap(), 7);
    let _: Option<io::Error> = one.take_error().unwrap();
    one.shutdown(std::net::Shutdown::Both).unwrap();
    let (one, other): (UnixDatagram, UnixDatagram) = UnixDatagram::pair().unwrap();
    drop((one, other));
}
