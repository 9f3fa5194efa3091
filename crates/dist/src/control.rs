//! Carries out the messages of peers.

use std::sync::Arc;

use eetf::DecodeError;
use erl_dist::message::{Message as Wire, RecvError};
use erl_dist::term::{Atom, Pid, PidOrAtom, Reference, Term, Tuple};

use super::budget::Exceeded;
use super::connection::{Connection, TOO_MUCH};
use super::inner::Inner;
use super::processes::{Bonds, Link, NET_KERNEL, Watcher, bond_bytes};
use super::received::{Message, Received};
use super::term::{IntoTerm, term};
use super::text::cut;
use super::{limits, token};
use dyntrace_processes::tag::Tag;

/// The reason to end the connection.
type Refusal = String;

impl Inner {
    /// Carries out a whole message of a peer, with the user tag that came before it.
    pub(super) async fn incoming(&self, from: &Arc<Connection>, bytes: &[u8], tag: Option<Tag>) -> Result<(), Refusal> {
        let memory = limits::check(bytes, &self.options).map_err(|refused| refused.to_string())?;
        let message = decode(bytes)?;
        let deliver = |sender: Option<Pid>, to: PidOrAtom, term: Term, token: Option<Term>| {
            let token = token.and_then(token::of_term);
            // The tag came in a frame of its own.
            let memory = memory + tag.as_ref().map_or(0, |tag| tag.len());
            self.deliver(from, to, Message { sender, term, token, tag }, memory)
        };
        use PidOrAtom::{Atom as Name, Pid as Number};
        match message {
            Wire::RegSend(m) => deliver(Some(m.from_pid), Name(m.to_name), m.message, None).await,
            Wire::RegSendTt(m) => deliver(Some(m.from_pid), Name(m.to_name), m.message, Some(m.trace_token)).await,
            Wire::SendSender(m) => deliver(Some(m.from_pid), Number(m.to_pid), m.message, None).await,
            Wire::SendSenderTt(m) => deliver(Some(m.from_pid), Number(m.to_pid), m.message, Some(m.trace_token)).await,
            Wire::Send(m) => deliver(None, Number(m.to_pid), m.message, None).await,
            Wire::SendTt(m) => deliver(None, Number(m.to_pid), m.message, Some(m.trace_token)).await,

            Wire::Link(m) => self.link(from, m.from_pid, m.to_pid).await?,
            Wire::Unlink(m) => self.unlink(from, &m.from_pid, &m.to_pid)?,
            Wire::UnlinkId(m) => {
                self.unlink(from, &m.from_pid, &m.to_pid)?;
                from.signal(Wire::unlink_id_ack(m.id, m.to_pid, m.from_pid));
            }
            Wire::UnlinkIdAck(m) => self.unlinked(from, &m.id, &m.from_pid, &m.to_pid)?,

            Wire::Exit(m) => self.exit(from, m.from_pid, &m.to_pid, m.reason, memory).await?,
            Wire::ExitTt(m) => self.exit(from, m.from_pid, &m.to_pid, m.reason, memory).await?,
            Wire::PayloadExit(m) => self.exit(from, m.from_pid, &m.to_pid, m.reason, memory).await?,
            Wire::PayloadExitTt(m) => self.exit(from, m.from_pid, &m.to_pid, m.reason, memory).await?,
            Wire::Exit2(m) => self.exit2(from, m.from_pid, &m.to_pid, m.reason, memory).await?,
            Wire::Exit2Tt(m) => self.exit2(from, m.from_pid, &m.to_pid, m.reason, memory).await?,
            Wire::PayloadExit2(m) => self.exit2(from, m.from_pid, &m.to_pid, m.reason, memory).await?,
            Wire::PayloadExit2Tt(m) => self.exit2(from, m.from_pid, &m.to_pid, m.reason, memory).await?,

            Wire::MonitorP(m) => self.watch(from, m.from_pid, m.to_proc, m.reference)?,
            Wire::DemonitorP(m) => self.unwatch(from, m.from_pid, &m.to_proc, m.reference)?,
            Wire::MonitorPExit(m) => self.down(from, &m.to_pid, m.reference, m.reason, memory).await,
            Wire::PayloadMonitorPExit(m) => self.down(from, &m.to_pid, m.reference, m.reason, memory).await,
            // For nodes that spawn on behalf of others, or have group leaders.
            _ => {}
        }
        Ok(())
    }

