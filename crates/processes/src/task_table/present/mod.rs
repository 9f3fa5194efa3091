//! The table, where probes are recorded. `absent.rs` has the same names without one.

mod counting;
mod file;
mod hooks;
mod id;
pub mod monitor_view;
mod polled;
mod polls;
mod program;
mod reference_cache;
mod table;
mod task_slot;
mod texts;
mod waits;

pub use counting::{Counter, Counting};
pub use hooks::HookedPoll;
pub use polled::{tag_changed, wakes};
pub use program::{forget, is_started, start, wipe_in_children};
pub use task_slot::TaskSlot;
pub use waits::{enclosing_wait_begins, wait_begins, wait_ends, wait_lasts, wait_of_operation_ends};

use super::{Begun, Operation, Resource, Spawned};
