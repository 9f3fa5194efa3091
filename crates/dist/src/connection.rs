//! The handle of a connection. Its tasks are in `running`.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use dyntrace_probes::primitives::{Mutex, lock};
use erl_dist::message::Message;
use tokio::io::AsyncWriteExt;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout};

use super::budget::Budget;
use super::error::Error;
use super::frame::{self, TICK};
use super::handshake;
use super::outgoing::{Batch, Outgoing, Refused};
use super::socket::{Socket, Writing};
use dyntrace_processes::probes::dist;

/// The reason of the end if the peer makes this node keep too much.
pub(super) const TOO_MUCH: &str = "its links, monitors and unread answers take more than Options::peer_limit allows";

/// A tick is not answered within this time after the last write, so that two nodes do not answer each other for ever.
const ANSWERED: Duration = Duration::from_millis(500);

pub(super) struct Connection {
    /// The name of the peer.
    pub node: String,
    /// The peer is a node of dyntrace and takes user tags.
    pub is_ours: bool,
    /// The peer is a hidden node.
    is_hidden: bool,
    /// The accounts of the memory that this node holds for the peer.
    pub budget: Arc<Budget>,
    outgoing: Outgoing,
    /// The peer has ticked and is not answered yet.
    pub ticked: Notify,
    /// The reason of the end, once it has ended.
    reason: OnceLock<String>,
    pub ended: Notify,
    /// It [ends](Connection::end) instead of being closed at once.
    pub lingers: AtomicBool,
    /// All processes with bonds over it know of its end. Locked while they are notified.
    told: Mutex<bool>,
}

impl Connection {
    pub(super) fn new(
        busy_limit: usize,
        peer: &handshake::Peer<Socket>,
        is_ours: bool,
        budget: Arc<Budget>,
    ) -> Arc<Connection> {
        Arc::new(Connection {
            node: peer.name.to_string(),
            is_ours,
            is_hidden: peer.is_hidden(),
            outgoing: Outgoing::new(busy_limit, budget.kept.clone()),
            budget,
            ticked: Notify::new(),
            reason: OnceLock::new(),
            ended: Notify::new(),
            lingers: AtomicBool::new(false),
            told: Mutex::new(false),
        })
    }

    /// Sends a frame once there is room. Calls `busy` if it must wait, and `accepted` before the frame can reach its receiver.
    pub(super) async fn send(&self, frame: &[u8], busy: impl FnOnce(), accepted: impl FnOnce()) -> Result<(), Refused> {
        self.outgoing.send(frame, busy, accepted).await
    }

    /// Sends an answer, or a signal of a link or monitor. Does nothing if the connection has ended. Ends the connection if the peer's
    /// account has no room.
    pub(super) fn signal(&self, message: Message) {
        if let Ok(frame) = frame::of(message)
            && let Err(Refused::Exceeded) = self.outgoing.signal(&frame)
        {
            self.close(TOO_MUCH);
        }
    }

    /// Waits until everything that was sent is written.
    pub(super) async fn flush(&self) {
        self.outgoing.flush().await;
    }

    /// Closes the connection at once. Its task tells the processes with bonds over it.
    pub(super) fn close(&self, reason: &str) {
        if self.reason.set(reason.to_owned()).is_ok() {
            self.outgoing.close();
            self.ended.notify_one();
        }
    }

    /// Calls `tell`. Until it returns, no process is notified of the end of this connection.
    pub(super) fn tell_first(&self, tell: impl FnOnce()) {
        let _told = lock(&self.told);
        tell();
    }

    /// Calls `bind`, which makes a bond of a process over this connection.
    ///
    /// # Errors
    ///
    /// The processes with bonds know of the connection's end already: nobody would tell this one.
    pub(super) fn bind(&self, bind: impl FnOnce()) -> Result<(), Error> {
        let told = lock(&self.told);
        if *told {
            return Err(Error::lost(&self.node, self.reason()));
        }
        bind();
        Ok(())
    }

    /// Calls `tell` with the reason of the end, unless an earlier call has done so. Returns after that one call has returned.
    pub(super) fn tell_once(&self, tell: impl FnOnce(&str)) {
        let mut told = lock(&self.told);
        if !std::mem::replace(&mut *told, true) {
            tell(self.reason());
        }
    }

    /// Ends the connection when everything that was sent is written.
    pub(super) fn end(&self, reason: &str) {
        if self.reason.set(reason.to_owned()).is_ok() {
            // Step 1. The reading task learns of it by the notification or, if it is reading, by the end of the writing task.
            self.lingers.store(true, Ordering::Relaxed);
            self.ended.notify_one();
            self.outgoing.end();
        }
    }

    /// Whether it has ended.
    pub(super) fn is_closed(&self) -> bool {
        self.reason.get().is_some()
    }

    fn reason(&self) -> &str {
        self.reason.get().map_or("it was closed", String::as_str)
    }

    /// The error for callers, once it has ended.
    pub(super) fn error(&self) -> Error {
        Error::lost(&self.node, self.reason())
    }

    /// Fires `dist-monitor` for this node, `node`: with the reason if the connection is down.
    pub(super) fn fire_monitor(&self, node: &str, down: Option<&str>) {
        dist::monitor(|| {
            let what = if down.is_some() { "nodedown" } else { "nodeup" };
            let kind = if self.is_hidden { "hidden" } else { "visible" };
            (node, what, &*self.node, kind, down)
        });
    }

    pub(super) async fn write(&self, node: &str, mut socket: Writing, tick_time: Duration) -> io::Result<()> {
        let not_busy = || dist::port_not_busy(|| (node, &*self.node, &*self.node));
        let mut batch = Batch::default();
        let mut last = Instant::now();
        loop {
            tokio::select! {
                biased;
                taken = timeout(tick_time / 4, self.outgoing.take(&mut batch, not_busy)) => match taken {
                    Ok(true) => self.write_all(node, &mut socket, &batch.bytes).await?,
                    Ok(false) => return socket.shutdown().await,
                    Err(_) => self.write_all(node, &mut socket, &TICK).await?,
                },
                () = self.ticked.notified() => {
                    if last.elapsed() < ANSWERED {
                        continue;
                    }
                    self.write_all(node, &mut socket, &TICK).await?;
                }
            }
            // TLS buffers.
            socket.flush().await?;
            last = Instant::now();
        }
    }

    /// Writes `bytes`. Fires `dist-output` for each write call.
    async fn write_all(&self, node: &str, socket: &mut Writing, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let count = socket.write(bytes).await?;
            if count == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            dist::output(|| (node, &*self.node, &*self.node, i32::try_from(count).unwrap_or(i32::MAX)));
            bytes = &bytes[count..];
        }
        Ok(())
    }
}
