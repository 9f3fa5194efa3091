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
    let (read, open, nothing) = (cached_read()?, open_and_close()?, job());
    // A count is three additions to a line of the core's own stripe, a new file's number one to a line of all.
    let path = |own: f64, additions: f64| Path { own, held: 0.0, handover: additions * HANDOVER };
    // Twice, with the line of the lock and those that it guards.
    let job = Path { own: SYSTEM_CALL, held: nothing, handover: 4.0 * HANDOVER };
    let (one, one_each): (Lines, Lines) = (|_| 1, |cores| cores);
    let present = [
        ("cached read", path(read, 3.0), one_each),
        ("open and close", path(open, 1.0), one),
        // A lock for each shard of the pool, with as many threads as there are cores.
        ("job of the pool", job, (|cores| cores.div_ceil(8)) as Lines),
    ];
    let instead = [
        ("cached read, counts in 4 stripes", path(read, 3.0), (|_| 4) as Lines),
        ("job of the pool, one lock", job, one),
    ];
    let ns = json!({ "cached read": read, "open and close": open, "job that does nothing": nothing });
    println!("{}", json!({ "ns": ns, "present": shares(&present), "instead": shares(&instead) }));
    Ok(())
}

/// How many resources so many cores share out.
type Lines = fn(usize) -> usize;

/// Returns, by path and by number of cores, the simulated share.
fn shares(paths: &[(&str, Path, Lines)]) -> Value {
    let of_path = |path, lines: Lines| {
        CORES.map(|cores| (cores.to_string(), json!(share(path, lines(cores), cores)))).into_iter().collect()
    };
    let all = paths.iter().map(|(name, path, lines)| (name.to_string(), Value::Object(of_path(*path, *lines))));
    all.collect::<Map<_, _>>().into()
}
