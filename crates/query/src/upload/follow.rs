//! Repeats an upload until an interrupt.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::Context as _;
use dyntrace_terminal::say;
use futures::future::{Either, select};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::{sleep, timeout};

use super::turn::Uploader;
use crate::standard_error;

/// How long requests may take to end after an interrupt. Service managers kill a program some time later.
const GRACE: Duration = Duration::from_secs(10);

/// The signals that end a program.
struct Interrupts {
    interrupt: Signal,
    terminate: Signal,
}

impl Interrupts {
    fn new() -> anyhow::Result<Interrupts> {
        let of = |kind| signal(kind).context("cannot wait for signals");
        Ok(Interrupts { interrupt: of(SignalKind::interrupt())?, terminate: of(SignalKind::terminate())? })
    }

    async fn next(&mut self) {
        select(pin!(self.interrupt.recv()), pin!(self.terminate.recv())).await;
    }
}

/// Uploads, waits this long, and so on, until an interrupt. Tells errors, and does not repeat those of the turn
/// before.
pub async fn follow(uploader: &mut Uploader, every: Duration) -> anyhow::Result<()> {
    let mut interrupts = Interrupts::new()?;
    let stop = Arc::clone(&uploader.carrier.stop);
    let mut told: Vec<String> = Vec::new();
    loop {
        let before = uploader.summary.uploaded;
        let ended = match select(pin!(uploader.turn()), pin!(interrupts.next())).await {
            Either::Left((ended, _)) => Some(ended),
            Either::Right((_, turn)) => {
                stop.store(true, Ordering::Relaxed);
                timeout(GRACE, turn).await.ok()
            }
        };
        let troubles = match ended {
            Some(Ok(left_out)) => left_out,
            Some(Err(error)) => vec![format!("{error:#}")],
            None => Vec::new(),
        };
        troubles.iter().filter(|trouble| !told.contains(trouble)).for_each(|trouble| standard_error::warn(trouble));
        told = troubles;
        let now = uploader.summary.uploaded;
        if now != before {
            say!("uploaded: {} files, {} bytes", now.files - before.files, now.bytes - before.bytes);
        }
        if stop.load(Ordering::Relaxed) {
            return Ok(());
        }
        if let Either::Right(_) = select(pin!(sleep(every)), pin!(interrupts.next())).await {
            return Ok(());
        }
    }
}
