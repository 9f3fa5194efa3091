//! A web shop under axum that knows nothing of dyntrace, with three causes of slow requests. `dyntrace diagnose` names them:
//!
//! ```console
//! $ target/debug/slow_shop /tmp/orders &
//! listens on http://127.0.0.1:40123
//! $ curl http://127.0.0.1:40123/cart    # again and again, and /report and /order; meanwhile, in another terminal:
//! $ dyntrace diagnose -p PID
//! ```

mod cart;
mod order;
mod report;

use std::io;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;
use tokio::net::TcpListener;

use cart::Carts;

/// The state that requests share.
struct Shop {
    carts: Carts,
    orders: PathBuf,
}

type Answer = Result<String, (StatusCode, String)>;

fn answer(done: io::Result<String>) -> Answer {
    done.map_err(|error| (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let orders = std::env::args_os().nth(1).context("usage: slow_shop FILE-FOR-ORDERS")?.into();
    let carts = Carts::open().await.context("cannot start the price service")?;
    let app = Router::new()
        .route("/cart", get(async |State(shop): State<Arc<Shop>>| answer(cart::priced(&shop.carts).await)))
        .route("/order", get(async |State(shop): State<Arc<Shop>>| answer(order::placed(&shop.orders).await)))
        .route("/report", get(async || answer(report::rendered().await)))
        .with_state(Arc::new(Shop { carts, orders }));
    let listener =
        TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.context("cannot listen on the loopback address")?;
    println!("listens on http://{}", listener.local_addr().context("cannot learn the address")?);
    axum::serve(listener, app).await.context("cannot serve")
}
