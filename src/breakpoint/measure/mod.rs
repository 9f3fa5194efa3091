//! What is added up of calls: their number, time and memory.

pub(crate) mod counters;
pub(crate) mod host;
pub(crate) mod own_memory;
pub(crate) mod own_time;
