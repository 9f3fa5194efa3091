//! The shop without a framework: what it does for a request, with its three faults.

#[path = "../../../examples/slow_shop/src/cart.rs"]
pub mod cart;
#[path = "../../../examples/slow_shop/src/order.rs"]
pub mod order;
#[path = "../../../examples/slow_shop/src/report.rs"]
pub mod report;

use std::io;
use std::net::Ipv4Addr;
use std::path::PathBuf;

use anyhow::Context as _;
use tokio::net::TcpListener;

pub struct Shop {
    carts: cart::Carts,
    orders: PathBuf,
}

impl Shop {
    /// The file for orders is the program's argument.
    pub async fn open() -> anyhow::Result<Shop> {
        let orders = std::env::args_os().nth(1).context("an argument is missing: the file for orders")?.into();
        let carts = cart::Carts::open().await.context("cannot start the price service")?;
        Ok(Shop { carts, orders })
    }

    pub async fn answer(&self, path: &str) -> io::Result<String> {
        match path {
            "/cart" => cart::priced(&self.carts).await,
            "/order" => order::placed(&self.orders).await,
            "/report" => report::rendered().await,
            _ => Err(io::ErrorKind::NotFound.into()),
        }
    }
}

/// Listens, and prints where.
pub async fn listen() -> anyhow::Result<TcpListener> {
    let listener =
        TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.context("cannot listen on the loopback address")?;
    println!("listens on http://{}", listener.local_addr()?);
    Ok(listener)
}
