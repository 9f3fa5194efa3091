//! The functions of this room for guests: copies of this crate in modules.

use std::cell::RefCell;

use dyntrace_probes::host::OfHost;

use super::waking::Waking;
use super::{OperationId, Pid};
use crate::sequence::Sequence;

/// The functions of the host.
pub struct ForGuests {
    pub(super) next: fn() -> Pid,
    pub(super) of_thread: fn() -> Pid,
    pub(super) runs: fn(Option<Pid>),
    pub(super) sequence_of_thread: fn() -> *const RefCell<Sequence>,
    pub(super) drop_sequence_at_end: fn(),
    pub(super) thread_number: fn() -> i32,
    pub(super) next_operation: fn() -> OperationId,
    pub(super) waking: fn() -> Waking,
}

/// The functions of the host, in a guest.
pub static HOST: OfHost<ForGuests> = OfHost::new();
