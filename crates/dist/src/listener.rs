//! The listening socket of a node, and its entry in epmd, which lasts as long as the connection to epmd.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use erl_dist::node::{Creation, LocalNode, NodeName};
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use tokio::task::AbortHandle;
use tokio::time::sleep;

use super::error::Error;
use super::inner::Inner;
use super::pid::Local;
use super::strangers::Line;
use super::{epmd, handshake, name};

/// A registered node that does not accept connections yet.
pub(super) struct Listener {
    socket: TcpListener,
    address: SocketAddr,
    epmd: (IpAddr, u16),
    registered: std::net::TcpStream,
    creation: Creation,
}

/// The tasks of a node that accepts connections.
pub(super) struct Tasks {
    pub address: SocketAddr,
    tasks: [AbortHandle; 2],
}

impl Tasks {
    pub(super) fn end(&self) {
        self.tasks.iter().for_each(AbortHandle::abort);
    }
}

pub(super) fn open(name: &NodeName, address: IpAddr, epmd_port: u16) -> Result<Listener, Error> {
    let failed = |source| Error::io("cannot listen at", address, source);
    let socket = TcpListener::bind((address, 0)).map_err(failed)?;
    socket.set_nonblocking(true).map_err(failed)?;
    let address = socket.local_addr().map_err(failed)?;
    let epmd = (name::own_epmd(address.ip()), epmd_port);
    let (registered, creation) = epmd::register(name, address.port(), epmd)?;
    Ok(Listener { socket, address, epmd, registered, creation })
}

impl Listener {
    pub(super) fn local(&self, name: NodeName) -> Local {
        let mut node = LocalNode::new(name, self.creation);
        node.flags = handshake::flags();
        Local { name: node.name.to_string(), node }
    }

    pub(super) fn run(self, inner: &Arc<Inner>) -> Tasks {
        let port = self.address.port();
        let accepting = inner.runtime.spawn(accept(inner.clone(), self.socket));
        let staying = inner.runtime.spawn(stay(inner.local.node.name.clone(), port, self.epmd, self.registered));
        Tasks { address: self.address, tasks: [accepting.abort_handle(), staying.abort_handle()] }
    }
}

async fn accept(inner: Arc<Inner>, socket: TcpListener) -> io::Result<()> {
    let socket = tokio::net::TcpListener::from_std(socket)?;
    let mut line = Line::new(inner.options.setup_time);
    loop {
        tokio::select! {
            accepted = socket.accept() => match accepted {
                Ok((peer, address)) => line.add(address.ip(), peer),
                // Most likely out of file descriptors: others will be closed.
                Err(_) => sleep(Duration::from_millis(100)).await,
            },
            (place, peer) = line.next() => {
                let inner = inner.clone();
                place.run(move |place| async move {
                    // A stranger gets no error message.
                    let _ = inner.accept(peer, place).await;
                });
            }
        }
    }
}

/// Registers the node again when epmd has restarted.
async fn stay(name: NodeName, port: u16, epmd: (IpAddr, u16), mut registered: std::net::TcpStream) {
    loop {
        if registered.set_nonblocking(true).is_ok()
            && let Ok(mut socket) = TcpStream::from_std(registered)
        {
            // epmd sends nothing more, so a read ends when epmd ends.
            while matches!(socket.read(&mut [0; 16]).await, Ok(1..)) {}
        }
        let mut pause = Duration::from_millis(100);
        registered = loop {
            sleep(pause).await;
            pause = (pause * 2).min(Duration::from_secs(10));
            let name = name.clone();
            match tokio::task::spawn_blocking(move || epmd::register(&name, port, epmd)).await {
                Ok(Ok((socket, _))) => break socket,
                Ok(Err(_)) => {}
                // The runtime ends.
                Err(_) => return,
            }
        };
    }
}
