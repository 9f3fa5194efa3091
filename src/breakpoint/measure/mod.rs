//! Counts, times and memory of calls.

pub(crate) mod counters;
pub(crate) mod host;
pub(crate) mod own_memory;
pub(crate) mod own_time;
