//! Many tasks on two runtimes price orders, while the module that knows the prices is upgraded again and again.
//!
//!     cargo build --release --examples
//!     target/release/examples/hot_pricing --seconds 10 --upgrades 1000
//!
//! Prints how many calls and upgrades there were, the longest time between two calls on one thread, and how many answers were wrong:
//! such as no version that was in force during the call could give, or of an older version than one that has answered before, anywhere.
//!
//! With `--upgrades 0` it leaves upgrades to others: `dyntrace code -p PID upgrade target/release/examples/libhot_pricing_2.so`.
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
