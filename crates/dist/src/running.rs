//! The two tasks of a connection: one reads, one writes.
//!
//! A connection is closed at once if it or its peer fails. If its node ends, it first writes the bytes of all sent messages:
//!
//! 1. `end`: no more bytes are appended, and messages of the peer are not decoded any more.
//! 2. The writing task writes the bytes that wait and shuts down its side of the socket.
//! 3. The reading task discards the peer's bytes until the peer closes its side. Without that, the kernel would reset a connection
//!    with unread bytes, and the peer would lose the bytes that it has not read.
//!
//! Steps 2 and 3 together take [`LINGER`] at most.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::time::timeout;

use super::connection::Connection;
use super::frame::{self, Frames};
use super::inner::Inner;
use super::socket::{Reading, Socket};
use super::text::cut;

/// The time limit for the connections of an ended node to write the bytes that wait.
const LINGER: Duration = Duration::from_secs(5);

/// Starts both tasks.
pub(super) fn start(inner: &Arc<Inner>, connection: &Arc<Connection>, socket: Socket) {
    let reason = "the runtime of this node has ended".to_owned();
    let ending = Ending { inner: inner.clone(), connection: connection.clone(), reason };
    inner.runtime.spawn(run(ending, socket));
}

/// Tells the node why a connection has ended, even if its task is dropped with the runtime.
struct Ending {
    inner: Arc<Inner>,
    connection: Arc<Connection>,
    reason: String,
}

impl Drop for Ending {
    fn drop(&mut self) {
        self.inner.lost(&self.connection, &self.reason);
    }
}

/// Runs a connection to its end.
async fn run(mut ending: Ending, socket: Socket) {
    let Ending { inner, connection, reason } = &mut ending;
    let (mut reading, writing) = socket.split();
    let tick_time = inner.options.tick_time;
    let mut writer = {
        let (inner, connection) = (inner.clone(), connection.clone());
        tokio::spawn(async move { connection.write(&inner.local.name, writing, tick_time).await })
    };
    let abort = writer.abort_handle();
    *reason = tokio::select! {
        biased;
        () = connection.ended.notified() => {
            // Relaxed: stored before the notification.
            if connection.lingers.load(Ordering::Relaxed) {
                // Both at once: the peer may read only while this node reads.
                let _ = timeout(LINGER, async { tokio::join!(&mut writer, drain(&mut reading)) }).await;
            }
            String::new()
        }
        ended = read(inner, connection, Frames::new(&mut reading, inner.options.max_message, Some(tick_time))) => ended,
        written = &mut writer => match written {
            Ok(Err(error)) => cut(error),
            // The connection ended while this task was reading.
            Ok(Ok(())) => {
                let _ = timeout(LINGER, drain(&mut reading)).await;
                String::new()
            }
            Err(_) => "it is not written to any more".to_owned(),
        },
    };
    abort.abort();
}

/// Step 3 of the end.
async fn drain(reading: &mut Reading) {
    // An error ends it too.
    let _ = tokio::io::copy(reading, &mut tokio::io::sink()).await;
}

async fn read(inner: &Arc<Inner>, connection: &Arc<Connection>, mut frames: Frames<&mut Reading>) -> String {
    let mut tag = None;
    loop {
        // A row of messages that find room at once must not hold up other tasks of the thread.
        tokio::task::consume_budget().await;
        let frame = match frames.next().await {
            Ok(Some(frame)) => frame,
            Ok(None) => return "it closed the connection".to_owned(),
            Err(error) => return cut(error),
        };
        match frame.split_first() {
            None => connection.ticked.notify_one(),
            Some((&frame::MESSAGE, message)) => {
                if let Err(reason) = inner.incoming(connection, message, tag.take()).await {
                    return reason;
                }
            }
            Some((&frame::USER_TAG, text)) if connection.is_ours && tag.is_none() => match str::from_utf8(text) {
                Ok(text) => tag = Some(text.into()),
                Err(_) => return "it sent a user tag that is no text".to_owned(),
            },
            Some((kind, _)) => return format!("it sent a frame of the kind {kind}, which was not announced"),
        }
    }
}
