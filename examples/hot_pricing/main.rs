//! Many tasks on two runtimes price orders while the module with the prices is upgraded repeatedly.
//!
//!     cargo build --release --examples
//!     target/release/examples/hot_pricing --seconds 10 --upgrades 1000
//!
//! Prints the number of calls and upgrades, the longest time between two calls on one thread, and the number of wrong answers. An answer
//! is wrong if no version current during the call gives it, or if a newer version has answered any task before.
//!
//! With `--upgrades 0`, upgrade it from outside: `dyntrace code -p PID upgrade target/release/examples/libhot_pricing_2.so`.
#[cfg(target_os = "linux")]
mod order;
#[cfg(target_os = "linux")]
mod service;

#[cfg(target_os = "linux")]
fn main() -> anyhow::Result<()> {
    service::run()
}

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("modules are loaded on Linux only");
}
