//! The same source compiles with tokio's sockets and with dyntrace's, and behaves the same.

mod of_tokio {
    use tokio::net;

    include!("signatures.rs");
    include!("datagrams.rs");
    include!("behaviour.rs");
}

mod of_dyntrace {
    use dyntrace::net;

    include!("signatures.rs");
    include!("datagrams.rs");
    include!("behaviour.rs");
}

mod names;

/// Runs each of these with both.
macro_rules! alike {
    ($($test:ident)+) => { $(
        #[test]
        fn $test() {
            of_tokio::run(of_tokio::$test);
            of_dyntrace::run(of_dyntrace::$test);
        }
    )+ };
}

alike! {
    every_item_of_tcp_is_there
    every_item_of_unix_streams_is_there
    every_item_of_udp_is_there
    every_item_of_unix_datagrams_is_there
    sockets_are_made_of_the_standard_librarys
    halves_meet_again_or_tell_that_they_cannot
    a_dropped_half_ends_the_stream_unless_it_is_forgotten
    borrowed_halves_give_the_stream_back
    partial_reads_lose_no_event
    writers_wait_for_room
    vectored_writes_arrive_in_order
    a_reader_that_gave_up_loses_nothing
    the_end_and_errors_are_told
    errors_of_connections_are_alike
    a_stream_outlives_its_runtime
    tasks_share_a_datagram_socket
    closures_of_async_io_run_until_they_are_ready
    texts_are_alike
    a_task_that_never_waits_lets_others_run
}

#[test]
fn sockets_of_both_convert() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (one, other) = tokio::net::UnixStream::pair().unwrap();
        let one = dyntrace::net::UnixStream::from(one);
        one.writable().await.unwrap();
        assert_eq!(one.try_write(b"rye").unwrap(), 3);
        drop(one.into_inner());
        let mut bread = Vec::new();
        tokio::io::AsyncReadExt::read_to_end(&mut dyntrace::net::UnixStream::from(other), &mut bread).await.unwrap();
        assert_eq!(bread, b"rye");
        let socket = dyntrace::net::TcpSocket::from(tokio::net::TcpSocket::new_v4().unwrap());
        socket.bind(([127, 0, 0, 1], 0).into()).unwrap();
        let listener = dyntrace::net::TcpListener::from(socket.into_inner().listen(1).unwrap());
        let address = listener.local_addr().unwrap();
        assert_eq!(listener.into_inner().local_addr().unwrap(), address);
        let socket = dyntrace::net::UnixSocket::from(tokio::net::UnixSocket::new_stream().unwrap());
        drop(socket.into_inner());
    });
}
