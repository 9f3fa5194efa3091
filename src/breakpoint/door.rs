//! What this room does for guests: the breakpoints of modules' functions are the host's, and it tells of them.

use std::sync::Arc;
use std::time::Duration;

use super::counters::Place;
use super::data::BpData;
use super::hit::{self, Begun, Hit};
use super::site::Site;
use super::unwind::Mark;
use super::value::Value;
use super::{own_memory, own_time};
use crate::alloc;
use crate::host::OfHost;

/// The host's functions.
pub(crate) struct Door {
    pub(super) begin: fn(&'static Site, Mark) -> Begun,
    pub(super) wanted: fn(&'static Site) -> Option<Arc<BpData>>,
    pub(super) call: fn(&mut Hit, &[Value<'_>]),
    pub(super) returned: for<'a> fn(&Hit, Option<Duration>, &dyn Fn() -> Value<'a>),
    pub(super) cancelled: fn(&Hit, Duration),
    pub(super) panicked: fn(&Hit, Option<Duration>, &str),
    pub(super) add_time: fn(Place, u64, u64),
    pub(super) inner_time: fn(u64) -> u64,
    pub(super) inner_memory: fn(u64) -> u64,
    pub(super) allocated: fn() -> u64,
    pub(super) give_back: fn(Arc<BpData>),
}

pub(crate) static HOST: OfHost<Door> = OfHost::new();

pub(crate) static DOOR: Door = Door {
    begin: hit::begin,
    wanted: hit::wanted,
    call: Hit::call,
    returned: Hit::returned,
    cancelled: Hit::cancelled,
    panicked: Hit::panicked_with,
    add_time: Place::add_time,
    inner_time: own_time::exchange_own,
    inner_memory: own_memory::exchange_own,
    allocated: alloc::allocated,
    give_back: drop,
};
