//! The waits of sockets, as a recording has them, against what the program did.
#![cfg(all(not(dyntrace_without_probes), target_os = "linux", feature = "recorder"))]

#[path = "common/events.rs"]
mod events;

use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll, Waker};

use dyntrace::JoinSetExt;
use dyntrace::net::{
    TcpListener, TcpSocket, TcpStream, UdpSocket, UnixDatagram, UnixListener, UnixSocket, UnixStream, lookup_host,
};
use events::{seen, seen_after};
use tokio::io::{AsyncReadExt, AsyncWriteExt, Interest, ReadBuf};
use tokio::runtime::Builder;
use tokio::task::{JoinSet, spawn_blocking, yield_now};

const ALL: &[&str] = &["process-wait", "process-resume", "resource-*"];
const WAITS: &[&str] = &["process-wait", "process-resume"];

fn poll(future: Pin<&mut impl Future>) -> bool {
    future.poll(&mut Context::from_waker(Waker::noop())).is_ready()
}

fn on_a_runtime(body: impl AsyncFnOnce()) {
    Builder::new_current_thread().enable_all().build().unwrap().block_on(body());
}

fn loopback() -> SocketAddr {
    ([127, 0, 0, 1], 0).into()
}

/// A stream, and tokio's at its other end, whose waits nobody sees.
fn pair() -> (UnixStream, tokio::net::UnixStream) {
    let (one, other) = tokio::net::UnixStream::pair().unwrap();
    (one.into(), other)
}

async fn send(stream: &tokio::net::UnixStream) {
    stream.writable().await.unwrap();
    assert_eq!(stream.try_write(b"rye").unwrap(), 3);
}

/// Runs a future as a process of its own.
async fn as_process<T: Send + 'static>(future: impl Future<Output = T> + Send + 'static) -> T {
    let mut set = JoinSet::new();
    set.spawn_process(future);
    set.join_next().await.unwrap().unwrap()
}

/// Lines without times and places.
fn without_places(lines: &[String]) -> Vec<String> {
    lines.iter().map(|line| line.split(" tests/net_waits.rs").next().unwrap().replace("TIME ", "")).collect()
}

#[test]
fn a_connection_tells_its_life_and_its_waits() {
    let (mut made, mut addresses) = (0, Vec::new());
    let lines = seen(ALL, || {
        on_a_runtime(async || {
            made = line!() + 1;
            let listener = TcpListener::bind(loopback()).await.unwrap();
            let mut accepts = Box::pin(listener.accept());
            assert!(!poll(accepts.as_mut()));
            let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
            let (mut server, _) = accepts.await.unwrap();
            addresses = vec![listener.local_addr().unwrap(), client.local_addr().unwrap()];
            let mut bread = [0; 3];
            let mut reads = JoinSet::new();
            reads.spawn_process(async move {
                server.read_exact(&mut bread).await.unwrap();
                server
            });
            yield_now().await;
            assert_eq!(client.try_write(b"rye").unwrap(), 3);
            drop(reads.join_next().await.unwrap().unwrap());
        });
    });
    let [at, from] = addresses[..] else { unreachable!() };
    let place = |after: u32| format!("tests/net_waits.rs:{}", made + after);
    assert_eq!(
        lines,
        [
            format!("resource-new #1 TcpListener {at} {}", place(0)),
            format!("process-wait A #1 TcpListener::accept {}", place(1)),
            format!("resource-new #2 TcpSocket to {at} {}", place(3)),
            format!("process-wait A #2 TcpStream::connect {}", place(3)),
            format!("process-resume A #2 TIME ready TcpStream::connect {}", place(3)),
            "resource-drop #2 TcpSocket".to_owned(),
            format!("resource-new #3 TcpStream {from} to {at} {}", place(3)),
            format!("process-resume A #1 TIME ready TcpListener::accept {}", place(1)),
            format!("resource-new #4 TcpStream {at} to {from} {}", place(1)),
            format!("process-wait B #4 TcpStream::read {}", place(1)),
            format!("process-resume B #4 TIME ready TcpStream::read {}", place(1)),
            "resource-drop #4 TcpStream".to_owned(),
            "resource-drop #3 TcpStream".to_owned(),
            "resource-drop #1 TcpListener".to_owned(),
        ]
    );
}

