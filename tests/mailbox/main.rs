//! Mailboxes: what they share with tokio's channel, what they add, and what tracers see of them.

mod drop_in;
mod ends;
mod processes;
#[cfg(target_os = "linux")]
mod seen;
mod travel;

use tokio::runtime::{Builder, Runtime};

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_time().build().unwrap()
}
