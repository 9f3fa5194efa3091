//! `dyntrace view`: the events of a trace, in the order of time.

mod arguments;
mod causal;
mod code;
mod csv;
mod event;
mod format;
mod json;
mod live;
mod named;
pub mod names;
mod places;
mod requests;
mod slow;
mod tag;
mod text;
pub mod time;
mod token;

use std::io::{self, Write};

use dyntrace_reader::{Event, Follower, Selection, Trace};
use dyntrace_terminal::exit::Outcome;
use dyntrace_terminal::stdout;

use crate::{losses, recording};

pub use arguments::Arguments;
pub use code::Code;
pub use csv::Csv;
pub use event::{is_own, process_name};
pub use format::Format;
pub use live::{Live, PAUSE};
pub use tag::OfTag;

use named::Named;
use requests::Slowest;
use slow::Slow;

/// How many bytes are written at once.
const AT_ONCE: usize = 64 * 1024;

/// Prints the events that the user asked for, and reports losses.
pub fn view(arguments: &Arguments) -> Outcome {
    arguments.check()?;
    let trace = recording::open(&arguments.traces)?;
    if let Some(count) = arguments.slowest {
        return slowest(&trace, arguments, count);
    }
    let named = Named::new(&arguments.probe);
    if !arguments.follow {
        named.check(&trace)?;
    }
    let mut to = io::stdout().lock();
    let mut out = Vec::with_capacity(2 * AT_ONCE);
    let mut format = arguments.format(&trace, &mut out);
    let mut is_selected = arguments.filter(trace.events().peek().map(|first| first.time));
    let is_wanted = |event: &Event<'_>| {
        named.see(event.class);
        is_selected(event)
    };
    let losses = if arguments.follow {
        to.write_all(&out).map_err(anyhow::Error::new)?;
        Live { from: Follower::new(&arguments.traces), format, is_wanted, to }.until_end()?
    } else {
        match arguments.min_duration {
            None => write(trace.events().filter(is_wanted), &mut format, out, &mut to),
            Some(least) => write(Slow::new(trace.events(), least).filter(is_wanted), &mut format, out, &mut to),
        }
        .map_err(anyhow::Error::new)?;
        trace.losses()
    };
    named.say_unseen();
    losses::say(&losses);
    Ok(losses::status(&losses))
}

/// Prints the slowest requests instead of events.
fn slowest(trace: &Trace, arguments: &Arguments, count: u16) -> Outcome {
    let is_in_time = arguments.times(trace.events().peek().map_or(0, |first| first.time));
    let tag = arguments.tag.as_deref().map(|tag| Selection::new().tag(tag));
    let is_wanted = |of: &[u8]| tag.as_ref().is_none_or(|tag| tag.matches_tag(of));
    let slowest = Slowest::of(trace.events().filter(|event| is_in_time.matches(event)), count.into(), is_wanted);
    stdout::write(&if arguments.json { slowest.json() } else { slowest.text() })?;
    let losses = trace.losses();
    losses::say(&losses);
    Ok(losses::status(&losses))
}

fn write<'t>(
    events: impl Iterator<Item = Event<'t>>,
    format: &mut Format,
    mut out: Vec<u8>,
    to: &mut impl Write,
) -> io::Result<()> {
    for event in events {
        format.0.event(&event, &mut out);
        if out.len() >= AT_ONCE {
            to.write_all(&out)?;
            out.clear();
        }
    }
    format.0.end(&mut out);
    to.write_all(&out)?;
    to.flush()
}
