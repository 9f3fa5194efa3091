//! Serves the files of a folder over HTTP, each request with a tag of its own.
//!
//! ```console
//! $ dyntrace record -o trace -- target/release/examples/file_server docs
//! $ curl -H 'x-request-id: order-7' http://127.0.0.1:8080/hanging.md     # meanwhile, in another terminal
//! $ dyntrace view trace --tag order-7
//! ```
//!
//! `view` shows all operations of the request: FSTAT and OPEN of the handler, each READ of the body, and CLOSE. A request without the
//! headers `traceparent` and `x-request-id` has a new tag: the client's name in `x-client` and a number, such as `alice-17`, else
//! `req-17`. The answer has the tag as its header `x-request-id`.
//!
//! `docs/slow_service.md` finds out by this server why a service is slow. `--backend tokio` reads the files by `tokio::fs` instead, so
//! that both can be measured in one program: `ci/bench server` does it.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context, ensure};
use axum::Router;
use axum::http::request::Parts;
use axum::serve::ListenerExt;
use clap::{Parser, ValueEnum};
use dyntrace::Tag;
use dyntrace_tower::{FsBackend, TagLayer};
use tokio::net::TcpListener;
use tower_http::services::fs::ServeDir;

/// Serves the files of a folder over HTTP
#[derive(Parser)]
struct Options {
    folder: PathBuf,
    #[arg(default_value = "127.0.0.1:8080")]
    address: SocketAddr,
    /// The file operations: those of dyntrace::fs, or for comparison those of tokio::fs, which no tracer sees
    #[arg(long, value_enum, default_value_t)]
    backend: Backend,
    /// Serve without a tag for each request
    #[arg(long)]
    untagged: bool,
}

#[derive(Clone, Copy, Default, ValueEnum)]
enum Backend {
    #[default]
    Dyntrace,
    Tokio,
}

/// Returns the client's name and a number.
fn client(request: &Parts) -> Option<Tag> {
    static REQUESTS: AtomicU64 = AtomicU64::new(1);
    let name = request.headers.get("x-client")?.to_str().ok()?;
    Some(format!("{name}-{}", REQUESTS.fetch_add(1, Ordering::Relaxed)).into())
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let Options { folder, address, backend, untagged } = Options::parse();
    ensure!(folder.is_dir(), "cannot serve {folder:?}: it is not a folder");

    let mut app = match backend {
        Backend::Dyntrace => Router::new().fallback_service(ServeDir::with_backend(&folder, FsBackend)),
        Backend::Tokio => Router::new().fallback_service(ServeDir::new(&folder)),
    };
    if !untagged {
        let tags = TagLayer::new().traceparent().header("x-request-id").function(client);
        app = app.layer(tags.response_header("x-request-id"));
    }

    let listener = TcpListener::bind(address).await.with_context(|| format!("cannot listen on {address}"))?;
    println!("serves {} on http://{}", folder.display(), listener.local_addr()?);
    // The head of an answer is often sent before its body is read. By default the body then waits for the client's acknowledgement of
    // the head, which the client delays by up to 40 ms.
    let listener = listener.tap_io(|stream| {
        if let Err(error) = stream.set_nodelay(true) {
            eprintln!("cannot send small packets at once: {error}");
        }
    });
    axum::serve(listener, app).await?;
    Ok(())
}
