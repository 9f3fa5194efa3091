//! Serves the files of a folder over HTTP, each request with a tag of its own.
//!
//! ```console
//! $ dyntrace record -o trace -- target/release/examples/file_server docs
//! $ curl -H 'x-request-id: order-7' http://127.0.0.1:8080/hanging.md     # meanwhile, in another terminal
//! $ dyntrace view trace --tag order-7
//! ```
//!
//! `view` shows all operations of the request: FSTAT and OPEN of the handler, each READ of the body, and CLOSE. A request without the
//! headers `traceparent` and `x-request-id` has a new tag, such as `req-17`, which the answer has as its header `x-request-id`.

use std::env;
use std::net::SocketAddr;
use std::path::Path;

use anyhow::{Context, ensure};
use axum::Router;
use dyntrace_tower::{FsBackend, TagLayer};
use tokio::net::TcpListener;
use tower_http::services::fs::ServeDir;

const USAGE: &str = "usage: file_server FOLDER [ADDRESS:PORT], for example file_server docs 127.0.0.1:8080";

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut arguments = env::args_os().skip(1);
    let folder = arguments.next().context(USAGE)?;
    let address = match arguments.next() {
        Some(address) => address.to_str().and_then(|address| address.parse().ok()).context(USAGE)?,
        None => SocketAddr::from(([127, 0, 0, 1], 8080)),
    };
    ensure!(Path::new(&folder).is_dir(), "cannot serve {folder:?}: it is not a folder");

    let files = ServeDir::with_backend(&folder, FsBackend);
    let tags = TagLayer::new().traceparent().header("x-request-id").response_header("x-request-id");
    let app = Router::new().fallback_service(files).layer(tags);

    let listener = TcpListener::bind(address).await.with_context(|| format!("cannot listen on {address}"))?;
    println!("serves {} on http://{}", Path::new(&folder).display(), listener.local_addr()?);
    axum::serve(listener, app).await?;
    Ok(())
}
