//! Operations of a recording that goes on.

use crate::error::Error;
use crate::event::Event;
use crate::losses::Losses;
use crate::operations::{FileOperation, FileOperations, Suspended};

use super::{Follower, Look};

/// An event of a recording, or an operation that the event just before completed.
#[derive(Debug)]
#[non_exhaustive]
pub enum Followed<'a, 't> {
    /// The next event, in the order of [`Follower::poll`].
    Event(&'a Event<'t>),
    /// The operation whose last event was the one before. [`OperationFollower::drain_all`] also delivers those in flight, which have no
    /// [`completion`](FileOperation::completion).
    Operation(&'a FileOperation<'t>),
}

/// Follows a recording: delivers its operations as they complete, each once, whole.
///
/// Each poll opens the files again. Between polls it holds the operations in flight with copies of their texts.
///
/// ```
/// use std::{thread, time::Duration};
/// use dyntrace_reader::{Follower, OperationFollower};
///
/// let mut follow = OperationFollower::new(Follower::new(["tests/golden"]));
/// while follow.poll(|operation| println!("{operation:?}"))? {
///     thread::sleep(Duration::from_millis(200));
/// }
/// # Ok::<(), dyntrace_reader::Error>(())
/// ```
#[derive(Debug)]
pub struct OperationFollower {
    events: Follower,
    kept: Suspended,
}

impl OperationFollower {
    /// Follows the operations of the events that `events` delivers from now on.
    pub fn new(events: Follower) -> Self {
        Self { events, kept: Suspended::default() }
    }

    /// Reads the files, without waiting, and calls `each` for the operations that completed in the events of [`Follower::poll`]. Returns
    /// the same as that.
    ///
    /// # Errors
    ///
    /// Those of [`Follower::poll`].
    pub fn poll(&mut self, each: impl FnMut(&FileOperation<'_>)) -> Result<bool, Error> {
        self.poll_all(only_operations(each))
    }

    /// The same, and calls `each` also for the events.
    ///
    /// # Errors
    ///
    /// Those of [`Follower::poll`].
    pub fn poll_all(&mut self, each: impl FnMut(Followed<'_, '_>)) -> Result<bool, Error> {
        let look = self.events.look()?;
        self.deliver(&look, each, false);
        Ok(!look.ended)
    }

    /// Calls `each` for all operations that have not been delivered, last for those in flight, which have no
    /// [`completion`](FileOperation::completion).
    ///
    /// # Errors
    ///
    /// Those of [`Follower::drain`].
    pub fn drain(&mut self, each: impl FnMut(&FileOperation<'_>)) -> Result<(), Error> {
        self.drain_all(only_operations(each))
    }

    /// The same, and calls `each` also for the events.
    ///
    /// # Errors
    ///
    /// Those of [`Follower::drain`].
    pub fn drain_all(&mut self, each: impl FnMut(Followed<'_, '_>)) -> Result<(), Error> {
        let look = self.events.last_look()?;
        self.deliver(&look, each, true);
        Ok(())
    }

    /// Returns the losses found so far.
    pub fn losses(&self) -> Losses {
        self.events.losses()
    }

    /// Returns the number of operations dropped before their return, as [`FileOperations::given_up`].
    pub fn given_up(&self) -> u64 {
        self.kept.given_up()
    }

    /// Returns the number of events without a known operation, as [`FileOperations::unmatched`].
    pub fn unmatched(&self) -> u64 {
        self.kept.unmatched()
    }

    fn deliver(&mut self, look: &Look, mut each: impl FnMut(Followed<'_, '_>), is_last: bool) {
        let Self { events, kept } = self;
        // Of a poll without events, nothing is copied.
        let mut resumed: Option<FileOperations<'_>> = None;
        events.deliver(look, |event| {
            let operations = resumed.get_or_insert_with(|| kept.resume(&look.trace));
            each(Followed::Event(event));
            if let Some(operation) = operations.push(event) {
                each(Followed::Operation(&operation));
            }
        });
        if is_last {
            let operations = resumed.get_or_insert_with(|| kept.resume(&look.trace));
            operations.in_flight().for_each(|operation| each(Followed::Operation(operation)));
            operations.forget_in_flight();
        }
        if let Some(operations) = resumed {
            *kept = operations.suspend(&look.trace);
        }
    }
}

fn only_operations(mut each: impl FnMut(&FileOperation<'_>)) -> impl FnMut(Followed<'_, '_>) {
    move |followed| {
        if let Followed::Operation(operation) = followed {
            each(operation);
        }
    }
}
