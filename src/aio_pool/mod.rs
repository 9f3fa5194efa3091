//! The pool of I/O threads: runs blocking work for any driver.
//!
//! A driver is code behind a [`Port`] that gives [`Work`] to a [`Pool`] and awaits the [`Operation`]s. The file driver of
//! this crate is one; this is how another one looks:
//!
//! ```
//! use dyntrace::aio_pool::{Fault, Operation, Pool, Port, Work};
//! use std::net::{SocketAddr, ToSocketAddrs};
//!
//! /// Looks up names without holding up the tasks of the program.
//! struct Resolver {
//!     pool: Pool,
//!     port: Port,
//! }
//!
//! impl Resolver {
//!     fn resolve(&self, name: &str) -> Operation<Lookup> {
//!         // Here a driver says that an operation begins.
//!         self.pool.submit(self.port, Lookup { name: name.to_owned() })
//!     }
//! }
//!
//! struct Lookup {
//!     name: String,
//! }
//!
//! impl Work for Lookup {
//!     type Output = std::io::Result<Vec<SocketAddr>>;
//!
//!     fn run(&mut self) -> Self::Output {
//!         Ok(self.name.to_socket_addrs()?.collect())
//!     }
//!
//!     fn settle(&mut self, outcome: Result<&Self::Output, &Fault>) {
//!         // Here it says, exactly once for each, how the operation ended.
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
//! What its probes would be, and how scripts show them: [writing a driver](crate::writing_a_driver).
//!
//! # Lanes
//!
//! A wake-up costs more than most works that are served from memory. So there are two lanes ([`Work::lane`]):
//!
//! - The **fast** lane has few threads. A job goes to one that is awake and comes to it sooner than another could be woken; else
//!   to one that is idle, or to a new one; are all started, to the shortest queue.
//! - The **slow** lane, for works that wait, has a thread for each work, up to a limit ([`Builder::slow_threads`]). Those that have
//!   nothing to do end after a while.
//!
//! Works that wait are found in the fast lane, too: where many sleep in the kernel, that lane has further threads as the slow one
//! has; and where jobs stand behind one that sleeps (that opens a FIFO, say), a watch has another thread take them after a few
//! milliseconds.
//!
//! # Queues
//!
//! Each I/O thread has a queue of its own; one without jobs takes those of others of its lane, and where works are short, several at
//! once. `aio_pool-add` and `aio_pool-get`, which fires before the work begins, carry the job's port and the length of the one queue
//! after the step; `aio_pool-get` has the lane, too. An operation that was dropped is still taken out, so each add has its get; one that was dropped in line (below)
//! was never added.
//!
//! # Answers
//!
//! Tasks are woken by a task of their own runtime, which the I/O threads wake once for many answers: for those of short works when the
//! last of those is done that the thread took together. Each runtime whose tasks use a pool so has one more task. Wakers of anybody
//! else (`block_on`, another executor) are woken directly, and so are tasks whose runtime does not get to it within a millisecond or
//! two: an operation completes under any executor, also where that blocks the only worker of a runtime.
//!
//! # Ends
//!
//! A runtime that ends, and a process that exits, wait for detached works: [`Builder::exit_timeout`] says how long.
//!
//! # Metrics
//!
//! [`metrics`], or [`Pool::metrics`] for one pool, tell without a tracer how long the queues are, how many threads there are and how
//! long works wait and take. They are always on: two readings of the clock for each work.
//!
//! # Backpressure
//!
//! The queues together hold a bounded number of jobs ([`Builder::bound`]). While they are full, further operations stand in
//! line, first come first served, and their futures wait. Each place in line belongs to a future and goes with it.
//!
//! `port-busy` fires when the first operation has to stand in line, and `port-not_busy` when the queues have room for the next one. Both
//! carry the port of that first operation.
//!
//! # Faults
//!
//! No work is lost: whatever happens to it ([`Fault`]), [`Work::settle`] is called, once.

mod answers;
mod asleep;
mod builder;
mod clock;
mod contain;
mod delivery;
mod ending;
mod full;
mod hand;
mod job;
mod lane;
mod line;
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
mod register;
mod runtimes;
mod shared;
#[cfg(all(test, not(loom)))]
mod tests;
mod watch;
mod work;
mod worker;

pub use builder::Builder;
pub use lane::Lane;
pub use metrics::{Histogram, LaneMetrics, Metrics};
pub use operation::Operation;
pub(crate) use paused::Flight;
pub use pool::{Pool, metrics};
pub use port::Port;
pub use work::{Fault, Work};
