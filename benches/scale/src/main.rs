//! Prints, as JSON, how many operations a second up to 64 cores would do, relative to as many times those of one core.
//!
//! An operation has work of its own, and passes through a resource that one core has at a time: a cache line that all change, or a lock.
//! [`measured`] has the times of operations on this machine; in [`simulated`] the cores take turns.

mod measured;
mod simulated;

use serde_json::{Map, Value, json};

use measured::{cached_read, job, open_and_close};
use simulated::{Path, share};

/// The numbers of cores.
const CORES: [usize; 7] = [1, 2, 4, 8, 16, 32, 64];
/// Assumed, in nanoseconds: a cache line goes from one core of a large server's processor to another one. Two hardware threads of one core,
/// as this machine's may be, have one cache, so it is not measured here.
const HANDOVER: f64 = 100.0;
/// Assumed, on the low side: the work of a job that cores do side by side, a system call and its share of the changes of threads.
const SYSTEM_CALL: f64 = 5_000.0;

fn main() -> std::io::Result<()> {
    let (read, open, job) = (cached_read()?, open_and_close()?, job());
    // A count is three additions to a line of a stripe, a new file's number one to a line of all.
    let path = |own: f64, additions: f64, lines: usize| Path { own, held: 0.0, handover: additions * HANDOVER, lines };
    let paths = [
        ("cached read, counts in 4 stripes", path(read, 3.0, 4)),
        ("cached read, counts in a stripe for each core", path(read, 3.0, 64)),
        ("open and close, a number for each file", path(open, 1.0, 1)),
        // Twice, with the line of the lock and those that it guards.
        ("job of the pool, one lock", Path { own: SYSTEM_CALL, held: job, handover: 4.0 * HANDOVER, lines: 1 }),
        (
            "job of the pool, a lock for each 8 cores",
            Path { own: SYSTEM_CALL, held: job, handover: 4.0 * HANDOVER, lines: 8 },
        ),
    ];
    let shares: Map<String, Value> = paths
        .into_iter()
        .map(|(name, path)| {
            let of = CORES.map(|cores| (cores.to_string(), json!(share(path, cores))));
            (name.to_owned(), Value::Object(of.into_iter().collect()))
        })
        .collect();
    println!(
        "{}",
        json!({ "ns": { "cached read": read, "open and close": open, "job that does nothing": job }, "shares": shares })
    );
    Ok(())
}