#[test]
fn resources_from_before_the_tracer_are_named_at_their_first_wait() {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let make = || runtime.block_on(async { (UdpSocket::bind(loopback()).await.unwrap(), UnixStream::pair().unwrap()) });
    let mut address = loopback();
    let lines = seen_after(ALL, make, |(udp, (mut one, other))| {
        address = udp.local_addr().unwrap();
        assert!(!poll(pin!(udp.recv(&mut [0; 8]))));
        assert!(!poll(pin!(udp.peek(&mut [0; 8]))));
        assert!(!poll(pin!(one.read(&mut [0; 8]))));
        drop((udp, other, one));
    });
    assert_eq!(
        without_places(&lines),
        [
            format!("resource-new #1 UdpSocket {address}"),
            "process-wait A #1 UdpSocket::recv".to_owned(),
            "process-resume A #1 cancelled UdpSocket::recv".to_owned(),
            "process-wait A #1 UdpSocket::peek".to_owned(),
            "process-resume A #1 cancelled UdpSocket::peek".to_owned(),
            "resource-new #2 UnixStream ".to_owned(),
            "process-wait A #2 UnixStream::read".to_owned(),
            "resource-drop #1 UdpSocket".to_owned(),
            "process-resume A #2 cancelled UnixStream::read".to_owned(),
            "resource-drop #2 UnixStream".to_owned(),
        ]
    );
}

#[test]
fn names_of_unix_sockets_are_paths_and_names() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bakery");
    let name = format!("dyntrace-net-waits-{}", std::process::id());
    let lines = seen(&["resource-new"], || {
        on_a_runtime(async || {
            let listener = UnixListener::bind(&path).unwrap();
            let client = UnixStream::connect(&path).await.unwrap();
            let server = listener.accept().await.unwrap();
            let named = UnixListener::bind(format!("\0{name}")).unwrap();
            let datagrams = UnixDatagram::bind(folder.path().join("letters")).unwrap();
            let other = UnixDatagram::unbound().unwrap();
            drop((client, server, named, datagrams, other));
        });
    });
    let path = path.display();
    assert_eq!(
        without_places(&lines),
        [
            format!("resource-new #1 UnixListener {path}"),
            format!("resource-new #2 UnixSocket to {path}"),
            format!("resource-new #3 UnixStream to {path}"),
            format!("resource-new #4 UnixStream {path}"),
            format!("resource-new #5 UnixListener @{name}"),
            format!("resource-new #6 UnixDatagram {}", folder.path().join("letters").display()),
            "resource-new #7 UnixDatagram ".to_owned(),
        ]
    );
}

/// Also of those that are converted, or made by other sockets.
#[test]
fn the_place_of_a_socket_is_the_call_that_made_it() {
    let mut begins = 0;
    let lines = seen(&["resource-new"], || {
        on_a_runtime(async || {
            let (std, _) = std::os::unix::net::UnixStream::pair().unwrap();
            std.set_nonblocking(true).unwrap();
            let sockets = [(); 3].map(|()| TcpSocket::new_v4().unwrap());
            let [binds, connects, none] = sockets;
            binds.bind(loopback()).unwrap();
            let at = binds.local_addr().unwrap();
            let letters = UnixSocket::new_datagram().unwrap();
            begins = line!() + 1;
            let one = UnixStream::pair().unwrap();
            let two = UnixDatagram::pair().unwrap();
            let three = UnixStream::from_std(std).unwrap();
            let four = UnixStream::try_from(three.into_std().unwrap()).unwrap();
            let five = UnixStream::from(four.into_inner());
            let six = binds.listen(1).unwrap();
            let seven = letters.datagram().unwrap();
            let eight = poll_fn(|context| Poll::Ready(six.poll_accept(context).is_pending())).await;
            let nine = UdpSocket::bind(loopback()).await.unwrap();
            let ten = connects.connect(at).await.unwrap();
            drop((one, two, five, seven, eight, nine, ten, none));
        });
    });
    let place = |line: &String| line.rsplit_once(':').unwrap().1.parse::<u32>().unwrap();
    assert!(lines.iter().all(|line| line.contains(" tests/net_waits.rs:")), "{lines:?}");
    let places: Vec<_> = lines.iter().map(|line| place(line) - begins).collect();
    assert_eq!(places, [0, 0, 1, 1, 2, 3, 4, 5, 6, 8, 9, 9]);
}

