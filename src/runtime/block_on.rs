//! The functions that `#[dyntrace::main]` and `#[dyntrace::test]` make.

use super::Builder;
use dyntrace_processes::process;

/// Runs a future to its end on a new runtime with all drivers, as a process of its own.
///
/// # Panics
///
/// Panics if the runtime cannot be built, as `#[tokio::main]` does, and if the future panics.
#[track_caller]
pub fn block_on<F: Future>(mut builder: Builder, future: F) -> F::Output {
    let main = process::child(future);
    match builder.enable_all().build() {
        Ok(runtime) => runtime.block_on(main),
        Err(error) => panic!("cannot build the runtime: {error}"),
    }
}
