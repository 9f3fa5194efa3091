//! The arguments of `dyntrace trace`.

use std::time::Duration;

use anyhow::anyhow;
use dyntrace::trace::remote::{TraceRequest, Which};
use dyntrace::trace::{Limits, Pattern};
use dyntrace_analysis::view::time;
use dyntrace_terminal::exit::{self, Failure};

use super::orders::Order;

const HELP: &str = "\
Examples:
  dyntrace trace -p 4711 'shop::**::price(_, qty) if qty > 100' --return --panic
  dyntrace trace -p 4711 'shop::**::price(Order { id: 7, .. }, _)' --caller
  dyntrace trace -p 4711 'shop::pay' --stack --max-events 1
  dyntrace trace -p 4711 'shop::**' --time --for 30s
  dyntrace trace -p 4711 '**::pay if tag == \"req-81\" do caller, return, exception'

While a trace runs, from another terminal: dyntrace trace -p 4711 update 2 'shop::cart::*'

A path selects functions: * matches any text and ? one character of a segment, ** any number of
segments. Arguments are literals, _ or names, which the guard after if may compare, or parts of
structures. Actions stand after do. The documentation of dyntrace::trace::Pattern has the grammar.

When the trace ends for any reason, its functions run as before. The program never waits for this
command: events that cannot be sent in time are dropped, and counted. --json has nanoseconds since 1970.

Exit status:
   0  the trace has ended: by its limits, by an interrupt, or because the process ended
   1  the process does not answer
   2  wrong use, or a wrong pattern
   3  events were dropped; events above --limit do not count
  65  there is no such process, function, pattern or session, or the process does not allow control";

/// The most events per second by default.
const PER_SECOND: u32 = 10_000;

/// Trace function calls in a running process
///
/// Patterns select functions with the attribute #[dyntrace::traced]. No thread of the process stops while they are set or removed.
/// Each call is a line with the local time, its thread, its process and its user tag. Counts are a table, which a terminal shows
/// updated each second.
#[derive(clap::Args)]
#[command(after_long_help = HELP)]
#[command(subcommand_value_name = "ORDER", subcommand_help_heading = "Orders to a running trace")]
pub struct Arguments {
    /// The process
    #[arg(short, long)]
    pub pid: u32,
    /// Functions, arguments and conditions: 'shop::**::price(_, qty) if qty > 100'
    #[arg(value_name = "PATTERN")]
    patterns: Vec<String>,
    /// The name of the session [default: a number], for orders if several traces run
    #[arg(long, value_name = "NAME", global = true)]
    pub session: Option<String>,
    #[command(subcommand)]
    pub order: Option<Order>,
    /// Also trace functions that are loaded later, from their first call on
    #[arg(long)]
    pub later: bool,
    #[command(flatten)]
    actions: Actions,
    /// Print the counts of each interval of this length, and restart from 0: 1s
    #[arg(long, value_name = "TIME", value_parser = time::at_least::<1>)]
    pub interval: Option<Duration>,
    /// The most events per second; others are left out, and counted [default: 10000/s]
    #[arg(long, value_name = "N/s", value_parser = per_second)]
    limit: Option<u32>,
    /// End after this time: 30s
    #[arg(long = "for", value_name = "TIME", value_parser = time::length)]
    length: Option<Duration>,
    /// End after this many events
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_events: Option<u64>,
    /// Only calls of this process, of all existing ones, or of all new ones; can be repeated
    #[arg(long, value_name = "<0.N.0>|existing|new")]
    process: Vec<Which>,
    /// Print JSON, one object per event, function or pattern
    #[arg(long, global = true)]
    pub json: bool,
}