#[test]
fn each_wait_has_its_kind() {
    let lines = seen(WAITS, || {
        on_a_runtime(async || {
            let (mut one, _other) = UnixStream::pair().unwrap();
            while one.try_write(&[7; 4096]).is_ok() {}
            assert!(!poll(pin!(one.readable())));
            assert!(!poll(pin!(one.writable())));
            assert!(!poll(pin!(one.ready(Interest::READABLE | Interest::WRITABLE))));
            assert!(!poll(pin!(one.async_io(Interest::READABLE, || one.try_read(&mut [0; 8])))));
            assert!(!poll(pin!(one.write(b"rye"))));
            let (one, _other) = UnixDatagram::pair().unwrap();
            while one.try_send(b"rye").is_ok() {}
            assert!(!poll(pin!(one.send(b"rye"))));
            assert!(!poll(pin!(one.recv(&mut [0; 8]))));
            assert!(!poll(pin!(one.recv_from(&mut [0; 8]))));
            assert!(!poll(pin!(one.recv_buf(&mut Vec::with_capacity(8)))));
            let udp = UdpSocket::bind(loopback()).await.unwrap();
            assert!(!poll(pin!(udp.recv_from(&mut [0; 8]))));
            assert!(!poll(pin!(udp.peek_from(&mut [0; 8]))));
            assert!(!poll(pin!(udp.peek_sender())));
            assert!(!poll(pin!(udp.recv_buf_from(&mut Vec::with_capacity(8)))));
            let listener = TcpListener::bind(loopback()).await.unwrap();
            let polled = |listener: &TcpListener| listener.poll_accept(&mut Context::from_waker(Waker::noop()));
            assert!(polled(&listener).is_pending());
        });
    });
    let kinds: Vec<_> =
        lines.iter().filter_map(|line| line.strip_prefix("process-wait A #")?.split(' ').nth(1)).collect();
    assert_eq!(
        kinds,
        [
            "UnixStream::readable",
            "UnixStream::writable",
            "UnixStream::ready",
            "UnixStream::async_io",
            "UnixStream::write",
            "UnixDatagram::send",
            "UnixDatagram::recv",
            "UnixDatagram::recv_from",
            "UnixDatagram::recv_buf",
            "UdpSocket::recv_from",
            "UdpSocket::peek_from",
            "UdpSocket::peek_sender",
            "UdpSocket::recv_buf_from",
            "TcpListener::accept",
        ]
    );
    let ends = lines.iter().filter(|line| line.contains(" TIME cancelled ")).count();
    assert_eq!((ends, lines.len()), (kinds.len(), 2 * kinds.len()));
}

/// Awaits a future whose job waits at its first poll, since the only thread for blocking work runs another job until then.
async fn behind_a_job<T>(future: impl Future<Output = T>) -> T {
    let (release, held) = mpsc::channel::<()>();
    let job = spawn_blocking(move || held.recv());
    let mut future = pin!(future);
    assert!(!poll(future.as_mut()));
    drop(release);
    assert!(job.await.unwrap().is_err(), "it was released");
    future.await
}

#[test]
fn names_of_hosts_are_looked_up_by_a_resolver() {
    let lines = seen(WAITS, || {
        Builder::new_current_thread().enable_all().max_blocking_threads(1).build().unwrap().block_on(async {
            drop(behind_a_job(lookup_host(("localhost", 80))).await.unwrap());
            drop(behind_a_job(TcpListener::bind(("localhost", 0))).await.unwrap());
            // An address needs no resolver.
            drop(TcpListener::bind(loopback()).await.unwrap());
        });
    });
    assert_eq!(
        without_places(&lines),
        [
            "process-wait A resolver net::lookup_host",
            "process-resume A resolver ready net::lookup_host",
            "process-wait A resolver TcpListener::bind",
            "process-resume A resolver ready TcpListener::bind",
        ]
    );
}

