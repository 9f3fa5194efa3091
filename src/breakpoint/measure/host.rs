//! The functions by which a module's calls are added up in its host.

use dyntrace_probes::host::OfHost;

pub(crate) struct HostMeasures {
    /// Ends a timed call, by the number of the counter's slot.
    pub(crate) end: fn(usize, u64, u64),
    pub(crate) inner_time: fn(u64) -> u64,
    pub(crate) inner_memory: fn(u64) -> u64,
    pub(crate) allocated: fn() -> u64,
}

pub(crate) static HOST: OfHost<HostMeasures> = OfHost::new();