/// Actions for all patterns of a command.
#[derive(clap::Args)]
pub struct Actions {
    /// Print returns, with the value
    #[arg(long = "return")]
    return_: bool,
    /// Print panics that leave functions, with the message
    #[arg(long)]
    panic: bool,
    /// Print returns of an Err, as errors instead of returns
    #[arg(long)]
    error: bool,
    /// Print the caller that functions return to
    #[arg(long)]
    return_to: bool,
    /// Print the caller; exactly for functions with the attribute's option caller
    #[arg(long)]
    caller: bool,
    /// Print the stack of each call, up to 8 callers or this many, at most 32: --stack=16. Lines without a file lack inlined functions
    #[arg(long, value_name = "CALLERS", num_args = 0..=1, require_equals = true, default_missing_value = "8",
          value_parser = clap::value_parser!(u8).range(1..=32))]
    stack: Option<u8>,
    /// Count the calls of each function instead of printing them
    #[arg(long)]
    count: bool,
    /// Count the calls and their time, the most expensive function first
    #[arg(long)]
    time: bool,
    /// Count the calls and the bytes that they allocate. Needs dyntrace::alloc::Counting as the program's allocator
    #[arg(long)]
    memory: bool,
}

impl Arguments {
    pub fn wish(&self) -> Result<TraceRequest, Failure> {
        if self.patterns.is_empty() {
            let why = "no pattern is given: name functions, or give one of the orders list, add, update, remove, include and exclude; \
                       --help has examples";
            return Err(Failure::new(exit::USAGE, anyhow!(why)));
        }
        let mut limits = Limits::default();
        limits.per_second = Some(self.limit.unwrap_or(PER_SECOND));
        limits.events = self.max_events;
        limits.time = self.length;
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

impl Arguments {
    /// Fails if the command has arguments of a new trace before its order, which would do nothing.
    pub fn check_order(&self) -> Result<(), Failure> {
        let of_a_trace = [
            (!self.patterns.is_empty(), "a pattern"),
            (!self.actions.text().is_empty(), "an action, such as --return,"),
            (self.later, "--later"),
            (self.interval.is_some(), "--interval"),
            (self.limit.is_some(), "--limit"),
            (self.length.is_some(), "--for"),
            (self.max_events.is_some(), "--max-events"),
            (!self.process.is_empty(), "--process"),
        ];
        match of_a_trace.into_iter().find(|(is_given, _)| *is_given) {
            None => Ok(()),
            Some((_, given)) => {
                let why = format!(
                    "{given} before an order is of a new trace: put it behind the order if that takes it, or leave it out"
                );
                Err(Failure::new(exit::USAGE, anyhow!(why)))
            }
        }
    }
}

impl Actions {
    /// The patterns with these actions.
    pub fn patterns(&self, patterns: &[String]) -> Result<Vec<String>, Failure> {
        patterns.iter().map(|pattern| with_actions(pattern, &self.text())).collect()
    }

    /// The actions in the language of patterns.
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

/// Adds actions to a pattern, which may have some.
fn with_actions(pattern: &str, actions: &str) -> Result<String, Failure> {
    let wrong = |error| Failure::new(exit::USAGE, anyhow!("cannot read the pattern: {error}"));
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
    number.ok_or_else(|| "expected a number of events per second, like 1000/s".to_owned())
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
    fn arguments_of_a_trace_are_refused_before_an_order() {
        #[derive(clap::Parser)]
        struct Whole {
            #[command(flatten)]
            arguments: Arguments,
        }
        let check = |words: &str| <Whole as clap::Parser>::parse_from(words.split(' ')).arguments.check_order();
        for right in
            ["trace -p 1 list", "trace -p 1 --json --session a add a::b --return", "trace -p 1 update 2 a::b --count"]
        {
            assert!(check(right).is_ok(), "{right}");
        }
        for wrong in [
            "--return add a::b", "a::c list", "--limit 5/s list", "--later add a::b", "--process new list",
            "--for 1s list",
        ] {
            let failure = check(&format!("trace -p 1 {wrong}")).unwrap_err();
            assert_eq!(failure.status, exit::USAGE, "{wrong}");
        }
    }

    #[test]
    fn intervals_are_not_too_short() {
        let interval = time::at_least::<1>;
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
