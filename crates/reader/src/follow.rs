//! Reading a recording that goes on.
//!
//! Files grow at their own pace, and a thread may be held up between taking an event's time and committing it. So an
//! event is given out at the second look that could see it: what is there at one look says up to which time the next
//! one gives out, in order. The pause between two looks is what a slow thread has; an event that comes later still is
//! given out when it comes.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::event::{Event, Value};
use crate::losses::{Found, Losses};
use crate::merge::Events;
use crate::stream::{Position, Stream};
use crate::trace::Trace;

/// Follows a recording: gives out its events, in the order of time, as they come.
///
/// ```
/// use std::{thread, time::Duration};
/// use dyntrace_reader::Follow;
///
/// let mut follow = Follow::new(["tests/golden"]);
/// while follow.poll(|event| println!("{event:?}"))? {
///     thread::sleep(Duration::from_millis(200));
/// }
/// # Ok::<(), dyntrace_reader::Error>(())
/// ```
#[derive(Debug)]
pub struct Follow {
    paths: Vec<PathBuf>,
    positions: HashMap<PathBuf, Position>,
    /// The folders of processes whose recording has ended.
    ended: HashSet<PathBuf>,
    /// The time of the last event that was there at the look before.
    seen: Option<i64>,
    losses: Losses,
    lost: HashMap<PathBuf, Found>,
}

impl Follow {
    /// Follows the traces in the folders `paths`, from their beginning.
    pub fn new<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) -> Self {
        Self {
            paths: paths.into_iter().map(|path| path.as_ref().to_owned()).collect(),
            positions: HashMap::new(),
            ended: HashSet::new(),
            seen: None,
            losses: Losses::default(),
            lost: HashMap::new(),
        }
    }

    /// Looks once, without waiting, and calls `each` for the events that were there at the look before. False when all
    /// processes have ended their recording and everything has been given out; one that was killed never ends it.
    ///
    /// # Errors
    ///
    /// As [`Trace::open`]. Nothing is lost by an error: the next call may succeed.
    pub fn poll(&mut self, each: impl FnMut(&Event<'_>)) -> Result<bool, Error> {
        let trace = Trace::open_all(&self.paths)?;
        // As of the look before: what its files had was written before the end was.
        let ended = trace.processes().iter().all(|process| self.ended.contains(&process.path));
        let upto = if ended { Some(i64::MAX) } else { self.seen };
        self.seen = self.look(&trace).max(self.seen);
        self.give(&trace, upto, each);
        Ok(!ended)
    }

    /// Calls `each` for all events that have not been given out. For the end, when the program has been killed or one
    /// wants to see no more than what is there.
    ///
    /// # Errors
    ///
    /// As [`Trace::open`].
    pub fn rest(&mut self, each: impl FnMut(&Event<'_>)) -> Result<(), Error> {
        let trace = Trace::open_all(&self.paths)?;
        self.look(&trace);
        self.give(&trace, Some(i64::MAX), each);
        Ok(())
    }

    /// What was lost, as far as it is known by now.
    pub fn losses(&self) -> Losses {
        let mut losses = self.losses.clone();
        for (folder, found) in &self.lost {
            found.add_to(&mut losses, folder);
        }
        losses
    }

    /// Reads what is there to its end: the time of the last event, what is lost, who has ended.
    fn look(&mut self, trace: &Trace) -> Option<i64> {
        let mut last = None;
        for mut stream in self.streams(trace) {
            while let Some(event) = stream.read() {
                last = last.max(Some(event.time));
                if event.class.name == "recorder:end" {
                    self.ended.insert(event.process.path.clone());
                }
            }
        }
        let losses = trace.losses();
        self.losses.discarded = losses.discarded;
        // Found once, when a stream passes it; kept from then on.
        for damage in losses.damaged {
            if !self.losses.damaged.iter().any(|known| (&known.file, known.offset) == (&damage.file, damage.offset)) {
                self.losses.damaged.push(damage);
            }
        }
        last
    }

    fn give(&mut self, trace: &Trace, upto: Option<i64>, mut each: impl FnMut(&Event<'_>)) {
        let mut events = Events::new(self.streams(trace));
        while let Some(event) = events.peek().copied()
            && Some(event.time) <= upto
        {
            if event.class.name == "recorder:lost"
                && let (Some(Value::Unsigned(count)), Some(Value::Text(reason))) =
                    (event.field("count"), event.field("reason"))
            {
                self.lost.entry(event.process.path.clone()).or_default().lost(count, reason);
            }
            each(&event);
            events.next();
        }
        for ((file, _), position) in trace.streams().zip(events.positions()) {
            self.positions.insert(file.path.clone(), position);
        }
    }

    fn streams<'t>(&self, trace: &'t Trace) -> Vec<Stream<'t>> {
        let position = |path| self.positions.get(path).copied().unwrap_or_default();
        trace.streams().map(|(file, process)| Stream::resume(file, process, position(&file.path))).collect()
    }
}
