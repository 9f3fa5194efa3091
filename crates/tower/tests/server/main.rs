//! A real server on loopback, whose operations are recorded: each carries the tag of its request.
#![cfg(target_os = "linux")]

mod children;
mod client;
#[path = "../../../../tests/common/example.rs"]
mod example;
mod grpc;
mod hang_up;
mod headers;
mod hyper;
mod requests;
mod serve_dir;
mod trace;

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Mutex, PoisonError, mpsc};
use std::task::{Context, Poll};

use axum::Router;
use axum::body::Body;
use axum::http::header::CONTENT_LENGTH;
use axum::response::{IntoResponse, Response};
use dyntrace::fs;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::net::TcpListener;
use tokio::runtime::Builder;
use tokio_util::io::ReaderStream;

use trace::Traced;

/// Serves `app` by axum while `act` runs, and returns the file operations of that time.
fn served(app: Router, act: impl FnOnce(SocketAddr)) -> Vec<Traced> {
    served_by(async move |listener| axum::serve(listener, app).await.unwrap(), act)
}

/// Runs the server `serve` while `act` runs, and returns the file operations of that time. One server at a time: a session records the
/// whole program.
fn served_by<F>(serve: impl FnOnce(TcpListener) -> F, act: impl FnOnce(SocketAddr)) -> Vec<Traced>
where
    F: Future<Output = ()> + Send + 'static,
{
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    trace::recorded(|| {
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let listener = runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))).unwrap();
        let address = listener.local_addr().unwrap();
        runtime.spawn(serve(listener));
        act(address);
        // The end of the runtime waits for the CLOSE of each dropped file.
        drop(runtime);
    })
}

/// Answers with a file, which is read while the body is sent. Reports the tag with which the body is dropped.
async fn stream(path: PathBuf, dropped: mpsc::Sender<Option<String>>) -> Response {
    let file = fs::File::open(path).await.unwrap();
    let length = file.metadata().await.unwrap().len();
    let body = ReaderStream::new(Watched { file, dropped });
    ([(CONTENT_LENGTH, length)], Body::from_stream(body)).into_response()
}

struct Watched {
    file: fs::File,
    dropped: mpsc::Sender<Option<String>>,
}

impl AsyncRead for Watched {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.file).poll_read(context, into)
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        // The test may have ended, if it failed.
        let _ = self.dropped.send(dyntrace::get_tag().map(|tag| tag.to_string()));
    }
}
