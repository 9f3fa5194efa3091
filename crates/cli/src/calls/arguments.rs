//! What the user asks `dyntrace trace` for.

use std::time::Duration;

use anyhow::anyhow;
use dyntrace::trace::remote::{TraceRequest, Which};
use dyntrace::trace::{Limits, Pattern};

use crate::exit::{self, Failure};
use crate::view::time;

use super::orders::Order;

/// The examples and the exit statuses.
pub const HELP: &str = "\
Examples:
  dyntrace trace -p 4711 'shop::**::price(_, qty) if qty > 100' --return --panic
  dyntrace trace -p 4711 'shop::**::price(Order { id: 7, .. }, _)' --caller
  dyntrace trace -p 4711 'shop::pay' --stack --max-events 1
  dyntrace trace -p 4711 'shop::cart::*' --max-events 20 --json
  dyntrace trace -p 4711 'shop::**' --time --for 30s
  dyntrace trace -p 4711 'shop::**' --memory --for 30s
  dyntrace trace -p 4711 'shop::**' --count --interval 1s
  dyntrace trace -p 4711 --later 'pricing::**' --count
  dyntrace trace -p 4711 '**::pay if tag == \"req-81\" do caller, return, exception'

While that goes on, from another terminal:
  dyntrace trace -p 4711 list
  dyntrace trace -p 4711 add 'shop::cart::*' --return
  dyntrace trace -p 4711 update 2 'shop::cart::*(id) if id == 7'
  dyntrace trace -p 4711 remove 1
  dyntrace trace -p 4711 exclude '<0.57.0>'

A path names functions: * is any text and ? one character of a segment, ** any number of
segments. Arguments are literals, _ or names, which the guard behind if may compare, or parts of
structures, tuples, variants and slices: Order { id, lines: [first, ..], .. }. tag is the user
tag, pid the process. Actions behind do are for one pattern: message, silent, caller,
current_stacktrace, return, return_to, exception, error, count, time, memory, get_seq_token,
set_seq_token(label, 17), set(call), set(set_on_spawn). The documentation of dyntrace::trace::Pattern has the whole grammar.

The program must let itself be controlled: by dyntrace::recorder::control(), or by
DYNTRACE=control in its environment. Its functions are as before when this ends, however that
comes. The program waits for nobody who reads: what cannot be written in time is dropped, and
counted. So that it is not slowed down by all that is told, --limit has a default.

Times of day are those of here; --json has nanoseconds since 1970.

Exit status:
   0  the trace has ended: by its limits, an interrupt, or since the process has ended
   1  the process does not answer
   2  wrong use, or something that is no pattern
   3  events were dropped; those above --limit do not count
  65  there is no such process, it does not let itself be controlled, or no function, pattern or
      session is named so";

/// The arguments of `dyntrace trace`.
#[derive(clap::Args)]
#[command(subcommand_value_name = "ORDER", subcommand_help_heading = "Orders to a trace that goes on")]
pub struct Arguments {
    /// The process
    #[arg(short, long, value_parser = clap::value_parser!(u32).range(1..))]
    pub pid: u32,
    /// Which calls, and of which functions: 'shop::**::price(_, qty) if qty > 100'
    #[arg(value_name = "PATTERN")]
    patterns: Vec<String>,
    /// The name of the session, by which orders find it; else it gets a number. An order needs it only where several go on
    #[arg(long, value_name = "NAME", global = true)]
    pub session: Option<String>,
    #[command(subcommand)]
    pub order: Option<Order>,
    /// Trace functions that are loaded later, too, from their first call on; then nothing need be named so yet
    #[arg(long)]
    pub later: bool,
    #[command(flatten)]
    actions: Actions,
    /// Print what was counted in each interval, and count anew: 1s
    #[arg(long, value_name = "TIME", value_parser = interval)]
    pub interval: Option<Duration>,
    /// The most events in a second; more are left out, and counted
    #[arg(long, value_name = "N/s", default_value = "10000/s", value_parser = per_second)]
    limit: u32,
    /// End after this time: 30s
    #[arg(long = "for", value_name = "TIME", value_parser = time::duration)]
    length: Option<i64>,
    /// End after so many events
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_events: Option<u64>,
    /// Only calls of this process, as dyntrace shows it, of all that are there when this begins (existing), or of all that come later
    /// (new); may be given more than once
    #[arg(long, value_name = "<0.N.0>|existing|new")]
    process: Vec<Which>,
    /// Print JSON, one object for each event, function or pattern
    #[arg(long, global = true)]
    pub json: bool,
}

