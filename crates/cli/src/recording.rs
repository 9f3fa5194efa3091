//! Recorded traces, read from beginning to end, with the progress on a terminal.

use std::path::PathBuf;

use dyntrace_reader::{Event, Trace};
use indicatif::{ProgressBar, ProgressStyle};

use crate::exit::{self, Failure};

/// Opens the traces as one.
pub fn open(traces: &[PathBuf]) -> Result<Trace, Failure> {
    Trace::open_all(traces).map_err(|error| Failure::new(exit::NO_TRACE, error))
}

/// How many events are read between two updates of the progress.
const AT_ONCE: u64 = 1 << 14;

/// All events in the order of time.
pub fn events<'t>(trace: &'t Trace) -> impl Iterator<Item = Event<'t>> {
    // The bar hides itself if standard error is no terminal.
    let shown = ProgressBar::new_spinner().with_style(
        ProgressStyle::with_template("{spinner} {human_pos} events, {elapsed}").expect("the template is right"),
    );
    let mut count = 0;
    let mut events = trace.events();
    std::iter::from_fn(move || {
        let event = events.next();
        count += 1;
        match event {
            Some(_) if count % AT_ONCE == 0 => shown.inc(AT_ONCE),
            Some(_) => {}
            None => shown.finish_and_clear(),
        }
        event
    })
}