/// A reader that gives up tells nobody: the next event of its direction does.
#[test]
fn a_wait_that_was_given_up_ends_with_the_next_event() {
    let lines = seen(WAITS, || {
        on_a_runtime(async || {
            let (mut one, other) = pair();
            // The same process waits on.
            assert!(!poll(pin!(one.read(&mut [0; 8]))));
            assert!(!poll(pin!(one.read(&mut [0; 8]))));
            // It does something else in this direction.
            assert!(!poll(pin!(one.readable())));
            assert!(!poll(pin!(one.read(&mut [0; 8]))));
            // Another process reads: tokio would not wake the first any more.
            let mut one = as_process(async move {
                assert!(!poll(pin!(one.read(&mut [0; 8]))));
                one
            })
            .await;
            // A half has the waits of its stream, and the stream those of its halves.
            assert!(!poll(pin!(one.split().0.read(&mut [0; 8]))));
            let (mut reads, writes) = one.into_split();
            assert!(!poll(pin!(reads.read(&mut [0; 8]))));
            let mut one = reads.reunite(writes).unwrap();
            // Another direction is another wait.
            assert!(!poll(pin!(one.read(&mut [0; 8]))));
            while one.try_write(&[7; 4096]).is_ok() {}
            assert!(!poll(pin!(one.write(b"rye"))));
            one.shutdown().await.unwrap();
            send(&other).await;
            assert_eq!(one.read(&mut [0; 8]).await.unwrap(), 3);
        });
    });
    let (read, write) = ("#1 UnixStream::read", "#1 UnixStream::write");
    let wait = |process: &str, on: &str| format!("process-wait {process} {on}");
    let end =
        |process: &str, outcome: &str, of: &str| format!("process-resume {process} #1 {outcome} UnixStream::{of}");
    assert_eq!(
        without_places(&lines),
        [
            wait("A", read),
            end("A", "cancelled", "read"),
            wait("A", "#1 UnixStream::readable"),
            end("A", "cancelled", "readable"),
            wait("A", read),
            end("A", "cancelled", "read"),
            wait("B", read),
            end("B", "cancelled", "read"),
            wait("A", read),
            end("A", "cancelled", "read"),
            wait("A", read),
            end("A", "cancelled", "read"),
            wait("A", read),
            wait("A", write),
            end("A", "cancelled", "write"),
            end("A", "ready", "read"),
        ]
    );
}

#[test]
fn the_end_of_a_socket_ends_its_waits_in_any_order() {
    let lines = seen(ALL, || {
        on_a_runtime(async || {
            let waits = || {
                let (mut one, _) = pair();
                assert!(!poll(pin!(one.read(&mut [0; 8]))));
                one
            };
            drop(waits());
            drop(waits().into_inner());
            drop(waits().into_std().unwrap());
            // On another thread, without a runtime.
            let one = waits();
            std::thread::spawn(move || drop(one)).join().unwrap();
            // Halves, the reader last and first.
            for reader_is_last in [true, false] {
                let (mut reads, writes) = pair().0.into_split();
                assert!(!poll(pin!(reads.read(&mut [0; 8]))));
                if reader_is_last {
                    drop((writes, reads));
                } else {
                    drop((reads, writes));
                }
            }
            // One that is forgotten waits for ever.
            std::mem::forget(waits());
        });
    });
    let begun = lines.iter().filter(|line| line.starts_with("process-wait ")).count();
    let ended = lines.iter().filter(|line| line.contains(" TIME cancelled UnixStream::read ")).count();
    let resumed = lines.iter().filter(|line| line.starts_with("process-resume ")).count();
    assert_eq!((begun, ended, resumed), (7, 6, 6));
    let of = |probe: &str| -> Vec<String> {
        let mut all: Vec<_> = lines.iter().filter_map(|line| line.strip_prefix(probe)?.split(' ').next()).collect();
        all.sort_unstable();
        all.into_iter().map(str::to_owned).collect()
    };
    let (mut new, dropped) = (of("resource-new "), of("resource-drop "));
    assert_eq!(new.len(), dropped.len() + 1);
    new.retain(|made| !dropped.contains(made));
    assert_eq!(new.len(), 1, "the forgotten one");
}

/// A runtime that ends drops its tasks; a poll after its end is ready, with an error.
#[test]
fn the_end_of_a_runtime_ends_the_waits_of_its_tasks() {
    let lines = seen(WAITS, || {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let (sender, receiver) = std::sync::mpsc::channel();
        let mut stays = runtime.block_on(async {
            let listener = TcpListener::bind(loopback()).await.unwrap();
            let (mut stays, other) = pair();
            assert!(!poll(pin!(stays.read(&mut [0; 8]))));
            dyntrace::spawn(async move {
                let _other = other;
                let mut accepts = pin!(listener.accept());
                poll_fn(|context| {
                    let answer = accepts.as_mut().poll(context).map(drop);
                    let _ = sender.send(());
                    answer
                })
                .await;
            });
            stays
        });
        receiver.recv().unwrap();
        drop(runtime);
        assert!(poll(pin!(stays.read(&mut [0; 8]))));
    });
    let mut lines = without_places(&lines);
    lines.sort();
    assert_eq!(
        lines,
        [
            "process-resume A #1 ready UnixStream::read",
            "process-resume B #2 cancelled TcpListener::accept",
            "process-wait A #1 UnixStream::read",
            "process-wait B #2 TcpListener::accept",
        ]
    );
}

