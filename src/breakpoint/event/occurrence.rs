//! An event as its own thread sees it: sent to a tracer, or fired as a probe.

use std::ffi::CStr;
use std::fmt::Write;
use std::time::{Duration, SystemTime};

use super::caller::Caller;
use super::unwind::{self, Mark};
use super::{Event, Kind};
use crate::breakpoint::site::Function;
use crate::breakpoint::value::text::Text;
use crate::probes::function;
use crate::process;
use crate::sdt;
use crate::seq_trace;
use crate::tag;

/// The parts that every receiver needs. The others depend on the receiver.
pub(crate) struct Occurrence<'t> {
    pub(crate) kind: Kind,
    pub(crate) function: &'static Function,
    pub(crate) text: &'t Text,
    /// When it happened, by the clock's cycles, if the clock was read.
    pub(crate) at: Option<u64>,
    pub(crate) took: Option<Duration>,
    pub(crate) polled: Option<Duration>,
    pub(crate) caller: Option<Caller>,
    /// Whether the event has the token of the process. Probes do not have it.
    pub(crate) has_token: bool,
    /// The call's place on the stack and the number of callers, if the event has the stack. Probes do not have it.
    pub(crate) stack: Option<(Mark, u8)>,
}

impl Occurrence<'_> {
    #[inline(never)]
    pub(crate) fn event(&self) -> Event {
        let Occurrence { kind, function, text, at: _, took, polled, caller, has_token, stack } = *self;
        Event {
            kind,
            function,
            process: process::current(),
            thread: process::thread_number(),
            thread_name: process::thread_name(),
            tag: tag::get_tag(),
            time: SystemTime::now(),
            text: text.clone(),
            took,
            polled,
            caller,
            token: has_token.then(seq_trace::get_token).flatten(),
            stack: stack.map(|(mark, callers)| unwind::stack(mark, callers.into())),
        }
    }

    #[inline(always)]
    pub(crate) fn fire(&self) {
        match self.kind {
            Kind::Call => self.fire_entry(),
            Kind::Return => self.fire_return(c"return", Some(self.text)),
            Kind::Error => self.fire_return(c"error", Some(self.text)),
            Kind::ReturnTo => self.fire_return(c"return_to", self.caller().as_ref()),
            Kind::Panic => self.fire_return(c"panic", Some(self.text)),
            Kind::Cancelled => self.fire_return(c"cancelled", None),
        }
    }

    fn caller(&self) -> Option<Text> {
        self.caller.map(|caller| {
            let mut text = Text::new();
            // An error only means that the path is cut.
            let _ = write!(text, "{caller}");
            text
        })
    }

    #[allow(named_asm_labels)]
    fn fire_entry(&self) {
        let tag = tag::get_tag_data();
        let caller = self.caller();
        sdt::fire_here!(
            "function__entry",
            function::entry,
            self.at,
            (process process::current())
            (str self.function.name)
            (str self.text.shown())
            (str tag.as_ref())
            (str caller.as_ref().map(Text::shown))
        );
    }

    #[allow(named_asm_labels)]
    fn fire_return(&self, kind: &'static CStr, value: Option<&Text>) {
        let tag = tag::get_tag_data();
        let took = self.took.map_or(0, nanoseconds);
        let polled = self.polled.map_or(took, nanoseconds);
        sdt::fire_here!(
            "function__return",
            function::r#return,
            self.at,
            (process process::current())
            (str self.function.name)
            (str value.map(Text::shown))
            (str tag.as_ref())
            (str kind)
            (u64 took)
            (u64 polled)
        );
    }
}

pub(crate) fn is_heard(kind: Kind) -> bool {
    match kind {
        Kind::Call => function::entry::is_enabled(),
        Kind::Return | Kind::Error | Kind::ReturnTo | Kind::Panic | Kind::Cancelled => function::r#return::is_enabled(),
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