    async fn deliver(&self, from: &Connection, to: PidOrAtom, message: Message, memory: usize) {
        if let PidOrAtom::Atom(Atom { name }) = &to
            && name == NET_KERNEL
        {
            return answer_ping(from, &message, || self.local.pid(dyntrace_processes::process::current()));
        }
        let inbox = self.number(&to).and_then(|number| self.processes.inbox(number));
        // A message to no process is lost, as in Erlang.
        if let Some(inbox) = inbox {
            inbox.put(Received::Message(message), memory, &from.budget).await;
        }
    }

    async fn put(&self, from: &Connection, to: &Pid, received: Received, memory: usize) {
        if let Some(inbox) = self.local.number(to).and_then(|number| self.processes.inbox(number)) {
            inbox.put(received, memory, &from.budget).await;
        }
    }

    /// The number of a process of this node.
    fn number(&self, process: &PidOrAtom) -> Option<u64> {
        match process {
            PidOrAtom::Pid(pid) => self.local.number(pid),
            PidOrAtom::Atom(name) => self.processes.named(&name.name),
        }
    }

    /// Waits while the inbox is above its limit. The end of a bond enters the inbox without waiting, so a new bond must wait.
    async fn room_for_a_bond(&self, process: &PidOrAtom) {
        if let Some(inbox) = self.number(process).and_then(|number| self.processes.inbox(number)) {
            inbox.room.wait(1).await;
        }
    }

    async fn link(&self, from: &Connection, other: Pid, own: Pid) -> Result<(), Refusal> {
        of_peer(from, &other)?;
        let process = PidOrAtom::Pid(own);
        self.room_for_a_bond(&process).await;
        let added = self.number(&process).and_then(|number| {
            self.processes.bonds(number, |bonds| {
                // A new link counts even if the peer has not acknowledged the end of the old one.
                if let Some(link) = bonds.links.get_mut(&other) {
                    link.ended = None;
                    return Ok(());
                }
                let charge = Some(from.budget.kept.charge(bond_bytes(&[&other.node.name]))?);
                bonds.links.insert(other.clone(), Link { ended: None, charge });
                Ok(())
            })
        });
        match (added, process) {
            (Some(added), _) => added.map_err(|Exceeded| TOO_MUCH.to_owned())?,
            (None, PidOrAtom::Pid(own)) => from.signal(Wire::exit(own, other, term!(noproc))),
            (None, PidOrAtom::Atom(_)) => {}
        }
        Ok(())
    }

    fn unlink(&self, from: &Connection, other: &Pid, own: &Pid) -> Result<(), Refusal> {
        of_peer(from, other)?;
        let number = self.local.number(own);
        number.and_then(|number| self.processes.bonds(number, |bonds| bonds.links.remove(other)));
        Ok(())
    }

    /// The peer acknowledges the end of a link: forgets the link if this was its last end.
    fn unlinked(&self, from: &Connection, id: &Term, other: &Pid, own: &Pid) -> Result<(), Refusal> {
        of_peer(from, other)?;
        let Some(number) = self.local.number(own) else { return Ok(()) };
        let acknowledged = |link: &Link| link.ended.is_some_and(|ended| ended.into_term() == *id);
        self.processes.bonds(number, |bonds| {
            if bonds.links.get(other).is_some_and(acknowledged) {
                bonds.links.remove(other);
            }
        });
        Ok(())
    }

    async fn exit(&self, from: &Connection, other: Pid, own: &Pid, reason: Term, memory: usize) -> Result<(), Refusal> {
        of_peer(from, &other)?;
        let Some(number) = self.local.number(own) else { return Ok(()) };
        // Not for a link that this side has ended.
        let link = self.processes.bonds(number, |bonds| bonds.links.remove(&other)).flatten();
        if link.is_some_and(|link| link.ended.is_none()) {
            self.put(from, own, Received::exit(other, reason), memory).await;
        }
        Ok(())
    }

    /// An exit signal that needs no link.
    async fn exit2(
        &self,
        from: &Connection,
        other: Pid,
        own: &Pid,
        reason: Term,
        memory: usize,
    ) -> Result<(), Refusal> {
        of_peer(from, &other)?;
        self.put(from, own, Received::exit(other, reason), memory).await;
        Ok(())
    }

