//! What each message of a peer does.

use std::sync::Arc;

use erl_dist::message::Message as Wire;
use erl_dist::term::{Atom, Pid, PidOrAtom, Reference, Term, Tuple};

use super::connection::Connection;
use super::node::Inner;
use super::processes::NET_KERNEL;
use super::received::{Message, Received};
use super::term::{IntoTerm, term};
use super::{limits, token};
use crate::tag::Tag;

/// What is not what it has to be ends the connection.
type Refusal = String;

impl Inner {
    /// Takes a whole message of a peer, with the user tag that came before it.
    pub(super) async fn incoming(&self, from: &Arc<Connection>, bytes: &[u8], tag: Option<Tag>) -> Result<(), Refusal> {
        let memory = limits::check(bytes, &self.options).map_err(|refused| refused.to_string())?;
        let message = decode(bytes)?;
        let deliver = |sender: Option<Pid>, to: PidOrAtom, term: Term, token: Option<Term>| {
            let token = token.and_then(token::of_term);
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

            Wire::Link(m) => self.link(from, m.from_pid, m.to_pid)?,
            Wire::Unlink(m) => self.unlink(&m.from_pid, &m.to_pid),
            Wire::UnlinkId(m) => {
                self.unlink(&m.from_pid, &m.to_pid);
                from.signal(Wire::unlink_id_ack(m.id, m.to_pid, m.from_pid));
            }
            Wire::UnlinkIdAck(m) => self.unlinked(&m.id, &m.from_pid, &m.to_pid),

            Wire::Exit(m) => self.exit(m.from_pid, &m.to_pid, m.reason, memory).await,
            Wire::ExitTt(m) => self.exit(m.from_pid, &m.to_pid, m.reason, memory).await,
            Wire::PayloadExit(m) => self.exit(m.from_pid, &m.to_pid, m.reason, memory).await,
            Wire::PayloadExitTt(m) => self.exit(m.from_pid, &m.to_pid, m.reason, memory).await,
            Wire::Exit2(m) => self.put(&m.to_pid, Received::exit(m.from_pid, m.reason), memory).await,
            Wire::Exit2Tt(m) => self.put(&m.to_pid, Received::exit(m.from_pid, m.reason), memory).await,
            Wire::PayloadExit2(m) => self.put(&m.to_pid, Received::exit(m.from_pid, m.reason), memory).await,
            Wire::PayloadExit2Tt(m) => self.put(&m.to_pid, Received::exit(m.from_pid, m.reason), memory).await,

            Wire::MonitorP(m) => self.watch(from, m.from_pid, m.to_proc, m.reference)?,
            Wire::DemonitorP(m) => {
                let number = self.number(&m.to_proc);
                number.and_then(|number| self.processes.bonds(number, |bonds| bonds.watchers.remove(&m.reference)));
            }
            Wire::MonitorPExit(m) => self.down(&m.to_pid, m.reference, m.reason, memory).await,
            Wire::PayloadMonitorPExit(m) => self.down(&m.to_pid, m.reference, m.reason, memory).await,
            // What is for nodes that start processes for others, or have group leaders.
            _ => {}
        }
        Ok(())
    }

    async fn deliver(&self, from: &Connection, to: PidOrAtom, message: Message, memory: usize) {
        if let PidOrAtom::Atom(Atom { name }) = &to
            && name == NET_KERNEL
        {
            return answer_ping(from, &message, || self.local.pid(crate::process::current()));
        }
        let door = self.number(&to).and_then(|number| self.processes.door(number));
        // What is sent to nobody is lost, as in Erlang.
        if let Some(door) = door {
            door.put(Received::Message(message), memory).await;
        }
    }

    async fn put(&self, to: &Pid, received: Received, memory: usize) {
        if let Some(door) = self.local.number(to).and_then(|number| self.processes.door(number)) {
            door.put(received, memory).await;
        }
    }

    /// The number of a process of this node.
    fn number(&self, process: &PidOrAtom) -> Option<u64> {
        match process {
            PidOrAtom::Pid(pid) => self.local.number(pid),
            PidOrAtom::Atom(name) => self.processes.named(&name.name),
        }
    }

