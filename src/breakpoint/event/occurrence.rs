//! An event as its own thread sees it: sent to a tracer, or fired as a probe.

use std::ffi::CStr;
use std::fmt::Write;
use std::time::{Duration, SystemTime};

use dyntrace_probes::sdt;
use dyntrace_probes::text::Text as ProbeText;

use super::caller::Caller;
use super::unwind::{self, Mark};
use super::{Event, Kind};
use crate::breakpoint::site::Function;
use crate::breakpoint::value::text::Text;
use dyntrace_processes::probes::function;
use dyntrace_processes::process;
use dyntrace_processes::seq_trace;
use dyntrace_processes::tag;

/// The parts that every receiver needs. The others depend on the receiver.
#[derive(Clone, Copy)]
pub(crate) struct Occurrence<'t> {
    pub(crate) kind: Kind,
    pub(crate) function: &'static Function,
    pub(crate) text: &'t Text,
    /// When it happened, by the clock's cycles, if the clock was read.
    pub(crate) at: Option<u64>,
    /// Nanoseconds since the call.
    pub(crate) took: Option<u64>,
    pub(crate) polled: Option<Duration>,
    pub(crate) caller: Option<Caller>,
    /// Whether the event has the token of the process. Probes do not have it.
    pub(crate) has_token: bool,
    /// The call's place on the stack and the number of callers, if the event has the stack. Probes do not have it.
    pub(crate) stack: Option<(Mark, u8)>,
}

impl Occurrence<'_> {
    #[inline(never)]
    pub(crate) fn event(self) -> Event {
        let Occurrence { kind, function, text, at: _, took, polled, caller, has_token, stack } = self;
        Event {
            kind,
            function,
            process: process::current(),
            thread: process::thread_number(),
            thread_name: process::thread_name(),
            tag: tag::get_tag(),
            time: SystemTime::now(),
            text: text.clone(),
            took: took.map(Duration::from_nanos),
            polled,
            caller,
            token: has_token.then(seq_trace::get_token).flatten(),
            stack: stack.map(|(mark, callers)| unwind::stack(mark, callers.into())),
        }
    }

    /// Fires the probe. The functions take the parts that they need by value, so that the compiler stores none of the others.
    #[inline(always)]
    pub(crate) fn fire(&self) {
        let Occurrence { kind, function, text, at, took, polled, caller, .. } = *self;
        let took = took.unwrap_or(0);
        let times = Times { at, took, polled: polled.map_or(took, nanoseconds) };
        match (kind, caller) {
            (Kind::Call, None) => fire_entry(function, text),
            (Kind::Call, Some(caller)) => fire_entry_with_caller(function, text, caller),
            (Kind::Return, _) => fire_return(function, c"return", Some(text), times),
            (Kind::Error, _) => fire_return(function, c"error", Some(text), times),
            (Kind::ReturnTo, caller) => fire_return_to(function, caller, times),
            (Kind::Panic, _) => fire_return(function, c"panic", Some(text), times),
            (Kind::Cancelled, _) => fire_return(function, c"cancelled", None, times),
        }
    }
}

/// The times of an end.
#[derive(Clone, Copy)]
struct Times {
    /// When it happened, by the clock's cycles.
    at: Option<u64>,
    /// In nanoseconds.
    took: u64,
    /// In nanoseconds.
    polled: u64,
}

fn text_of(caller: Caller) -> Text {
    let mut text = Text::new();
    // An error only means that the path is cut.
    let _ = write!(text, "{caller}");
    text
}

#[allow(named_asm_labels)]
#[inline(always)]
fn fire_entry(function: &'static Function, text: &Text) {
    let tag = tag::get_tag_data();
    sdt::fire_here!(
        "function__entry",
        function::entry,
        None,
        (process process::current())
        (str function.name)
        (str text.shown())
        (str tag.as_ref())
        (str ProbeText::NULL)
    );
}

/// The same for patterns that ask for the caller.
#[cold]
#[inline(never)]
fn fire_entry_with_caller(function: &'static Function, text: &Text, caller: Caller) {
    let (process, tag, caller) = (process::current(), tag::get_tag_data(), text_of(caller));
    function::entry(|| (process, function.name, text.shown(), tag.as_ref(), caller.shown()));
}

#[allow(named_asm_labels)]
#[inline(never)]
fn fire_return(function: &'static Function, kind: &'static CStr, value: Option<&Text>, times: Times) {
    let Times { at, took, polled } = times;
    let tag = tag::get_tag_data();
    sdt::fire_here!(
        "function__return",
        function::r#return,
        at,
        (process process::current())
        (str function.name)
        (str value.map(Text::shown))
        (str tag.as_ref())
        (str kind)
        (u64 took)
        (u64 polled)
    );
}

#[cold]
#[inline(never)]
fn fire_return_to(function: &'static Function, caller: Option<Caller>, times: Times) {
    let caller = caller.map(text_of);
    fire_return(function, c"return_to", caller.as_ref(), times);
}

#[inline]
pub(crate) fn is_heard(kind: Kind) -> bool {
    match kind {
        Kind::Call => function::entry::is_enabled(),
        Kind::Return | Kind::Error | Kind::ReturnTo | Kind::Panic | Kind::Cancelled => function::r#return::is_enabled(),
    }
}

/// Returns whether the events of any kind have a receiver.
#[inline(always)]
pub(crate) fn is_any_heard() -> bool {
    is_heard(Kind::Call) || is_heard(Kind::Return)
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
