//! The shop on tokio alone: a task for each connection, a request on each.

use std::io;
use std::sync::Arc;

use diagnose_bench::{Shop, listen};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let shop = Arc::new(Shop::open().await?);
    let listener = listen().await?;
    loop {
        let (connection, _) = listener.accept().await?;
        tokio::spawn(serve(Arc::clone(&shop), connection));
    }
}

async fn serve(shop: Arc<Shop>, connection: TcpStream) -> io::Result<()> {
    let mut connection = BufReader::new(connection);
    let (mut first, mut line) = (String::new(), String::new());
    connection.read_line(&mut first).await?;
    while line != "\r\n" {
        line.clear();
        connection.read_line(&mut line).await?;
    }
    let path = first.split(' ').nth(1).unwrap_or_default();
    let answer = shop.answer(path).await?;
    connection.write_all(format!("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{answer}").as_bytes()).await
}
