//! The pool of I/O threads: runs blocking jobs for any driver.
//!
//! A driver is code behind a [`Port`] that submits [`Job`]s to a [`Pool`] and awaits the [`Operation`]s. The file driver of this crate
//! is one. Another one looks like this:
//!
//! ```
//! use dyntrace::aio_pool::{Fault, Job, Operation, Pool, Port};
//! use std::net::{SocketAddr, ToSocketAddrs};
//!
//! /// Looks up names without blocking the tasks of the program.
//! struct Resolver {
//!     pool: Pool,
//!     port: Port,
//! }
//!
//! impl Resolver {
//!     fn resolve(&self, name: &str) -> Operation<Lookup> {
//!         // Here a driver fires the probe of an operation's begin.
//!         self.pool.submit(self.port, Lookup { name: name.to_owned() })
//!     }
//! }
//!
//! struct Lookup {
//!     name: String,
//! }
//!
//! impl Job for Lookup {
//!     type Output = std::io::Result<Vec<SocketAddr>>;
//!
//!     fn run(&mut self) -> Self::Output {
//!         Ok(self.name.to_socket_addrs()?.collect())
//!     }
//!
//!     fn settle(&mut self, outcome: Result<&Self::Output, &Fault>) {
//!         // Here it fires the probe of the operation's end. Called exactly once for each operation.
//!         match outcome {
//!             Ok(Ok(addresses)) => println!("{}: {} addresses", self.name, addresses.len()),
//!             Ok(Err(error)) => println!("{}: {error}", self.name),
//!             Err(fault) => println!("{}: {fault}", self.name),
//!         }
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let resolver = Resolver { pool: Pool::builder().build(), port: Port::new() };
//! let addresses = resolver.resolve("127.0.0.1:80").await??;
//! assert_eq!(addresses, ["127.0.0.1:80".parse()?]);
//! # Ok(())
//! # }
//! ```
//!
//! How to add its probes and scripts: the chapter `writing_a_driver` of `dyntrace`.
//!
//! # Lanes
//!
//! Waking a thread costs more than most jobs that are served from memory. So there are two lanes ([`Job::lane`]):
//!
//! - The **fast** lane has few threads. A job goes to a busy thread that will start it sooner than another one could be woken. Otherwise
//!   it goes to an idle thread or to a new one; if the lane is at its thread limit, to the shortest queue.
//! - The **slow** lane, for jobs that wait, has one thread per job, up to a limit ([`Builder::slow_threads`]). Idle threads end after
//!   [`Builder::keep_alive`].
//!
//! Jobs that change the same directory (rename, create, unlink and the like) go behind each other to one thread while there are several:
//! the kernel lets one thread at a time change a directory, and several threads would pay for the waiting.
//!
//! A task that makes one file operation after the other has its jobs run by a thread of the fast lane that is bound to the task's processor,
//! on Linux: such a thread takes over the processor when the task's own thread waits, and no other processor is woken. Jobs of other drivers
//! never run on a bound thread.
//!
//! The pool also finds jobs that block in the fast lane. If many do, that lane gets extra threads as the slow lane does. If jobs wait
//! behind a blocked thread (one that opens a FIFO, for example), a watchdog has another thread take them after some 4 ms.
//!
//! # Queues
//!
//! Each I/O thread has a queue of its own. A thread without jobs takes those of other threads of its lane and shard, but not changes of a
//! directory that another thread changes; short jobs are taken in batches. `aio_pool-add` and `aio_pool-get` carry the job's port and the
//! length of that queue after the step; `aio_pool-get`, which fires before the job starts, also carries the lane. A job that was cancelled in
//! a queue is still taken out, so each add has its get.
//! A job that was cancelled while it waited for room (below) was never added.
//!
//! # Shards
//!
//! A pool with more than 8 threads in the fast lane, as it has by default on more than 8 processors, consists of shards of up to 8 such
//! threads. Each has a lock, queues, a share of [`Builder::bound`] and both lanes of its own; [`Builder::slow_threads`] limits the extra
//! threads of all shards together. A thread of the program always submits to the same shard, unless the system gives that one no thread;
//! but all changes of one directory go to one shard.
//! No shard takes jobs of another one: a shard whose threads are blocked gets extra ones.
//!
//! # Wake-ups
//!
//! A task of the same runtime wakes the tasks whose operations have completed. The I/O threads wake that task once for many
//! completions: once per batch, if its jobs are short. So each runtime whose tasks use a pool has one more task. Other wakers
//! (`block_on`, another executor) are woken directly, and so are tasks whose runtime does not get to it within 2 ms. So an operation
//! completes under any executor, even one that blocks the only worker of a runtime.
//!
//! # Ends
//!
//! A runtime that ends, and a process that exits, wait for detached jobs, for [`Builder::exit_timeout`] at most.
//!
//! # Metrics
//!
//! [`metrics`], or [`Pool::metrics`] for one pool, count without a tracer: queue lengths, threads, how long jobs wait and run, and for
//! each command of a driver its operations, errors, bytes and time ([`Job::count`]; operations that were answered inline are among them, but
//! are no jobs). They are always on. They cost two readings of the
//! clock per job and some additions to numbers of the I/O thread's own.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> std::io::Result<()> {
//! dyntrace::fs::read("Cargo.toml").await?;
//! for of in dyntrace::aio_pool::metrics().commands {
//!     println!("{} {}: {} operations, {} failed, {} bytes, {:?}", of.driver, of.command, of.operations, of.errors, of.bytes, of.service);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # Backpressure
//!
//! The queues together hold a bounded number of jobs ([`Builder::bound`]). While they are full, further operations wait for room, first
//! come first served. Dropping an operation's future cancels its wait.
//!
//! `port-busy` fires when the first operation has to wait, and `port-not_busy` when the queues have room for the next one. Both carry the
//! port of that first operation.
//!
//! # Faults
//!
//! The pool calls [`Job::settle`] exactly once for each job, whatever happens to it ([`Fault`]).

mod admission;
mod admission_queue;
mod answered;
mod batch;
mod blocking;
mod builder;
mod clock;
mod completions;
mod counts;
mod delivery;
mod directories;
mod ending;
mod extra_threads;
mod job;
mod lane;
mod longest;
mod metrics;
#[cfg(all(test, loom))]
mod models;
mod operation;
mod pace;
mod paused;
mod pool;
mod port;
mod promises;
mod queue;
mod registry;
mod runnable;
mod runtimes;
mod serial;
mod shards;
mod shared;
mod shutdown;
mod start;
mod stepping;
#[cfg(all(test, not(loom)))]
mod tests;
mod wake_task;
mod watchdog;
mod worker;

pub(crate) use answered::Answer;
pub use builder::Builder;
pub use counts::Counts;
#[doc(hidden)]
pub use directories::Changes;
pub(crate) use dyntrace_probes::contain::contain;
pub use job::{Fault, Job};
pub use lane::Lane;
#[doc(hidden)]
pub use longest::longer_than;
pub use metrics::{CommandMetrics, Histogram, LaneMetrics, Metrics};
pub use operation::Operation;
pub(crate) use paused::ClockHold;
pub use pool::{Pool, metrics};
pub use port::Port;
pub(crate) use runtimes::notice_runtime;