/// Actions for all patterns of a command.
#[derive(clap::Args)]
pub struct Actions {
    /// Tell when functions return, with the value
    #[arg(long = "return")]
    return_: bool,
    /// Tell when panics leave functions, with the message
    #[arg(long)]
    panic: bool,
    /// Tell when functions return an Err, as such and not as a return
    #[arg(long)]
    error: bool,
    /// Tell whom functions return to
    #[arg(long)]
    return_to: bool,
    /// Say who called: as the stack, symbols and debug information tell it, or exactly, for functions that have the option caller of
    /// the attribute
    #[arg(long)]
    caller: bool,
    /// Print the stack of each call below it, up to 8 callers or so many, at most 32: --stack=16. A line without a file is from symbols
    /// alone: what is inlined there is missing
    #[arg(long, value_name = "CALLERS", num_args = 0..=1, require_equals = true, default_missing_value = "8",
          value_parser = clap::value_parser!(u8).range(1..=32))]
    stack: Option<u8>,
    /// Count the calls of each function, instead of telling them
    #[arg(long)]
    count: bool,
    /// The same with the time that they take, the most expensive first
    #[arg(long)]
    time: bool,
    /// Count the calls and the bytes that they allocate, with those of measured calls inside and without; where the program has
    /// dyntrace::alloc::Counting for its allocator
    #[arg(long)]
    memory: bool,
}

impl Arguments {
    /// What is asked of the process.
    pub fn wish(&self) -> Result<TraceRequest, Failure> {
        if self.patterns.is_empty() {
            let why = "which calls? give a pattern, or one of the orders list, add, update, remove, include and exclude; --help has examples";
            return Err(Failure::new(exit::USAGE, anyhow!(why)));
        }
        let mut limits = Limits::default();
        limits.per_second = Some(self.limit);
        limits.events = self.max_events;
        limits.time = self.length.and_then(|length| u64::try_from(length).ok()).map(Duration::from_nanos);
        Ok(TraceRequest {
            session: self.session.clone(),
            patterns: self.actions.patterns(&self.patterns)?,
            later: self.later,
            processes: self.process.clone(),
            limits,
            interval: self.interval,
        })
    }
}

impl Actions {
    /// The patterns with these actions.
    pub fn patterns(&self, patterns: &[String]) -> Result<Vec<String>, Failure> {
        patterns.iter().map(|pattern| with_actions(pattern, &self.text())).collect()
    }

    /// As patterns have them.
    fn text(&self) -> String {
        let stack = self.stack.map(|callers| format!("current_stacktrace({callers})"));
        let actions = [
            (self.return_, "return"),
            (self.return_to, "return_to"),
            (self.panic, "exception"),
            (self.error, "error"),
            (self.caller, "caller"),
            (stack.is_some(), stack.as_deref().unwrap_or_default()),
            (self.count || self.time || self.memory, "silent"),
            (self.count, "count"),
            (self.time, "time"),
            (self.memory, "memory"),
        ];
        let wanted: Vec<&str> = actions.into_iter().filter_map(|(is_wanted, name)| is_wanted.then_some(name)).collect();
        wanted.join(", ")
    }
}

/// The pattern with more actions. It may have some.
fn with_actions(pattern: &str, actions: &str) -> Result<String, Failure> {
    let wrong = |error| Failure::new(exit::USAGE, anyhow!("reading the pattern: {error}"));
    pattern.parse::<Pattern>().map_err(wrong)?;
    if actions.is_empty() {
        return Ok(pattern.to_owned());
    }
    let first = format!("{pattern} do {actions}");
    if first.parse::<Pattern>().is_ok() {
        return Ok(first);
    }
    let more = format!("{pattern}, {actions}");
    more.parse::<Pattern>().map_err(wrong)?;
    Ok(more)
}

fn per_second(text: &str) -> Result<u32, String> {
    let number = text.strip_suffix("/s").unwrap_or(text).parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| "expected a number of events in a second, like 1000/s".to_owned())
}

fn interval(text: &str) -> Result<Duration, String> {
    let time = Duration::from_nanos(time::duration(text)?.unsigned_abs());
    if time.as_millis() > 0 { Ok(time) } else { Err("expected a millisecond or more".to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_are_added_to_patterns_with_and_without_some() {
        for (pattern, expected) in [
            ("a::b", "a::b do return, caller"),
            ("a(x) if x == \" do \"", "a(x) if x == \" do \" do return, caller"),
            ("a do silent,count", "a do silent,count, return, caller"),
        ] {
            assert_eq!(with_actions(pattern, "return, caller").unwrap(), expected);
            assert_eq!(with_actions(pattern, "").unwrap(), pattern);
        }
        for (pattern, why) in [("a(", "expected"), ("a do message", "found both")] {
            let failure = with_actions(pattern, "silent, count").unwrap_err();
            assert_eq!(failure.status, exit::USAGE);
            assert!(failure.error.to_string().contains(why), "{}", failure.error);
        }
    }

    #[test]
    fn intervals_are_not_too_short() {
        assert_eq!(interval("1.5s"), Ok(Duration::from_millis(1500)));
        assert_eq!(interval("1ms"), Ok(Duration::from_millis(1)));
        for wrong in ["", "1", "0s", "999us", "-1s"] {
            assert!(interval(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn limits_are_for_a_second() {
        assert_eq!((per_second("1000/s"), per_second("7")), (Ok(1000), Ok(7)));
        for wrong in ["", "0", "/s", "1/m", "-1"] {
            assert!(per_second(wrong).is_err(), "{wrong}");
        }
    }
}
