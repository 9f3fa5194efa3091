//! Carts. The fault: their lock is held while another program is asked.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Mutex;

pub struct Carts {
    priced: Mutex<u64>,
    prices: SocketAddr,
}

impl Carts {
    /// Starts the price service, which stands for a program of others.
    pub async fn open() -> io::Result<Carts> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let prices = listener.local_addr()?;
        std::thread::spawn(|| serve_prices(listener));
        Ok(Carts { priced: Mutex::new(0), prices })
    }
}

pub async fn priced(carts: &Carts) -> io::Result<String> {
    let mut priced = carts.priced.lock().await;
    let price = price(carts.prices).await?;
    *priced += 1;
    Ok(format!("cart {}: {price}\n", *priced))
}

async fn price(service: SocketAddr) -> io::Result<u64> {
    let mut connection = TcpStream::connect(service).await?;
    connection.write_u64(7).await?;
    connection.read_u64().await
}

/// Answers after 20 ms, on a runtime of its own.
fn serve_prices(listener: TcpListener) -> io::Result<()> {
    let listener = listener.into_std()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::from_std(listener)?;
        loop {
            let (mut connection, _) = listener.accept().await?;
            tokio::spawn(async move {
                let number = connection.read_u64().await?;
                tokio::time::sleep(Duration::from_millis(20)).await;
                connection.write_u64(number * 100).await
            });
        }
    })
}
