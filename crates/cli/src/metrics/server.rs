//! A small HTTP server for one page.
//!
//! A client has one request for each connection, [`SILENCE`] to send it, and [`PATIENCE`] until it has taken the answer. At most
//! [`CONNECTIONS`] are served at once; the others wait in the system's queue. The process is asked for one of them at a time.

use std::convert::Infallible;
use std::io;
use std::net;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use dyntrace_terminal::say;
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderName};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Mutex, Semaphore};
use tokio::task;
use tokio::time::{sleep, timeout};

use super::exposition;

/// How long a request's head may take. Silent clients, as many as there are connections, delay the others by no more.
const SILENCE: Duration = Duration::from_secs(2);
/// How long a connection may last.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a request waits while the process is asked for others. With the time that the process has, it is less than [`PATIENCE`].
const TURN: Duration = Duration::from_secs(4);
const CONNECTIONS: usize = 32;
/// The most bytes of a request's head: the least that hyper accepts.
const LONGEST: usize = 8 << 10;
/// The pause in accepting after no descriptor was left.
const PAUSE: Duration = Duration::from_millis(100);

/// Returns the page, or why there is none.
type Answer = dyn Fn() -> Result<String, String> + Send + Sync;

/// Serves the pages of `answer`, in a thread of its own, until this process ends.
pub fn start(
    listener: net::TcpListener,
    answer: impl Fn() -> Result<String, String> + Send + Sync + 'static,
) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
    let source = Source { answer: Arc::new(answer), turn: Arc::default() };
    thread::Builder::new().name("dyntrace-http".to_owned()).spawn(move || {
        runtime.block_on(async {
            match TcpListener::from_std(listener) {
                Ok(listener) => accept(listener, source).await,
                Err(error) => say!("dyntrace: cannot serve: {error}"),
            }
        });
    })?;
    Ok(())
}

async fn accept(listener: TcpListener, source: Source) {
    let room = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let Ok(place) = Arc::clone(&room).acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            sleep(PAUSE).await;
            continue;
        };
        let source = source.clone();
        task::spawn(async move {
            // Ends by the client, by an error of the client's, or by time: the next one is served in any case.
            let _ = timeout(PATIENCE, serve(stream, source)).await;
            drop(place);
        });
    }
}

async fn serve(stream: TcpStream, source: Source) -> hyper::Result<()> {
    let respond = service_fn(move |request| {
        let source = source.clone();
        async move { Ok::<_, Infallible>(respond(&request, source).await) }
    });
    let mut server = http1::Builder::new();
    server.timer(TokioTimer::new()).header_read_timeout(SILENCE).max_buf_size(LONGEST).keep_alive(false);
    server.serve_connection(TokioIo::new(stream), respond).await
}

type Page = Response<Full<Bytes>>;

async fn respond(request: &Request<Incoming>, source: Source) -> Page {
    const TEXT: (HeaderName, &str) = (CONTENT_TYPE, "text/plain; charset=utf-8");
    if request.uri().path() != "/metrics" {
        return page(StatusCode::NOT_FOUND, TEXT, "the metrics are at /metrics\n".to_owned());
    }
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return page(StatusCode::METHOD_NOT_ALLOWED, (ALLOW, "GET, HEAD"), String::new());
    }
    match source.ask().await {
        Ok(text) => page(StatusCode::OK, (CONTENT_TYPE, exposition::CONTENT_TYPE), text),
        Err(why) => page(StatusCode::SERVICE_UNAVAILABLE, TEXT, format!("{why}\n")),
    }
}

fn page(status: StatusCode, (name, value): (HeaderName, &'static str), text: String) -> Page {
    let mut page = Response::new(Full::new(Bytes::from(text)));
    *page.status_mut() = status;
    page.headers_mut().insert(name, hyper::header::HeaderValue::from_static(value));
    page
}

#[derive(Clone)]
struct Source {
    answer: Arc<Answer>,
    turn: Arc<Mutex<()>>,
}

impl Source {
    async fn ask(&self) -> Result<String, String> {
        let turn = timeout(TURN, Arc::clone(&self.turn).lock_owned()).await;
        let turn = turn.map_err(|_| "the process has not answered the requests before this one".to_owned())?;
        let answer = Arc::clone(&self.answer);
        // The turn lasts until the answer is there, also if the client has gone.
        let asked = task::spawn_blocking(move || {
            let _turn = turn;
            answer()
        });
        asked.await.unwrap_or_else(|error| Err(error.to_string()))
    }
}
