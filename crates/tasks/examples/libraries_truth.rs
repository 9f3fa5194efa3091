//! A program whose tasks wait in channels of other libraries and in streams of h2, for the tests of this crate.
//!
//! Prints `task NAME HEADER` lines, then `ready`; ends when its standard input does.

use std::convert::Infallible;
use std::future::poll_fn;
use std::io::Read;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::{Stream, StreamExt};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, StreamBody};
use hyper::body::{Bytes, Frame, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Sleep;

type Body = UnsyncBoxBody<Bytes, Infallible>;

/// More than a stream of h2 takes before its reader reads.
const MUCH: usize = 1 << 20;

/// Prints the header's address of the task that calls it: a task's waker has it.
async fn here(name: &str) {
    let header = poll_fn(|context| Poll::Ready(context.waker().data() as usize)).await;
    println!("task {name} {header}");
}

async fn receives(receiver: async_channel::Receiver<u32>) {
    here("receives").await;
    let _ = receiver.recv().await;
}

async fn sends(sender: async_channel::Sender<u32>) {
    here("sends").await;
    while sender.send(1).await.is_ok() {}
}

async fn receives_stream(mut receiver: impl Stream<Item = u32> + Unpin) {
    here("receives_stream").await;
    receiver.next().await;
}

async fn flume_receives(receiver: flume::Receiver<u32>) {
    here("flume_receives").await;
    let _ = receiver.recv_async().await;
}

async fn flume_receives_owned(receiver: flume::Receiver<u32>) {
    here("flume_receives_owned").await;
    let _ = receiver.into_recv_async().await;
}

/// As servers hold a signal that has come, or that they were not given.
struct Signal(Option<Pin<Box<Sleep>>>);

impl Future for Signal {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        self.0.as_mut().map_or(Poll::Pending, |sleep| sleep.as_mut().poll(context))
    }
}

async fn signalled(receiver: flume::Receiver<u32>) {
    here("signalled").await;
    tokio::select! {
        () = Signal(None) => {}
        _ = receiver.recv_async() => {}
    }
}

async fn flume_stream(receiver: flume::Receiver<u32>) {
    here("flume_stream").await;
    receiver.stream().next().await;
}

async fn flume_sends(sender: flume::Sender<u32>) {
    here("flume_sends").await;
    while sender.send_async(1).await.is_ok() {}
}

/// Each request is answered by a task of its own, which also sends the body.
async fn answer(
    mut request: Request<Incoming>,
    endless: async_channel::Receiver<u32>,
) -> Result<Response<Body>, Infallible> {
    let frame = |_| Ok(Frame::data(Bytes::new()));
    let path = request.uri().path().to_owned();
    here(&format!("serves{}", path.replace('/', "_"))).await;
    Ok(Response::new(match path.as_str() {
        "/body" => StreamBody::new(endless.map(frame)).boxed_unsync(),
        // the first part is larger than the stream's window
        "/late" => {
            let part = futures::stream::iter([Ok(Frame::data(Bytes::from(vec![0; MUCH])))]);
            StreamBody::new(part.chain(endless.map(frame))).boxed_unsync()
        }
        "/room" => {
            let chunk = Bytes::from(vec![0; 1 << 14]);
            StreamBody::new(futures::stream::repeat(chunk).map(|chunk| Ok(Frame::data(chunk)))).boxed_unsync()
        }
        "/reads" => {
            request.body_mut().frame().await;
            unreachable!("the client sends nothing")
        }
        _ => {
            tokio::time::sleep(Duration::from_secs(3600)).await;
            Body::default()
        }
    }))
}

async fn serve(listener: TcpListener, endless: async_channel::Receiver<u32>) {
    while let Ok((socket, _)) = listener.accept().await {
        let answer = |endless: async_channel::Receiver<u32>| move |request| answer(request, endless.clone());
        let service = service_fn(answer(endless.clone()));
        let server = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
        tokio::spawn(async move { server.serve_connection(TokioIo::new(socket), service).await.is_ok() });
    }
}

/// The client's side of one connection for each request.
async fn request(name: &str, path: &str, address: std::net::SocketAddr) {
    here(name).await;
    let socket = TcpStream::connect(address).await.expect("connect to loopback");
    let (sender, connection) = h2::client::handshake(socket).await.expect("speak h2");
    tokio::spawn(connection);
    let mut sender = sender.ready().await.expect("a stream");
    let request = Request::post(format!("http://{address}{path}")).body(()).expect("a request");
    let (response, mut upload) = sender.send_request(request, false).expect("send the request");
    match name {
        "uploads" => loop {
            upload.reserve_capacity(MUCH);
            let Some(Ok(room)) = poll_fn(|context| upload.poll_capacity(context)).await else { return };
            upload.send_data(vec![0; room].into(), false).expect("send data");
        },
        "reads_slowly" | "reads_late" => {
            let _unread = response.await.expect("an answer");
            std::future::pending::<()>().await;
        }
        _ => {
            let mut body = response.await.expect("an answer").into_body();
            while body.data().await.is_some() {}
        }
    }
}

/// A client of hyper's waits for its connection's task.
async fn asks_hyper(address: std::net::SocketAddr) {
    here("asks_hyper").await;
    let socket = TcpStream::connect(address).await.expect("connect to loopback");
    let handshake = hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(socket));
    let (mut sender, connection) = handshake.await.expect("speak h2");
    tokio::spawn(connection);
    let request = Request::get(format!("http://{address}/hyper")).body(Body::default()).expect("a request");
    let _ = sender.send_request(request).await;
}

async fn program() {
    let (sender, receiver) = async_channel::bounded(1);
    let (full, unread) = async_channel::bounded(1);
    tokio::spawn(receives(receiver.clone()));
    tokio::spawn(receives_stream(Box::pin(receiver.clone())));
    tokio::spawn(sends(full));
    let (flume_sender, flume_receiver) = flume::bounded(1);
    let (flume_full, flume_unread) = flume::bounded(1);
    tokio::spawn(flume_receives(flume_receiver.clone()));
    tokio::spawn(flume_receives_owned(flume_receiver.clone()));
    tokio::spawn(signalled(flume_receiver.clone()));
    tokio::spawn(flume_stream(flume_receiver));
    tokio::spawn(flume_sends(flume_full));

    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind to loopback");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(serve(listener, receiver));
    for (name, path) in [
        ("waits", "/waits"),
        ("reads_data", "/body"),
        ("reads_slowly", "/room"),
        ("reads_late", "/late"),
        ("is_read", "/reads"),
        ("uploads", "/upload"),
    ] {
        tokio::spawn(request(name, path, address));
    }
    tokio::spawn(asks_hyper(address));

    tokio::time::sleep(Duration::from_secs(1)).await;
    println!("ready");
    let _ = tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new())).await;
    drop((sender, unread, flume_sender, flume_unread));
}

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.expect("a runtime");
    runtime.block_on(program());
    runtime.shutdown_background();
}
