//! Only the events of slow operations.
//!
//! An event is held until its operation is answered, or has been in flight for long enough. So memory grows with the number of operations
//! in flight, not with the trace.

use std::collections::{BTreeMap, HashMap};
use std::ptr;

use dyntrace_reader::{Event, EventClass, OperationStep, Process, Value};

/// Names an operation in flight: the process, the driver, and `{thread, tag}`.
type Id<'t> = (*const Process, &'t str, i64, i64);

/// The events of slow operations, in their order.
pub struct Slow<'t, I> {
    events: I,
    /// The least duration of a slow operation, in nanoseconds.
    least: i64,
    /// The driver and the step of events of a class.
    steps: HashMap<*const EventClass, Option<(&'t str, OperationStep)>>,
    in_flight: HashMap<Id<'t>, Operation>,
    /// The operations in flight that are not slow yet, in the order of entry.
    undecided: BTreeMap<(i64, u64), Id<'t>>,
    held: BTreeMap<u64, Held<'t>>,
    /// The number of the next event to hold.
    count: u64,
}

struct Operation {
    /// The time of its entry, and the number of that event.
    entered: (i64, u64),
    is_slow: bool,
    /// Its held events, while it is not slow.
    waiting: Vec<u64>,
}

struct Held<'t> {
    event: Event<'t>,
    is_slow: bool,
}

impl<'t, I: Iterator<Item = Event<'t>>> Slow<'t, I> {
    pub fn new(events: I, least: i64) -> Slow<'t, I> {
        Slow {
            events,
            least,
            steps: HashMap::new(),
            in_flight: HashMap::new(),
            undecided: BTreeMap::new(),
            held: BTreeMap::new(),
            count: 0,
        }
    }

    fn take_in(&mut self, event: Event<'t>) {
        self.pass_time(event.time);
        let step = *self.steps.entry(ptr::from_ref(event.class)).or_insert_with(|| event.class.operation_step());
        let Some((driver, step)) = step else { return };
        let number = |position| match event.value(position) {
            Some(Value::Signed(number)) => Some(number),
            Some(Value::Unsigned(number)) => i64::try_from(number).ok(),
            _ => None,
        };
        let (Some(thread), Some(tag)) = (number(0), number(1)) else { return };
        let id = (ptr::from_ref(event.process), driver, thread, tag);
        if step == OperationStep::Entry {
            // The answer of an operation with the same name was lost.
            self.end(id);
            let entered = (event.time, self.count);
            self.in_flight.insert(id, Operation { entered, is_slow: false, waiting: Vec::new() });
            self.undecided.insert(entered, id);
        }
        if let Some(operation) = self.in_flight.get_mut(&id) {
            if !operation.is_slow {
                operation.waiting.push(self.count);
            }
            self.held.insert(self.count, Held { event, is_slow: operation.is_slow });
            self.count += 1;
        }
        if step == OperationStep::Return {
            self.end(id);
        }
    }

    /// Marks operations as slow that have been in flight for long enough at `now`.
    fn pass_time(&mut self, now: i64) {
        while let Some(first) = self.undecided.first_entry()
            && first.key().0.saturating_add(self.least) <= now
        {
            if let Some(operation) = self.in_flight.get_mut(&first.remove()) {
                operation.is_slow = true;
                for event in operation.waiting.drain(..) {
                    self.held.entry(event).and_modify(|held| held.is_slow = true);
                }
            }
        }
    }

    /// Ends an operation, and drops its events if it is not slow.
    fn end(&mut self, id: Id<'t>) {
        if let Some(operation) = self.in_flight.remove(&id) {
            self.undecided.remove(&operation.entered);
            for event in operation.waiting {
                self.held.remove(&event);
            }
        }
    }
}

impl<'t, I: Iterator<Item = Event<'t>>> Iterator for Slow<'t, I> {
    type Item = Event<'t>;

    fn next(&mut self) -> Option<Event<'t>> {
        loop {
            if let Some(first) = self.held.first_entry()
                && first.get().is_slow
            {
                return Some(first.remove().event);
            }
            match self.events.next() {
                Some(event) => self.take_in(event),
                // Operations without an answer may not be slow; they must not hold back those that are.
                None if self.undecided.is_empty() => return None,
                None => {
                    while let Some((_, id)) = self.undecided.pop_first() {
                        self.end(id)
                    }
                }
            }
        }
    }
}
