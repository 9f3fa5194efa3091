//! tokio's runtimes, built so that their tasks are seen: also those that libraries spawn.
//!
//! [`Builder`] has the methods of [`tokio::runtime::Builder`] and returns tokio's own [`Runtime`](tokio::runtime::Runtime).
//! [`dyntrace::main`](macro@crate::main) and [`dyntrace::test`](macro@crate::test) build by it.
//!
//! ```
//! # fn main() -> std::io::Result<()> {
//! let runtime = dyntrace::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
//! assert_eq!(runtime.block_on(async { 6 * 7 }), 42);
//! # Ok(())
//! # }
//! ```
//!
//! # Which tasks are seen
//!
//! Tasks and closures that [`dyntrace::spawn`](crate::spawn) and its kin start are seen on any runtime. How other tasks are seen depends on
//! the build:
//!
//! | | with `RUSTFLAGS="--cfg tokio_unstable"` | without |
//! |---|---|---|
//! | probes `process-spawn`, `-scheduled`, `-unscheduled`, `-exit` | for each task of the runtime, once | no |
//! | a slot in the table of tasks (`DYNTRACE=tasks`) | likewise | no |
//! | [`process::current`](crate::process::current), and operations and waits | the task's own pid | the thread's pid |
//! | `dyntrace ps --dead` | the tasks | how many the runtime has counted, and when |
//!
//! By its hooks, tokio tells the place of a task's spawn, and neither its type nor how it ends: its function is `?`, its reason and the
//! outcome of its last poll are `ended`. Such a task has no user tag, except under [`with_tag`](crate::with_tag). A task whose future is a
//! [`process::child`](crate::process::child) has two pids: the task's, and that of the child within.
//!
//! In neither build are those tasks seen: tasks of a `LocalSet`, other than by [`spawn_local`](crate::spawn_local); closures of
//! `tokio::task::spawn_blocking`; tasks of a runtime that was built in another way.
//!
//! # Counts
//!
//! A runtime counts its tasks when one of its threads goes to sleep, when one ends, and when this crate spawns a task in it. The table has
//! the sum over the runtimes and the time of the last count, also after the program was killed. While all threads of a runtime are busy or
//! blocked, its count is that old. A current-thread runtime that is dropped while a [`Handle`](tokio::runtime::Handle) of it is kept
//! counts its last number on until the handle is dropped.
//!
//! # Cost
//!
//! Without `tokio_unstable`, a poll costs nothing more. Before each sleep, a thread looks whether there is a table.
//!
//! With `tokio_unstable`, each task that this crate did not start has an entry in a table in memory, which takes some 60 ns from its spawn to
//! its end. With nobody looking, the hooks of a poll read two flags of the thread and two words of probes: 5 ns at most. While a tracer
//! looks, or the table of tasks is kept, the two hooks find the entry among those that the thread remembers, and change the task's slot by
//! an exchange each: some 21 ns for each poll of such a task. A thread that polls more than some 60 tasks in turn finds entries under a
//! lock, one of eight. (A virtual x86_64 machine of 2.6 GHz; tokio's own poll takes 110 ns there.)

mod block_on;
mod builder;
#[cfg(tokio_unstable)]
mod hooks;

#[doc(hidden)]
pub use block_on::block_on;
pub use builder::Builder;
