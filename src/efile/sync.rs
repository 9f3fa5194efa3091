//! `FSYNC`, `FDATASYNC`: requests for the same file that wait together share one system call.
//!
//! Each request is an operation of its own, with its probes and its answer. The first of a [group](super::group) has the
//! pool make the call; the group closes when an I/O thread takes that up. The answer, an error too, goes to all members,
//! because the system tells of a failed write only once. Where one of them asks for FSYNC, that is the call for all.
//!
//! Who owns the operation returns it:
//!
//! - a. the group, until it closes. Whoever drops the request's future takes it out: cancelled.
//! - b. the leader's work, from then on: `int_entry` and `int_return` of every member stand around the call.
//! - c. its [`Answer`], on the way to the task, which returns it when it takes it or is dropped. If the task is gone
//!   already, the I/O thread returns it.

use std::fs::File;
use std::io;
use std::sync::Arc;

use rustix::io::Errno;
use tokio::sync::oneshot;

use super::group::{Group, Seat};
use super::operation::{Entered, errno, fault_error};
use super::{Command, Descriptor, Request, answered};
use crate::aio_pool::{Fault, Flight, Lane, Work};
use crate::{sdt, tag};

/// One request of a group.
pub(super) struct Member {
    command: Command,
    answer: Answer,
    task: oneshot::Sender<Answer>,
    /// Until the task is woken.
    _flight: Option<Flight>,
}

/// An entered operation with its answer: cancelled, as long as it has no other. Returns when it is dropped.
struct Answer {
    entered: Entered,
    /// With the errno.
    result: Result<(), i32>,
}

impl Answer {
    fn take(&self) -> io::Result<()> {
        self.result.map_err(io::Error::from_raw_os_error)
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        self.entered.settle(self.take().as_ref());
    }
}

/// The work that makes the call of a group.
pub(super) struct Lead {
    /// Of the request that began the group.
    taken: sdt::Decision,
    /// Until it is settled: who has the answer may rely on it that the file is not in use any more.
    descriptor: Option<Arc<Descriptor>>,
    /// From when the group is closed.
    members: Option<Vec<Member>>,
}

impl Descriptor {
    /// Brings the file to the disk by [`Command::Fsync`] or [`Command::Fdatasync`], what was written before the first poll
    /// included.
    ///
    /// Dropped before the call begins, the request is cancelled, and others of its group are not. Dropped later, it is done to
    /// its end.
    pub(crate) async fn sync(self: &Arc<Descriptor>, command: Command) -> io::Result<()> {
        let Some(group) = self.syncs.get() else {
            // The group is that of a parent process.
            let user = Arc::clone(self);
            let work = move |_: &Request, _: &mut ()| call(user.file(), command);
            return self.driver().run_with(self.port(), self.request(command), (), work).await.0;
        };
        let entered = Entered::enter(tag::get_tag_data, self.port(), &self.request(command));
        let taken = entered.taken();
        let answer = Answer { entered, result: Err(Errno::CANCELED.raw_os_error()) };
        let (task, receiver) = oneshot::channel();
        let (seat, leads) = group.join(Member { command, answer, task, _flight: Flight::begin() });
        let _seat = Taken { descriptor: self, seat };
        if leads {
            self.driver().lead(self.port(), Lead { taken, descriptor: Some(Arc::clone(self)), members: None });
        }
        match answered(receiver).await {
            Some(answer) => answer.expect("every member is answered").take(),
            None => Err(Errno::CANCELED.into()),
        }
    }

    fn close_group(&self) -> Vec<Member> {
        self.syncs.get().map(Group::close).unwrap_or_default()
    }
}

/// Leaves the group with the future.
struct Taken<'a> {
    descriptor: &'a Descriptor,
    seat: Seat,
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        drop(self.descriptor.syncs.get().and_then(|group| group.leave(self.seat)));
    }
}

impl Work for Lead {
    type Output = io::Result<()>;

    fn lane(&self) -> Lane {
        Lane::Slow
    }

    fn taken(&self) -> sdt::Decision {
        self.taken
    }

    fn run(&mut self) -> io::Result<()> {
        let descriptor = self.descriptor.as_ref().expect("it runs before it is settled");
        let members = self.members.insert(descriptor.close_group());
        for member in &*members {
            member.answer.entered.begin();
        }
        match covering(members.iter().map(|member| member.command)) {
            Some(command) => call(descriptor.file(), command),
            // All have left.
            None => Ok(()),
        }
    }

    fn ran(&mut self) {
        for member in self.members.iter().flatten() {
            member.answer.entered.end();
        }
    }

    fn settle(&mut self, outcome: Result<&io::Result<()>, &Fault>) {
        let result = match outcome {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(errno(error)),
            Err(fault) => Err(errno(&fault_error(fault))),
        };
        // A work that was refused has not closed its group yet.
        let descriptor = self.descriptor.take().expect("it is settled once");
        let members = self.members.take().unwrap_or_else(|| descriptor.close_group());
        drop(descriptor);
        for Member { mut answer, task, _flight, .. } in members {
            answer.result = result;
            // If the task is gone, the answer is dropped here.
            let _ = task.send(answer);
        }
    }
}

fn call(file: &File, command: Command) -> io::Result<()> {
    match command {
        Command::Fsync => file.sync_all(),
        _ => file.sync_data(),
    }
}

/// The command that does what all of these ask for, if there are any.
fn covering(commands: impl Iterator<Item = Command>) -> Option<Command> {
    commands.reduce(|one, other| if one == Command::Fsync { one } else { other })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::efile::Command::{Fdatasync, Fsync};

    #[test]
    fn fsync_covers_fdatasync_and_not_the_reverse() {
        for (commands, one) in [
            (&[Fsync, Fdatasync][..], Some(Fsync)),
            (&[Fdatasync, Fsync, Fdatasync], Some(Fsync)),
            (&[Fdatasync, Fdatasync], Some(Fdatasync)),
            (&[], None),
        ] {
            assert_eq!(covering(commands.iter().copied()), one, "{commands:?}");
        }
    }
}
