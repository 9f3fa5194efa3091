//! `FSYNC`, `FDATASYNC`: requests for the same file that wait together share one system call.
//!
//! Each request is an operation of its own, with its probes and its outcome. The first of a [group](super::group) has the pool make the
//! call; the group closes when an I/O thread starts that job. The outcome, an error too, goes to all members, because the system reports
//! a failed write only once. If one of them is an FSYNC, the call for all is fsync(2).
//!
//! The owner of an operation fires its `return`:
//!
//! - a. the group, until it closes. A thread that drops the request's future removes the request: cancelled.
//! - b. then the [`SyncJob`]: `int_entry` and `int_return` of every member stand around the call.
//! - c. then its [`SyncAnswer`], on the way to the task, which fires `return` when it takes the answer or is dropped. If the task is gone
//!   already, the I/O thread fires it.

use std::fs::File;
use std::io;
use std::mem;
use std::sync::Arc;

use dyntrace_probes::sdt::Decision;
use rustix::io::Errno;
use tokio::sync::oneshot;

use super::command::Command;
use super::coop::answered;
use super::descriptor::Descriptor;
use super::group::{Group, MemberId};
use super::operation::{Entered, errno, fault_error};
use super::request::Request;
use super::waits;
use crate::aio_pool::{ClockHold, Counts, Fault, Job, Lane, contain};

/// One request of a group.
pub(super) struct Member {
    answer: SyncAnswer,
    task: oneshot::Sender<SyncAnswer>,
    /// Until the task is woken.
    _hold: Option<ClockHold>,
}

/// An entered operation with its result, which is ECANCELED until it is set. Fires `return` when it is dropped.
struct SyncAnswer {
    command: Command,
    entered: Entered,
    /// The error is an errno.
    result: Result<(), i32>,
}

impl SyncAnswer {
    fn take(&self) -> io::Result<()> {
        self.result.map_err(io::Error::from_raw_os_error)
    }
}

impl Drop for SyncAnswer {
    fn drop(&mut self) {
        self.entered.settle(&self.command, || (self.result.err(), 0));
    }
}

/// The job that makes the call of a group.
struct SyncJob {
    /// Of the group's leader.
    taken: Decision,
    /// Until the job is settled: a task that has its answer can rely on it that the job does not use the file any more.
    descriptor: Option<Arc<Descriptor>>,
    /// Set when the group is closed.
    members: Option<Vec<Member>>,
}

impl Descriptor {
    /// Syncs the file, including all writes that ended before the first poll, by [`Command::Fsync`] or [`Command::Fdatasync`].
    ///
    /// If the future is dropped before the call begins, the request is cancelled; others of its group are not. If it is dropped later,
    /// the request ends with the call.
    pub(crate) async fn sync(self: &Arc<Descriptor>, command: Command) -> io::Result<()> {
        let Some(group) = self.syncs.get() else {
            // The group belongs to the parent process.
            let user = Arc::clone(self);
            let work = move |_: &Request, _: &mut ()| call(user.file(), command);
            return self.driver().run_with(self.port(), self.request(command), (), work).await.0;
        };
        let entered = Entered::enter(self.port(), &self.request(command));
        let taken = entered.taken();
        let answer = SyncAnswer { command, entered, result: Err(Errno::CANCELED.raw_os_error()) };
        let (task, receiver) = oneshot::channel();
        let (id, leads) = group.join(Member { answer, task, _hold: ClockHold::begin() });
        let membership = Membership { descriptor: self, id };
        if leads {
            let job = SyncJob { taken, descriptor: Some(Arc::clone(self)), members: None };
            self.driver().submit_detached(self.port(), job);
        }
        match answered(receiver).await {
            Some(answer) => {
                // A member with an answer is in no group any more.
                mem::forget(membership);
                answer.expect("every member gets an answer").take()
            }
            None => Err(Errno::CANCELED.into()),
        }
    }

    fn close_group(&self) -> Vec<Member> {
        self.syncs.get().map(Group::close).unwrap_or_default()
    }
}

/// Leaves the group when the future is dropped before the answer. Owns nothing.
struct Membership<'a> {
    descriptor: &'a Descriptor,
    id: MemberId,
}

impl Drop for Membership<'_> {
    fn drop(&mut self) {
        let member = self.descriptor.syncs.get().and_then(|group| group.leave(self.id));
        if member.is_none() {
            // The call is being made, for the others too.
            waits::give_up();
        }
        drop(member);
    }
}

impl Job for SyncJob {
    type Output = io::Result<()>;

    fn lane(&self) -> Lane {
        Lane::Slow
    }

    fn taken(&self) -> Decision {
        self.taken
    }

    fn run(&mut self) -> io::Result<()> {
        let descriptor = self.descriptor.as_ref().expect("a job runs before it is settled");
        let members = self.members.insert(descriptor.close_group());
        for member in &*members {
            member.answer.entered.begin(&member.answer.command);
        }
        match covering(members.iter().map(|member| member.answer.command)) {
            Some(command) => call(descriptor.file(), command),
            // All members have left.
            None => Ok(()),
        }
    }

    fn ran(&mut self) {
        for member in self.members.iter().flatten() {
            member.answer.entered.end(&member.answer.command);
        }
    }

    fn count(&self, output: Option<&io::Result<()>>, counts: &mut Counts) {
        for member in self.members.iter().flatten() {
            member.answer.command.count(counts, matches!(output, Some(Ok(()))), 0);
        }
    }

    fn settle(&mut self, outcome: Result<&io::Result<()>, &Fault>) {
        let result = match outcome {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(errno(error)),
            Err(fault) => Err(errno(&fault_error(fault))),
        };
        // A refused job has not closed its group yet.
        let descriptor = self.descriptor.take().expect("a job is settled once");
        let members = self.members.take().unwrap_or_else(|| descriptor.close_group());
        drop(descriptor);
        for Member { mut answer, task, _hold, .. } in members {
            answer.result = result;
            // If the task is gone, this drops the answer. Its waker may panic, which is not the concern of the other members.
            contain(|| drop(task.send(answer)));
        }
    }
}

fn call(file: &File, command: Command) -> io::Result<()> {
    match command {
        Command::Fsync => file.sync_all(),
        _ => file.sync_data(),
    }
}

/// Returns the command that covers all of `commands`, or `None` if there are none.
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
