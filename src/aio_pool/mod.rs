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
//! # Queues
//!
//! Each I/O thread has a queue of its own. A job goes to a thread that is idle; is none, to a new thread; are all started,
//! to the shortest queue. A thread without jobs takes those of others. So no job waits while a thread is idle: one that
//! blocks for long (opening a FIFO) holds up nobody, as long as not all threads do.
//!
//! `aio_pool-add` and `aio_pool-get` fire with the job's port and the length of the one queue after the step. An
//! operation that was dropped is still taken out, so each add has its get; one that was dropped in line (below) was never
//! added.
//!
//! # Backpressure
//!
//! The queues together hold a bounded number of jobs ([`Builder::bound`]). While they are full, further operations stand in
//! line, first come first served, and their futures wait. Each place in line belongs to a future and goes with it.
//!
//! # Faults
//!
//! No work is lost: whatever happens to it ([`Fault`]), [`Work::settle`] is called, once.

mod builder;
mod contain;
#[cfg(all(test, loom))]
mod models;
mod operation;
mod pool;
mod port;
mod queue;
mod shared;
#[cfg(all(test, not(loom)))]
mod tests;
mod work;
mod worker;

pub use builder::Builder;
pub use operation::Operation;
pub use pool::Pool;
pub use port::Port;
pub use work::{Fault, Work};
