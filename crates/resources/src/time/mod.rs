//! Sleeps, timeouts and intervals with the names and signatures of [`tokio::time`]. Tracers see which process waits for a timer.
//!
//! Replace `tokio::time` by `dyntrace::time` in a program. Each wait then fires `process-wait` and `process-resume`, with the resource
//! `timer`. The other items are tokio's own.
//!
//! ```
//! use dyntrace::time::{Duration, sleep, timeout};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! assert!(timeout(Duration::from_millis(1), sleep(Duration::from_secs(60))).await.is_err());
//! # }
//! ```

mod interval;
mod sleep;
mod timeout;

pub use interval::{Interval, interval, interval_at};
pub use sleep::{Sleep, sleep, sleep_until};
pub use timeout::{Timeout, timeout, timeout_at};
#[doc(no_inline)]
pub use tokio::time::*;
