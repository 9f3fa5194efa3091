//! One connection, as those see it that use it; `running` has its tasks.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

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
use crate::probes::dist;
use crate::sync::{Mutex, lock};

/// The reason of the end of a connection whose peer makes this node keep too much.
pub(super) const TOO_MUCH: &str = "its links, monitors and unread answers take more than Options::peer_limit allows";

/// A peer that ticks is answered unless something was written so short a time ago. So two nodes that both answer do not do it
/// without end.
const ANSWERED: Duration = Duration::from_millis(500);

pub(super) struct Connection {
    /// The peer's name.
    pub node: String,
    /// It is a node of dyntrace, to which user tags may go.
    pub is_ours: bool,
    /// Its peers do not list it in `nodes()`.
    is_hidden: bool,
    /// What this node keeps for the peer.
    pub budget: Arc<Budget>,
    outgoing: Outgoing,
    /// Ticked, and not yet answered.
    pub ticked: Notify,
    /// Why it ended, once it has.
    reason: OnceLock<String>,
    pub ended: Notify,
    /// It [ends](Connection::end); it is not closed at once.
    pub lingers: AtomicBool,
    /// Its end was told to all who had bonds over it. Locked while it is being told.
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

    /// Sends a frame once there is room; tells `busy` if it must wait.
    pub(super) async fn send(&self, frame: &[u8], busy: impl FnOnce()) -> Result<(), Refused> {
        self.outgoing.send(frame, busy).await
    }

    /// Sends an answer, or news of a bond. On a connection that has ended, it does nothing. If the peer's account has no room for
    /// it, it ends the connection.
    pub(super) fn signal(&self, message: Message) {
        if let Ok(frame) = frame::of(message)
            && let Err(Refused::Exceeded) = self.outgoing.signal(&frame)
        {
            self.close(TOO_MUCH);
        }
    }

    /// Waits until all that was sent is written.
    pub(super) async fn flush(&self) {
        self.outgoing.flush().await;
    }

    /// Ends the connection. Its task tells those that had bonds over it.
    pub(super) fn close(&self, reason: &str) {
        if self.reason.set(reason.to_owned()).is_ok() {
            self.outgoing.close();
            self.ended.notify_one();
        }
    }

    /// Calls `tell` before the end of this connection can be told.
    pub(super) fn tell_first(&self, tell: impl FnOnce()) {
        let _told = lock(&self.told);
        tell();
    }

    /// Calls `tell` with the reason of the end, unless another call has or does; then it returns when that one is done.
    pub(super) fn tell_once(&self, tell: impl FnOnce(&str)) {
        let mut told = lock(&self.told);
        if !std::mem::replace(&mut *told, true) {
            tell(self.reason());
        }
    }

    /// Ends the connection when all that was sent is written.
    pub(super) fn end(&self, reason: &str) {
        if self.reason.set(reason.to_owned()).is_ok() {
            // Step 1. The reading task learns of it by the notification or, if it is reading just then, by the end of the other.
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

    /// The error of a caller that finds it ended.
    pub(super) fn error(&self) -> Error {
        Error::lost(&self.node, self.reason())
    }

    /// Fires `dist-monitor` at the node `node`: with the reason where the connection is down.
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
            // TLS may have kept some.
            socket.flush().await?;
            last = Instant::now();
        }
    }

    /// Writes all of `bytes`. Fires `dist-output` for each call that takes some.
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