    fn link(&self, from: &Connection, other: Pid, own: Pid) -> Result<(), Refusal> {
        let linked = self.local.number(&own).and_then(|number| {
            self.processes.bonds(number, |bonds| {
                let room = bonds.has_room();
                // A link made anew while the end of the one before is not acknowledged is a link.
                room.then(|| bonds.links.insert(other.clone(), None)).is_some()
            })
        });
        match linked {
            Some(true) => {}
            Some(false) => return Err("it has more links and monitors to one process than that may have".to_owned()),
            None => from.signal(Wire::exit(own, other, term!(noproc))),
        }
        Ok(())
    }

    fn unlink(&self, other: &Pid, own: &Pid) {
        let number = self.local.number(own);
        number.and_then(|number| self.processes.bonds(number, |bonds| bonds.links.remove(other)));
    }

    /// The other side knows that a link has ended: if it is the last one that this side ended, it is forgotten.
    fn unlinked(&self, id: &Term, other: &Pid, own: &Pid) {
        let Some(number) = self.local.number(own) else { return };
        let acknowledged = |ended: &mut Option<u64>| ended.is_some_and(|ended| ended.into_term() == *id);
        self.processes.bonds(number, |bonds| {
            if bonds.links.get_mut(other).is_some_and(acknowledged) {
                bonds.links.remove(other);
            }
        });
    }

    async fn exit(&self, other: Pid, own: &Pid, reason: Term, memory: usize) {
        let Some(number) = self.local.number(own) else { return };
        // Not of a link that this side has ended.
        if self.processes.bonds(number, |bonds| bonds.links.remove(&other)).flatten() == Some(None) {
            self.put(own, Received::exit(other, reason), memory).await;
        }
    }

    fn watch(&self, from: &Connection, watcher: Pid, watched: PidOrAtom, monitor: Reference) -> Result<(), Refusal> {
        if matches!(&watched, PidOrAtom::Atom(name) if name.name == NET_KERNEL) {
            return Ok(());
        }
        let added = self.number(&watched).and_then(|number| {
            self.processes.bonds(number, |bonds| {
                let room = bonds.has_room();
                room.then(|| bonds.watchers.insert(monitor.clone(), (watcher.clone(), watched.clone()))).is_some()
            })
        });
        match added {
            Some(true) => {}
            Some(false) => return Err("it has more links and monitors to one process than that may have".to_owned()),
            None => from.signal(Wire::monitor_p_exit(watched, watcher, monitor, term!(noproc))),
        }
        Ok(())
    }

    async fn down(&self, own: &Pid, monitor: Reference, reason: Term, memory: usize) {
        let Some(number) = self.local.number(own) else { return };
        let watched = self.processes.bonds(number, |bonds| bonds.watched.remove(&monitor)).flatten();
        if let Some((_, watched)) = watched {
            self.put(own, Received::down(monitor, watched, reason), memory).await;
        }
    }
}

/// `net_adm:ping` asks the `net_kernel` of a node whether it is one: `{'$gen_call', {Pid, Tag}, {is_auth, Node}}`.
fn answer_ping(from: &Connection, message: &Message, own: impl FnOnce() -> Pid) {
    let Term::Tuple(Tuple { elements }) = &message.term else { return };
    let [Term::Atom(call), Term::Tuple(caller), Term::Tuple(question)] = &elements[..] else { return };
    let [Term::Pid(pid), tag] = &caller.elements[..] else { return };
    let asks = matches!(question.elements.first(), Some(Term::Atom(asks)) if asks.name == "is_auth");
    if call.name == "$gen_call" && asks {
        from.signal(Wire::send_sender(own(), pid.clone(), term!({(tag.clone()), yes})));
    }
}

/// For bytes that [`limits::check`] has passed.
pub(super) fn decode(bytes: &[u8]) -> Result<Wire, Refusal> {
    match of_send_tt(bytes) {
        Some(message) => Ok(message),
        None => Wire::read_from(&mut &bytes[..]).map_err(|reason| reason.to_string()),
    }
}

/// SEND_TT, which erl_dist reads with the token and the receiver exchanged. Nodes that do not tell who sends use it.
fn of_send_tt(mut bytes: &[u8]) -> Option<Wire> {
    if !bytes.starts_with(&[131, 104, 4, 97, 12]) {
        return None;
    }
    let Term::Tuple(Tuple { elements }) = Term::decode(&mut bytes).ok()? else { return None };
    let [_, _, Term::Pid(to), token] = <[Term; 4]>::try_from(elements).ok()? else { return None };
    Some(Wire::send_tt(to, Term::decode(bytes).ok()?, token))
}
