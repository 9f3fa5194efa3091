//! Reading a trace while it is recorded.
//!
//! A thread may be preempted between taking an event's time and committing it, so files do not grow in order of time. Each
//! poll therefore delivers, in order, the events up to the latest time that the poll before has seen. A thread may be late
//! by the pause between two polls; later events are delivered out of order.

mod operations;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

pub use operations::{Followed, OperationFollower};

use crate::error::Error;
use crate::event::{Event, Value};
use crate::losses::{Findings, Losses, Overwritten};
use crate::merge::Events;
use crate::stream::{Position, Stream};
use crate::trace::Trace;

/// Follows a recording: delivers its events, in order of time, as they are recorded.
///
/// Of a recording in overwrite mode, it delivers the events that it reads before they are overwritten. [`Losses::overwritten`] counts the
/// packets that it missed.
///
/// ```
/// use std::{thread, time::Duration};
/// use dyntrace_reader::Follower;
///
/// let mut follow = Follower::new(["tests/golden"]);
/// while follow.poll(|event| println!("{event:?}"))? {
///     thread::sleep(Duration::from_millis(200));
/// }
/// # Ok::<(), dyntrace_reader::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Follower {
    paths: Vec<PathBuf>,
    positions: HashMap<PathBuf, Position>,
    /// The folders of processes whose recording has ended.
    ended: HashSet<PathBuf>,
    /// The time of the last event that the poll before has seen.
    seen: Option<i64>,
    losses: Losses,
    lost: HashMap<PathBuf, Findings>,
    overwritten: BTreeMap<PathBuf, u64>,
}

/// A trace as one poll sees it.
struct Look {
    trace: Trace,
    /// The time up to which events are delivered.
    upto: Option<i64>,
    /// Whether all processes have ended their recording.
    ended: bool,
}

impl Follower {
    /// Follows the traces in the folders `paths`, from their beginning.
    pub fn new<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) -> Self {
        Self { paths: paths.into_iter().map(|path| path.as_ref().to_owned()).collect(), ..Self::default() }
    }

    /// Reads the files, without waiting, and calls `each` for the events that the poll before has seen.
    ///
    /// Returns false once all processes have ended their recording and all events have been delivered. A killed process
    /// never ends its recording.
    ///
    /// # Errors
    ///
    /// Those of [`Trace::open`]. An error loses no events: the next call may succeed.
    pub fn poll(&mut self, each: impl FnMut(&Event<'_>)) -> Result<bool, Error> {
        let look = self.look()?;
        self.deliver(&look, each);
        Ok(!look.ended)
    }

    /// Calls `each` for all events that have not been delivered, such as after the program was killed.
    ///
    /// # Errors
    ///
    /// Those of [`Trace::open`].
    pub fn drain(&mut self, each: impl FnMut(&Event<'_>)) -> Result<(), Error> {
        let look = self.last_look()?;
        self.deliver(&look, each);
        Ok(())
    }

    /// Returns the losses found so far.
    pub fn losses(&self) -> Losses {
        let mut losses = self.losses.clone();
        for (folder, found) in &self.lost {
            found.add_to(&mut losses, folder, |offset| offset);
        }
        let overwritten = self.overwritten.iter();
        losses.overwritten = overwritten.map(|(file, &packets)| Overwritten { file: file.clone(), packets }).collect();
        losses
    }

    fn look(&mut self) -> Result<Look, Error> {
        let trace = self.open()?;
        // Processes that the poll before saw ended: their files are complete now.
        let ended = trace.processes().iter().all(|process| self.ended.contains(&process.path));
        let upto = if ended { Some(i64::MAX) } else { self.seen };
        self.seen = self.scan(&trace).max(self.seen);
        Ok(Look { trace, upto, ended })
    }

    /// A look at all events that have not been delivered.
    fn last_look(&mut self) -> Result<Look, Error> {
        let trace = self.open()?;
        self.scan(&trace);
        Ok(Look { trace, upto: Some(i64::MAX), ended: true })
    }

    fn open(&self) -> Result<Trace, Error> {
        Trace::open_from(&self.paths, &|file| self.positions.get(file).map_or(1, |position| position.packet))
    }

    /// Reads all files to their ends: notes losses and ended processes, and returns the time of the last event.
    fn scan(&mut self, trace: &Trace) -> Option<i64> {
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
        // A resumed stream does not find earlier damage again.
        for damage in losses.damaged {
            if !self.losses.damaged.iter().any(|known| (&known.file, known.offset) == (&damage.file, damage.offset)) {
                self.losses.damaged.push(damage);
            }
        }
        last
    }

    fn deliver<'t>(&mut self, Look { trace, upto, .. }: &'t Look, mut each: impl FnMut(&Event<'t>)) {
        let mut events = Events::new(self.streams(trace));
        while let Some(event) = events.peek().copied()
            && Some(event.time) <= *upto
        {
            if event.class.name == "recorder:lost"
                && let (Some(Value::Unsigned(count)), Some(Value::Text(reason))) =
                    (event.field("count"), event.field("reason"))
            {
                self.lost.entry(event.process.path.clone()).or_default().lost(count, &reason);
            }
            each(&event);
            events.next();
        }
        for ((file, _), (position, overwritten)) in trace.streams().zip(events.positions()) {
            if let Some(position) = position {
                self.positions.insert(file.path.clone(), position);
            }
            if overwritten > 0 {
                let sum = self.overwritten.entry(file.path.clone()).or_default();
                *sum = sum.saturating_add(overwritten);
            }
        }
    }

    fn streams<'t>(&self, trace: &'t Trace) -> Vec<Stream<'t>> {
        let position = |path| self.positions.get(path).copied().unwrap_or_default();
        trace.streams().map(|(file, process)| Stream::resume(file, process, position(&file.path))).collect()
    }
}
