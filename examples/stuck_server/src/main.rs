//! The web server of a bank, with three faults of real servers: two transfers can deadlock, a report keeps its thread, and an
//! archived file waits for its disk. `docs/stuck_server.md` finds each of them by one command.
//!
//! ```console
//! $ mkdir archive && mkfifo archive/2023
//! $ target/debug/stuck_server archive &
//! listens on http://127.0.0.1:40123
//! $ curl http://127.0.0.1:40123/archive/2023    # hangs; meanwhile, in another terminal:
//! $ dyntrace why -p PID
//! ```

mod accounts;
mod archive;
mod port;
mod report;

use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use axum::Router;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::get;
use clap::Parser;
use dyntrace::net::TcpListener;
use dyntrace_tower::TagLayer;
use tokio::signal::ctrl_c;

use accounts::Accounts;
use port::Port;

/// Serve a bank over HTTP, on a port that the system chooses
///
/// GET /transfer/FROM/TO moves one coin between the accounts alice, bob and carol; /report/YEARS seals the statements of so many
/// years; /archive/NAME sends a file of the folder; /health answers at once. An interrupt ends the server.
#[derive(Parser)]
struct Options {
    /// The folder of the archive
    archive: PathBuf,
}

/// The state that requests share.
struct Bank {
    accounts: Accounts,
    archive: PathBuf,
}

type Answer = Result<String, (StatusCode, String)>;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let Options { archive } = Options::parse();
    let bank = Arc::new(Bank { accounts: Accounts::open(), archive });
    let app = Router::new()
        .route("/health", get(async || "well\n"))
        .route("/transfer/{from}/{to}", get(transfer))
        .route("/report/{years}", get(report))
        .route("/archive/{name}", get(archived))
        .with_state(bank)
        .layer(TagLayer::new().header("x-request-id").response_header("x-request-id"));
    let listener =
        TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.context("cannot listen on the loopback address")?;
    println!("listens on http://{}", listener.local_addr().context("cannot learn the address")?);
    tokio::select! {
        served = axum::serve(Port(listener), app).into_future() => served.context("cannot serve"),
        signal = ctrl_c() => signal.context("cannot listen for interrupts"),
    }
}

async fn transfer(State(bank): State<Arc<Bank>>, Path((from, to)): Path<(String, String)>) -> Answer {
    to_its_end(accounts::transfer(bank, from, to)).await
}

async fn report(Path(years): Path<u32>) -> Answer {
    to_its_end(report::sealed(years)).await
}

async fn archived(State(bank): State<Arc<Bank>>, Path(name): Path<String>) -> Answer {
    to_its_end(archive::read(bank, name)).await
}

/// Runs the work of a request as a task of its own: a client that hangs up does not stop it halfway.
async fn to_its_end(work: impl Future<Output = Answer> + Send + 'static) -> Answer {
    let ended = dyntrace::spawn(work).await;
    ended.unwrap_or_else(|error| Err((StatusCode::INTERNAL_SERVER_ERROR, format!("{error}\n"))))
}
