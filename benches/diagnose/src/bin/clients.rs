//! Clients of a shop, of which each sends the next request when it has its answer. So the requests of a time take as many times as long
//! as there are clients, by the clients' own clocks.
//!
//! ```console
//! $ clients PORT [tonic]    # prints how many there are, and goes on until it is ended
//! ```

use std::iter;

use anyhow::{Context as _, ensure};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

const CLIENTS: [(&str, usize); 3] = [("/cart", 3), ("/order", 6), ("/report", 1)];

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let port = arguments.get(1).context("an argument is missing: the port")?.parse()?;
    let is_grpc = arguments.get(2).is_some_and(|framework| framework == "tonic");
    let mut clients = JoinSet::new();
    for path in CLIENTS.into_iter().flat_map(|(path, count)| iter::repeat_n(path, count)) {
        clients.spawn(async move { if is_grpc { call(port, path).await } else { get(port, path).await } });
    }
    println!("{}", clients.len());
    clients.join_next().await.context("there are no clients")??
}

async fn get(port: u16, path: &str) -> anyhow::Result<()> {
    let request = format!("GET {path} HTTP/1.1\r\nhost: shop\r\nconnection: close\r\n\r\n");
    loop {
        let mut connection = TcpStream::connect(("127.0.0.1", port)).await?;
        connection.write_all(request.as_bytes()).await?;
        let mut answer = String::new();
        connection.read_to_string(&mut answer).await?;
        ensure!(answer.starts_with("HTTP/1.1 200"), "{path}: {answer}");
    }
}

#[cfg(feature = "tonic")]
async fn call(port: u16, path: &str) -> anyhow::Result<()> {
    let channel = tonic::transport::Endpoint::from_shared(format!("http://127.0.0.1:{port}"))?.connect().await?;
    let path: http::uri::PathAndQuery = format!("/shop{path}").parse()?;
    let mut client = tonic::client::Grpc::new(channel);
    loop {
        client.ready().await?;
        let codec = tonic_prost::ProstCodec::<(), ()>::default();
        client.unary(tonic::Request::new(()), path.clone(), codec).await?;
    }
}

#[cfg(not(feature = "tonic"))]
async fn call(_port: u16, _path: &str) -> anyhow::Result<()> {
    anyhow::bail!("built without the feature tonic")
}
