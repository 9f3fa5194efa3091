//! A traced call, from its beginning to its end.

mod begin;
mod end;

use std::iter;
use std::sync::Arc;
use std::time::Duration;

use dyntrace_probes::clock;
use dyntrace_probes::host::OfHost;

pub(crate) use begin::{Begun, begin, wanted};

use super::data_ref::DataRef;
use crate::breakpoint::event::Kind;
use crate::breakpoint::event::caller::Origin;
use crate::breakpoint::event::occurrence::Occurrence;
use crate::breakpoint::event::unwind::Mark;
use crate::breakpoint::measure::own_memory::{self, Allocating, Bytes};
use crate::breakpoint::measure::own_time::Stretch;
use crate::breakpoint::site::{Function, Site};
use crate::breakpoint::state::data::BpData;
use crate::breakpoint::state::entry::BpEntry;
use crate::breakpoint::state::flags::Flags;
use crate::breakpoint::value::Value;
use crate::breakpoint::value::text::Text;

/// The host's functions for the calls of a module's functions.
pub(crate) struct HostHits {
    pub(crate) begin: fn(&'static Site, Mark) -> Begun,
    pub(crate) wanted: fn(&'static Site) -> Option<Arc<BpData>>,
    pub(crate) call: fn(&mut Hit, &[Value<'_>]),
    pub(crate) give_up: fn(&Hit),
    pub(crate) returned: for<'a> fn(&Hit, Option<Duration>, &dyn Fn() -> Value<'a>),
    pub(crate) cancelled: fn(&Hit, Duration),
    pub(crate) panicked: fn(&Hit, Option<Duration>, &str),
}

pub(crate) static HOST: OfHost<HostHits> = OfHost::new();

/// A call with events or measurements for sessions. It keeps the entries that were in force when it began, so that exactly the sessions
/// that saw the call see its end.
#[doc(hidden)]
pub struct Hit {
    data: DataRef,
    function: &'static Function,
    /// Whether its generation [does](BpData::fires_alone).
    fires_alone: bool,
    /// A bit for each entry that wants its end.
    wanted: u64,
    /// The actions of those entries together.
    wants: Flags,
    /// When it began, by the clock's cycles, if an entry wants its end.
    began: u64,
    timing: Timing,
    /// Measures the memory of the call, if an entry wants it.
    allocating: Allocating,
    origin: Origin,
    /// Where the call is on the stack; for an asynchronous one, during its first poll.
    mark: Mark,
}

/// The state of a call's measurement of own time.
enum Timing {
    /// A synchronous call, if no entry wants its time.
    Unasked,
    /// A synchronous call is running.
    Since(Stretch),
    /// The own cycles of an asynchronous call's polls so far.
    InPolls(u64),
}

impl Hit {
    /// Converts it to an asynchronous call, measured by its polls.
    pub(crate) fn by_polls(self) -> Hit {
        Hit { timing: Timing::InPolls(0), allocating: Allocating::InPolls(Bytes::default()), ..self }
    }

    /// Runs a poll of the call and adds up its own time and its memory.
    pub(crate) fn poll<R>(&mut self, poll: impl FnOnce() -> R) -> R {
        if !self.wants.intersects(Flags::TIME | Flags::MEMORY) {
            return poll();
        }
        let allocating = self.wants.contains(Flags::MEMORY).then(own_memory::Stretch::begin);
        let timing = self.wants.contains(Flags::TIME).then(|| (Stretch::begin(), clock::now()));
        let result = poll();
        if let (Some((stretch, began)), Timing::InPolls(polls)) = (timing, &mut self.timing) {
            let own = stretch.end(clock::now().saturating_sub(began));
            *polls = polls.saturating_add(own);
        }
        if let (Some(stretch), Allocating::InPolls(bytes)) = (allocating, &mut self.allocating) {
            *bytes = bytes.and(stretch.end());
        }
        result
    }

    /// Returns whether an entry wants its end.
    #[inline(always)]
    pub(crate) fn waits(&self) -> bool {
        self.wanted != 0
    }

    /// Returns the entries whose bits are set.
    fn entries(&self, bits: u64) -> impl Iterator<Item = &BpEntry> {
        let mut left = bits;
        iter::from_fn(move || {
            let number = (left != 0).then_some(left.trailing_zeros() as usize)?;
            left &= left - 1;
            self.data.entries.get(number)
        })
    }

    fn occurrence<'t>(&self, kind: Kind, text: &'t Text) -> Occurrence<'t> {
        let function = self.function;
        Occurrence {
            kind,
            function,
            text,
            at: None,
            took: None,
            polled: None,
            caller: None,
            has_token: false,
            stack: None,
        }
    }
}
