//! A monitor of the program, as Erlang's `system_monitor`: it tells when a limit is crossed, while that lasts.
//!
//! ```
//! # #[cfg(target_os = "linux")] {
//! use std::time::Duration;
//!
//! use dyntrace::monitor::Builder;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let monitor = Builder::new()
//!     .long_schedule(Duration::from_millis(100))
//!     .long_wait(Duration::from_secs(5))
//!     .on_event(|event| eprintln!("{event}"))
//!     .start()?;
//! // ... the program runs ...
//! println!("{} polls took longer than 100 ms", monitor.counts().of(dyntrace::monitor::Kind::LongSchedule));
//! # Ok(())
//! # }
//! # main().unwrap();
//! # }
//! ```
//!
//! # Kinds of events
//!
//! | kind | limit | an event for each | looked at every |
//! |---|---|---|---|
//! | `long_schedule` | a time, from 1 ms | poll of a task that lasts longer, while it lasts | quarter of the limit, 1 ms to 1 s |
//! | `long_wait` | a time, from 1 ms | wait of a task that lasts longer | quarter of the limit, 50 ms to 1 s |
//! | `long_message_queue` | a number of messages | mailbox that has more | 50 ms |
//! | `busy_port` | a number of jobs | port of the pool of I/O threads for which more have not started | 50 ms |
//! | `long_blocking_queue` | a number of closures | time that more of `spawn_blocking` wait for a thread | 50 ms |
//! | `too_many_tasks` | a number of tasks | time that the table of tasks has more | 50 ms |
//!
//! An event tells that its subject has crossed the limit. The next event of the subject comes after it was found at or below the limit, and
//! crossed it again. A crossing of a number that lasts for less than the interval of looks may be missed, and so may a poll or a wait that
//! lasts for less than the interval beyond its limit.
//!
//! # What happens at an event
//!
//! 1. The kind is counted: for its monitor ([`Monitor::counts`]), and for the program ([`counts`], `dyntrace metrics`).
//! 2. The probe `system_monitor-KIND` fires.
//! 3. With [`Builder::snapshot`], each flight recorder takes a snapshot ([`recorder::trigger`](crate::recorder::trigger)).
//! 4. The function of [`Builder::on_event`] is called.
//!
//! One look tells at most 100 events of a kind; [`Counts::left_out`] has the number of the others, as when 100,000 connections are silent
//! for longer than `long_wait`.
//!
//! # Where a poll stands
//!
//! An event of `long_schedule` comes while the poll lasts, so it says what the thread does: its kernel state, and the system call that it is
//! in ([`Thread`]). The functions on its stack are shown by `dyntrace monitor -p PID`, which reads them from outside as `dyntrace threads`
//! does. Nothing interrupts the thread from inside of the program: there is no signal handler.
//!
//! # Without code, and from outside
//!
//! `DYNTRACE=monitor=long_schedule:100ms,long_wait:5s` starts a monitor that lasts as long as the program and prints each event on standard
//! error. The word `snapshot` among the limits has flight recorders take snapshots: `monitor=long_schedule:100ms,snapshot,record:DIR,mode=overwrite`.
//!
//! `dyntrace monitor -p PID --long-schedule 100ms` monitors a running program. A program has one monitor of its own; commands have theirs
//! beside it.
//!
//! # Which tasks are seen
//!
//! Those that [`spawn`](crate::spawn) and its kin start; with `tokio_unstable` all tasks of `dyntrace::runtime`. The first three time
//! and task limits keep the table of tasks from then on ([`recorder::tasks`](crate::recorder::tasks())). Polls of tasks that were spawned
//! before are seen, too, by their pids without functions; their waits are not, and `too_many_tasks` does not count them. Calls of blocking
//! closures are no polls. Of polls inside polls (`block_on` in a task) the innermost is seen.
//!
//! # Cost
//!
//! Without a monitor: nothing. With one, a thread `dyntrace-monitor` looks. `long_schedule` reads one cache line for each thread that polls
//! tasks, `long_wait` two words of each slot of the table, of which a task takes 96 bytes. With `long_message_queue`, each send and receive
//! notes the mailbox's length, as if a tracer looked at `message-send` and `message-receive`. `busy_port` counts the jobs of a pool
//! under its lock, if there are more than the limit.
//!
//! # Ends
//!
//! The end of a runtime does not end a monitor. A forked child has none, and can start one.

mod builder;
#[cfg(recorded)]
mod condition;
mod counts;
#[cfg(recorded)]
mod crossing;
#[cfg(recorded)]
mod environment;
mod error;
mod event;
#[cfg(recorded)]
mod kernel;
mod kind;
#[cfg(recorded)]
mod kinds;
mod limits;
mod owner;
#[cfg(recorded)]
mod remote;
mod running;
#[cfg(recorded)]
mod tell;
#[cfg(recorded)]
mod watch;

pub use builder::Builder;
pub use counts::Counts;
pub use error::Error;
pub use event::{Event, Thread};
pub use kind::Kind;
pub use limits::LimitsError;
pub use owner::counts;
pub use running::Monitor;