#[test]
fn a_panic_in_a_closure_ends_the_wait() {
    let lines = seen(WAITS, || {
        on_a_runtime(async || {
            let (one, other) = pair();
            let mut panics = Box::pin(one.async_io(Interest::READABLE, || -> io::Result<()> { panic!("no bread") }));
            assert!(!poll(panics.as_mut()));
            send(&other).await;
            one.readable().await.unwrap();
            let polls = std::panic::AssertUnwindSafe(|| poll(panics.as_mut()));
            std::panic::catch_unwind(polls).unwrap_err();
        });
    });
    let lines = without_places(&lines);
    assert!(lines.contains(&"process-resume A #1 panic UnixStream::async_io".to_owned()), "{lines:?}");
    assert!(!lines.iter().any(|line| line.contains("cancelled")), "{lines:?}");
}

/// Two threads poll one socket: each wait has one end, and nothing hangs.
#[test]
fn threads_that_poll_one_socket_leave_no_wait_open() {
    let lines = seen(WAITS, || {
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        runtime.block_on(async {
            let socket = Arc::new(UdpSocket::bind(loopback()).await.unwrap());
            let to = socket.local_addr().unwrap();
            let mut set = JoinSet::new();
            for _ in 0..2 {
                let socket = Arc::clone(&socket);
                set.spawn_process(async move {
                    for _ in 0..500 {
                        poll_fn(|context| {
                            let _ = socket.poll_recv(context, &mut ReadBuf::new(&mut [0; 8]));
                            Poll::Ready(())
                        })
                        .await;
                        let _ = socket.try_send_to(b"rye", to);
                        yield_now().await;
                    }
                });
            }
            set.join_all().await;
        });
    });
    let begun = lines.iter().filter(|line| line.starts_with("process-wait ")).count();
    assert!(begun > 0);
    assert_eq!(lines.len(), 2 * begun);
    // Of each process, waits and ends alternate.
    for process in ["A", "B"] {
        let own = |line: &&String| line.split(' ').nth(1) == Some(process);
        let probes: Vec<_> = lines.iter().filter(own).map(|line| line.split(' ').next().unwrap()).collect();
        assert!(probes.chunks(2).all(|pair| pair == ["process-wait", "process-resume"]), "{probes:?}");
    }
}

/// Streams that meet `hyper`'s and `tokio-util`'s bounds move bytes with a tracer attached as without.
#[test]
fn tasks_that_read_and_write_wait_as_often_as_they_are_woken() {
    let rounds = 200;
    let lines = seen(WAITS, || {
        on_a_runtime(async || {
            let listener = TcpListener::bind(loopback()).await.unwrap();
            let at = listener.local_addr().unwrap();
            let mut server = JoinSet::new();
            server.spawn_process(async move {
                let (stream, _) = listener.accept().await.unwrap();
                let (mut reads, mut writes) = stream.into_split();
                tokio::io::copy(&mut reads, &mut writes).await.unwrap()
            });
            let (reads, mut writes) = TcpStream::connect(at).await.unwrap().into_split();
            let mut frames = tokio_util::codec::FramedRead::new(reads, tokio_util::codec::LinesCodec::new());
            for round in 0..rounds {
                writes.write_all(format!("{round}\n").as_bytes()).await.unwrap();
                let line = tokio_stream::StreamExt::next(&mut frames).await.unwrap().unwrap();
                assert_eq!(line, round.to_string());
            }
            drop(writes);
            assert!(tokio_stream::StreamExt::next(&mut frames).await.is_none());
            assert!(server.join_next().await.unwrap().unwrap() > rounds);
        });
    });
    let of = |text: &str| lines.iter().filter(|line| line.contains(text)).count() as u64;
    let waits = of("process-wait A #") - 1;
    assert!(waits >= rounds, "the client waits for each answer: {waits}");
    assert_eq!(of("process-wait "), of(" TIME ready "));
    assert_eq!(lines.len() as u64, 2 * of("process-wait "));
}

#[test]
fn nothing_is_told_of_calls_that_need_not_wait() {
    let lines = seen(WAITS, || {
        on_a_runtime(async || {
            let (mut one, other) = pair();
            assert_eq!(one.try_read(&mut [0; 8]).unwrap_err().kind(), io::ErrorKind::WouldBlock);
            send(&other).await;
            // The runtime's driver tells the stream that it is ready.
            while one.try_io(Interest::READABLE, || Ok(())).is_err() {
                yield_now().await;
            }
            assert_eq!(one.read(&mut [0; 8]).await.unwrap(), 3);
            drop(one.try_read(&mut [0; 8]));
            let udp = UdpSocket::bind(loopback()).await.unwrap();
            drop(udp.try_recv_from(&mut [0; 8]));
        });
    });
    assert_eq!(lines, [""; 0]);
}
