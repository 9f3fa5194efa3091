//! Messages and signals that inboxes receive.

use erl_dist::term::{Pid, PidOrAtom, Reference, Term};

use super::term::words;
use dyntrace_processes::probes::message;
use dyntrace_processes::process;
use dyntrace_processes::seq_trace::Token;
use dyntrace_processes::tag::Tag;

/// A message or signal of a process of another node, for an [`Inbox`](super::Inbox).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Received {
    /// A message.
    Message(Message),
    /// A process that the inbox was [linked](super::Inbox::link) to has ended, or a process has sent an exit signal.
    Exit {
        /// The process.
        from: Pid,
        /// The reason, as in Erlang; `noconnection` if the connection to its node is lost.
        reason: Term,
    },
    /// A process that the inbox [monitored](super::Inbox::monitor) has ended, or did not exist.
    Down {
        /// The monitor, which has ended too.
        monitor: Reference,
        /// The monitored pid or name.
        process: Term,
        /// The reason, as for [`Received::Exit`].
        reason: Term,
    },
}

/// A message of a process of another node.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// The sender; `None` if its node is older than OTP 21, which does not tell.
    pub sender: Option<Pid>,
    /// The term.
    pub term: Term,
    /// The sequential trace token of the message.
    pub token: Option<Token>,
    /// The user tag of a sender on a node of dyntrace, if it [spreads](dyntrace_processes::spread_tag).
    pub tag: Option<Tag>,
}

impl Received {
    pub(super) fn exit(from: Pid, reason: Term) -> Received {
        Received::Exit { from, reason }
    }

    pub(super) fn down(monitor: Reference, process: PidOrAtom, reason: Term) -> Received {
        Received::Down { monitor, process: process.into(), reason }
    }

    /// Fires `message-queued`, if this is a message.
    pub(super) fn fire_queued(&self, receiver: process::Pid, length: usize) {
        let Received::Message(Message { term, token, .. }) = self else { return };
        message::queued(|| {
            let (label, previous, current) = Token::shown(token.as_ref());
            (receiver, words(term), length.try_into().unwrap_or(u32::MAX), label, previous, current)
        });
    }

    /// Fires `message-receive`, likewise.
    pub(super) fn fire_receive(&self, receiver: process::Pid, length: usize) {
        let Received::Message(Message { term, token, .. }) = self else { return };
        message::receive(|| {
            let (label, previous, current) = Token::shown(token.as_ref());
            (receiver, words(term), length.try_into().unwrap_or(u32::MAX), label, previous, current)
        });
    }
}
