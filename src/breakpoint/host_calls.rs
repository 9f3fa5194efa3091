//! The functions that a host provides to its modules: breakpoints and counters of their functions belong to the host.

use std::sync::Arc;

use crate::alloc;
use crate::breakpoint::hit::call::{self, Hit, HostHits};
use crate::breakpoint::hit::data_ref;
use crate::breakpoint::measure::counters::CounterSlot;
use crate::breakpoint::measure::host::{self, HostMeasures};
use crate::breakpoint::measure::{own_memory, own_time};
use crate::breakpoint::state::data::BpData;

/// The host's functions.
pub(crate) struct HostCalls {
    hits: HostHits,
    give_back: fn(Arc<BpData>),
    measures: HostMeasures,
}

pub(crate) static HOST_CALLS: HostCalls = HostCalls {
    hits: HostHits {
        begin: call::begin,
        wanted: call::wanted,
        call: Hit::called,
        give_up: Hit::give_up,
        returned: Hit::returned,
        cancelled: Hit::cancelled,
        panicked: Hit::panicked_with,
    },
    give_back: drop,
    measures: HostMeasures {
        end: |slot, time, own| CounterSlot::numbered(slot).end(time, own),
        inner_time: own_time::exchange_own,
        inner_memory: own_memory::exchange_own,
        allocated: alloc::allocated,
    },
};

/// Makes this copy a guest of the host that these functions belong to.
pub(crate) fn enter(host: &'static HostCalls) {
    call::HOST.install(&host.hits);
    data_ref::HOST.install(&host.give_back);
    host::HOST.install(&host.measures);
}
