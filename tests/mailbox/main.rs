//! Mailboxes: compatibility with tokio's channel, additions, and probes.

mod drop_in;
mod ends;
mod processes;
#[cfg(target_os = "linux")]
mod recorded_messages;
mod travel;

use tokio::runtime::{Builder, Runtime};

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_time().build().unwrap()
}
