//! A trace, with a window that moves through its time.

use std::time::{Duration, Instant};

use dyntrace_analysis::view::{is_own, time};
use dyntrace_reader::{Events, FileOperations, Trace};
use dyntrace_terminal::exit::Failure;
use dyntrace_terminal::signals::Interrupts;

use super::{Source, State};
use crate::top::model::Model;

pub struct Played<'t> {
    trace: &'t Trace,
    /// The time of its first event; `None` if it has none.
    first: Option<i64>,
    events: Events<'t>,
    operations: FileOperations<'t>,
    model: Model,
    /// The time of the trace's last event, once it was read.
    last: Option<i64>,
    /// The time of the last look, while the window moves with the time.
    plays: Option<Instant>,
    /// None while the trace is read for the first time.
    interrupts: Option<Interrupts>,
    /// A signal has interrupted the reading.
    is_interrupted: bool,
}

/// The number of the interrupt that does not wait for the terminal.
const LAST: u32 = 3;
/// The signals are looked at after this number of events.
const EVENTS: u64 = 1 << 12;

impl<'t> Played<'t> {
    /// The trace up to the time `at`, or to its end. Until it is read, signals act as they do without a receiver.
    pub fn new(trace: &'t Trace, at: Option<time::Instant>) -> Result<Played<'t>, Failure> {
        let mut played = Played {
            trace,
            first: trace.events().find(|event| !is_own(event.class)).map(|event| event.time),
            events: trace.events(),
            operations: FileOperations::default(),
            model: Model::default(),
            last: None,
            plays: None,
            interrupts: None,
            is_interrupted: false,
        };
        played.to(i64::MAX);
        if let Some(at) = at {
            played.to(at.at(played.first()));
        }
        played.interrupts = Some(Interrupts::receive(LAST)?);
        Ok(played)
    }

    /// The time to which users refer.
    fn first(&self) -> i64 {
        self.first.unwrap_or(0)
    }

    fn is_interrupted_within(&self, pause: Duration) -> bool {
        self.interrupts.as_ref().is_some_and(|interrupts| interrupts.wait(pause).is_some())
    }

    /// Moves the end of the window to a time, unless a signal arrives meanwhile.
    fn to(&mut self, time: i64) {
        if time < self.model.now {
            self.events = self.trace.events();
            self.operations = FileOperations::default();
            self.model = Model::default();
        }
        let mut read = 0;
        while self.events.peek().is_some_and(|next| next.time <= time) {
            read += 1;
            if read % EVENTS == 0 && self.is_interrupted_within(Duration::ZERO) {
                self.is_interrupted = true;
                break;
            }
            let Some(event) = self.events.next() else { break };
            self.model.event(&event);
            if let Some(operation) = self.operations.push(&event) {
                self.model.operation(&operation);
            }
        }
        if self.events.peek().is_none() {
            self.last.get_or_insert(self.model.now);
        }
        self.model.start = self.first;
        let first = self.first();
        self.model.now = time.clamp(first, self.last.unwrap_or(i64::MAX).max(first));
        self.model.given_up = self.operations.given_up();
        self.model.losses = self.trace.losses();
    }
}

impl Source for Played<'_> {
    fn look(&mut self, pause: Duration) -> Result<State, Failure> {
        if self.is_interrupted || self.is_interrupted_within(pause) {
            return Ok(State::Interrupted);
        }
        if let Some(before) = self.plays {
            let now = Instant::now();
            self.plays = Some(now);
            self.seek((now - before).as_nanos() as i64);
        }
        Ok(if self.last.is_some_and(|last| last <= self.model.now) { State::Ended } else { State::Runs })
    }

    fn model(&self) -> &Model {
        &self.model
    }

    fn stop(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    fn seek(&mut self, by: i64) {
        self.to(self.model.now.saturating_add(by));
    }

    fn play(&mut self, plays: bool) {
        self.plays = plays.then(Instant::now);
    }

    fn pid(&self) -> Option<u32> {
        None
    }
}