    fn watch(&self, from: &Connection, watcher: Pid, watched: PidOrAtom, monitor: Reference) -> Result<(), Refusal> {
        of_peer(from, &watcher)?;
        if matches!(&watched, PidOrAtom::Atom(name) if name.name == NET_KERNEL) {
            return Ok(());
        }
        let added = self.number(&watched).and_then(|number| {
            self.processes.bonds(number, |bonds| {
                let watched_name = match &watched {
                    PidOrAtom::Pid(pid) => &pid.node.name,
                    PidOrAtom::Atom(name) => &name.name,
                };
                let bytes = bond_bytes(&[&watcher.node.name, &monitor.node.name, watched_name]);
                let _charge = from.budget.kept.charge(bytes)?;
                let key = (watcher.clone(), monitor.clone());
                bonds.watchers.insert(key, Watcher { watched: watched.clone(), _charge });
                Ok(())
            })
        });
        match added {
            Some(added) => added.map_err(|Exceeded| TOO_MUCH.to_owned())?,
            None => from.signal(Wire::monitor_p_exit(watched, watcher, monitor, term!(noproc))),
        }
        Ok(())
    }

    fn unwatch(&self, from: &Connection, watcher: Pid, watched: &PidOrAtom, monitor: Reference) -> Result<(), Refusal> {
        of_peer(from, &watcher)?;
        let number = self.number(watched);
        number.and_then(|number| self.processes.bonds(number, |bonds| bonds.watchers.remove(&(watcher, monitor))));
        Ok(())
    }

    async fn down(&self, from: &Connection, own: &Pid, monitor: Reference, reason: Term, memory: usize) {
        let Some(number) = self.local.number(own) else { return };
        let of_peer = |bonds: &Bonds| bonds.watched.get(&monitor).is_some_and(|(node, _)| *node == from.node);
        let watched =
            self.processes.bonds(number, |bonds| if of_peer(bonds) { bonds.watched.remove(&monitor) } else { None });
        if let Some((_, watched)) = watched.flatten() {
            self.put(from, own, Received::down(monitor, watched, reason), memory).await;
        }
    }
}

/// Bonds are between processes of the two nodes of a connection: a peer may not signal for other nodes, and the end of the connection
/// ends all its bonds.
fn of_peer(from: &Connection, pid: &Pid) -> Result<(), Refusal> {
    match pid.node.name == from.node {
        true => Ok(()),
        false => Err(cut(format_args!("it sent a signal for a process of another node, {}", pid.node.name))),
    }
}

/// Answers `net_adm:ping`, which asks the `net_kernel`: `{'$gen_call', {Pid, Tag}, {is_auth, Node}}`.
fn answer_ping(from: &Connection, message: &Message, own: impl FnOnce() -> Pid) {
    let Term::Tuple(Tuple { elements }) = &message.term else { return };
    let [Term::Atom(call), Term::Tuple(caller), Term::Tuple(question)] = &elements[..] else { return };
    let [Term::Pid(pid), tag] = &caller.elements[..] else { return };
    let asks = matches!(question.elements.first(), Some(Term::Atom(asks)) if asks.name == "is_auth");
    if call.name == "$gen_call" && asks {
        from.signal(Wire::send_sender(own(), pid.clone(), term!({(tag.clone()), yes})));
    }
}

/// `bytes` have passed [`limits::check`].
pub(super) fn decode(bytes: &[u8]) -> Result<Wire, Refusal> {
    match of_send_tt(bytes) {
        Some(message) => Ok(message),
        None => Wire::read_from(&mut &bytes[..]).map_err(|reason| match reason {
            // Its text would include the value: it may be as long as a message, or an integer that takes hours to format.
            RecvError::Decode(DecodeError::UnexpectedType { expected, .. }) => {
                format!("a part of a message is not a {expected}")
            }
            reason => cut(reason),
        }),
    }
}

/// SEND_TT, which erl_dist reads with token and receiver exchanged. Nodes that do not tell the sender use it.
fn of_send_tt(mut bytes: &[u8]) -> Option<Wire> {
    if !bytes.starts_with(&[131, 104, 4, 97, 12]) {
        return None;
    }
    let Term::Tuple(Tuple { elements }) = Term::decode(&mut bytes).ok()? else { return None };
    let [_, _, Term::Pid(to), token] = <[Term; 4]>::try_from(elements).ok()? else { return None };
    Some(Wire::send_tt(to, Term::decode(bytes).ok()?, token))
}
