//! dyntrace's listener, as axum takes listeners.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::time::Duration;

use axum::serve::Listener;
use dyntrace::net::{TcpListener, TcpStream};
use dyntrace::time::sleep;

/// Accepts connections whose reads and writes tracers see.
pub struct Port(pub TcpListener);

impl Listener for Port {
    type Io = TcpStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (TcpStream, SocketAddr) {
        loop {
            match self.0.accept().await {
                Ok(accepted) => return accepted,
                // A client that has gone is not the server's fault.
                Err(error) if error.kind() == ErrorKind::ConnectionAborted => {}
                // The process may have no descriptors left. Those of requests that end come back.
                Err(_) => sleep(Duration::from_secs(1)).await,
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }
}
