//! The probes around each poll of a process, or call, at times that the caller has read: a reading of the clock costs about as much as
//! the rest of a recorded event.

use dyntrace_probes::clock;
use dyntrace_probes::sdt::{self, Text};

use super::Pid;
use crate::probes::process as probes;

/// Fires `process-scheduled` for a poll that begins at `now`. Returns the time from which the poll lasts: a tracer's stop at the site is no
/// part of it.
#[inline(never)]
#[allow(named_asm_labels)]
#[cfg_attr(dyntrace_without_probes, allow(unused_assignments))]
pub(super) fn fire_scheduled(pid: Pid, function: &'static str, now: u64) -> u64 {
    let mut began = now;
    sdt::fire_here!("process__scheduled", probes::scheduled, Some(now), (process pid) (str Text::plain(function)));
    sdt::if_traced!("dyntrace", "process__scheduled", { began = clock::now() });
    began
}

/// Fires `process-unscheduled` for a poll that has lasted from `began` to `now`.
#[inline(never)]
#[allow(named_asm_labels)]
pub(super) fn fire_unscheduled(pid: Pid, began: u64, now: u64, outcome: &'static str) {
    let polled = clock::took_nanoseconds(now.wrapping_sub(began));
    sdt::fire_here!("process__unscheduled", probes::unscheduled, Some(now), (process pid) (u64 polled) (str Text::plain(outcome)));
}
