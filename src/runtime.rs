//! tokio's runtimes, built so that their tasks are seen.
//!
//! [`Builder`] has the methods of [`tokio::runtime::Builder`] and returns tokio's own [`Runtime`](tokio::runtime::Runtime).
//! [`dyntrace::main`](crate::main) and [`dyntrace::test`](crate::test) build by it.
//!
//! ```
//! # fn main() -> std::io::Result<()> {
//! let runtime = dyntrace::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
//! assert_eq!(runtime.block_on(async { 6 * 7 }), 42);
//! # Ok(())
//! # }
//! ```

mod block_on;
mod builder;
#[cfg(tokio_unstable)]
mod hooks;

#[doc(hidden)]
pub use block_on::block_on;
pub use builder::Builder;
