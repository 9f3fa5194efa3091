//! `Sleep`, which `Interval` and `Timeout` contain.

use super::{Site, waits};
use crate::listing::{Await, WaitsFor};

/// The deadline, in the fields of each version: the last are of tokio 1.49 to 1.51.
const DEADLINES: &[&[&str]] = &[&["deadline"], &["entry", "deadline"], &["entry", "=", "deadline"]];

pub(super) fn read(site: &Site<'_, '_>) -> Option<Await> {
    let now = site.walk.reader.now?;
    let steady = &site.walk.steady;
    let mut instant = DEADLINES.iter().find_map(|steps| steady.follow(site.value, steps))?;
    // tokio's `Instant` wraps the standard library's, which wraps `Timespec`
    for _ in 0..8 {
        if instant.kind.member("tv_sec").is_some() {
            break;
        }
        instant = steady.member(&instant, instant.kind.members.first()?)?;
    }
    let seconds = steady.number(&steady.field(&instant, "tv_sec")?)?;
    let nanoseconds = steady.low(&steady.field(&instant, "tv_nsec")?, 4)?;
    let deadline = i128::from(seconds) * 1_000_000_000 + i128::from(nanoseconds);
    let due_in = i64::try_from(deadline - i128::from(now)).ok()?;
    Some(waits(WaitsFor::Timer { due_in }))
}
