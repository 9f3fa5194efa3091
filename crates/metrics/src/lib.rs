//! The counts of [`dyntrace`]'s I/O pools and monitor for the [`metrics`](https://docs.rs/metrics) facade: an exporter that a program has already
//! shows them, too.
//!
//! ```no_run
//! // After the program has installed its exporter:
//! dyntrace_metrics::register()?;
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! [`register`] starts a thread that publishes once a second. A program that would rather do it itself, such as right before each scrape,
//! keeps a [`Publisher`]:
//!
//! ```
//! let mut publisher = dyntrace_metrics::Publisher::default();
//! publisher.publish();
//! ```
//!
//! # Names
//!
//! They are those of [`FAMILIES`], which `dyntrace metrics -p PID` prints, too:
//!
//! | name | kind | labels |
//! |---|---|---|
//! | `dyntrace_operations_total` | counter | `driver`, `command` |
//! | `dyntrace_operation_errors_total` | counter | `driver`, `command` |
//! | `dyntrace_operation_bytes_total` | counter | `driver`, `command` |
//! | `dyntrace_operation_service_seconds_total` | counter | `driver`, `command` |
//! | `dyntrace_pool_jobs_total` | counter | `lane` |
//! | `dyntrace_pool_wait_seconds` | histogram | `lane` |
//! | `dyntrace_pool_service_seconds` | histogram | `lane` |
//! | `dyntrace_pool_queued_jobs` | gauge | `lane` |
//! | `dyntrace_pool_waiting_jobs` | gauge | |
//! | `dyntrace_pool_threads` | gauge | `lane` |
//! | `dyntrace_pool_idle_threads` | gauge | `lane` |
//! | `dyntrace_pool_blocked_threads` | gauge | `lane` |
//! | `dyntrace_recorder_sessions` | gauge | |
//! | `dyntrace_recorder_lost_events_total` | counter | `session` |
//! | `dyntrace_recorder_files_removed` | gauge | `session` |
//! | `dyntrace_recorder_bytes_total` | counter | `session` |
//! | `dyntrace_monitor_events_total` | counter | `kind` |
//! | `dyntrace_monitor_left_out_events_total` | counter | |
//! | `dyntrace_monitor_panics_total` | counter | |
//! | `dyntrace_left_out_commands` | gauge | |
//!
//! The facade differs in three ways:
//!
//! - A counter of the facade is an integer, so `dyntrace_operation_service_seconds_total` is a gauge there.
//! - A histogram of the facade takes single values. The pool counts times in buckets that grow by powers of two; each time is published
//!   as a value within its bucket, such that the sum is exact.
//! - The families of the recorder, and `dyntrace_left_out_commands`, are those of the command only.
//!
//! Operations that were answered inline are counted as operations, but not as jobs of the pool. Operations that were cancelled in the queue
//! are not counted.

mod families;
mod figures;
#[cfg(feature = "publish")]
mod publish;
#[cfg(feature = "publish")]
mod register;

pub use families::{FAMILIES, Family, Kind, Unit, Value};
pub use figures::{CommandFigures, Figures, LaneFigures, MonitorFigures, SessionFigures, Times};
#[cfg(feature = "publish")]
pub use publish::Publisher;
#[cfg(feature = "publish")]
pub use register::{register, register_every};
