//! The time of a file's last access: a read that has the system write it may wait for the file system's journal, whatever flags it has.

use rustix::fs::{Statx, StatxTimestamp};
use rustix::time::{ClockId, clock_gettime};

const DAY: i64 = 24 * 60 * 60;

/// Returns whether a read would have the time written on a file system that is mounted with `relatime`: after a change, and once a day.
pub(super) fn is_written_relative(stat: &Statx) -> bool {
    let (read, written, changed) = (time(stat.stx_atime), time(stat.stx_mtime), time(stat.stx_ctime));
    is_due(read, written, changed, clock_gettime(ClockId::RealtimeCoarse).tv_sec)
}

/// Seconds and nanoseconds.
type Time = (i64, u32);

fn time(time: StatxTimestamp) -> Time {
    (time.tv_sec, time.tv_nsec)
}

fn is_due(read: Time, written: Time, changed: Time, now: i64) -> bool {
    written >= read || changed >= read || now.saturating_sub(read.0) >= DAY
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_is_written_after_a_change_and_once_a_day() {
        let now = 1_000_000;
        let of = |read, written, changed| is_due(read, written, changed, now);
        assert!(of((now, 5), (now, 5), (now, 5)), "of a new file");
        assert!(!of((now, 6), (now, 5), (now, 5)));
        assert!(of((now, 6), (now, 7), (now, 5)) && of((now, 6), (now, 5), (now, 7)));
        assert!(!of((now - DAY + 1, 0), (0, 0), (0, 0)) && of((now - DAY, 0), (0, 0), (0, 0)));
    }
}
