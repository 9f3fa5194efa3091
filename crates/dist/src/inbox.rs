//! Inboxes: processes of this node, as other nodes see them.

use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use erl_dist::message::Message as Wire;
use erl_dist::term::{Pid, PidOrAtom, Reference, Term};
use tokio::sync::mpsc;

use super::budget::Account;
use super::connection::TOO_MUCH;
use super::destination::Destination;
use super::error::Error;
use super::inner::Inner;
use super::node::Node;
use super::processes::{Bonds, InboxSender, Link, Queued, State, Watcher, bond_bytes};
use super::received::{Message, Received};
use super::term::{IntoTerm, term};
use dyntrace_processes::process;
use dyntrace_processes::waiting::{OwnMailbox, Waiting};
use dyntrace_processes::{seq_trace, tag};

/// A process of this node to other nodes: it has a pid, and a name if it was [registered](Node::register). Other nodes can send to
/// it, link to it and monitor it. The process ends when the inbox is dropped.
///
/// The first inbox of a process has the pid of the process, so that tracers see messages, file operations and all other events of the
/// process under one pid. Further inboxes have pids of their own, and so have those opened by tasks of [`tokio::spawn`], which are
/// not processes. Tracers see the process that waits at the inbox as the receiver.
#[derive(Debug)]
pub struct Inbox {
    node: Node,
    process: process::Pid,
    queue: mpsc::UnboundedReceiver<Queued>,
    state: Arc<State>,
    room: Arc<Account>,
    /// The exit reason for linked and monitoring processes.
    reason: Term,
}

impl Node {
    /// Opens an inbox without a name.
    pub fn inbox(&self) -> Inbox {
        Inbox::open(self.clone(), None).unwrap_or_else(|_| unreachable!("only a name can be taken already"))
    }

    /// Opens an inbox that processes of other nodes send to by `name`.
    ///
    /// # Errors
    ///
    /// [`Error::Registered`] if another inbox of this node has the name.
    pub fn register(&self, name: &str) -> Result<Inbox, Error> {
        Inbox::open(self.clone(), Some(name))
    }
}

impl Inbox {
    fn open(node: Node, name: Option<&str>) -> Result<Inbox, Error> {
        let (sender, queue) = mpsc::unbounded_channel();
        let room = Account::new(node.life.inner.options.mailbox_limit);
        let process = process::give().unwrap_or_else(process::Pid::next);
        let state = Arc::new(State::new(process));
        let inbox = InboxSender { pid: process, queue: sender, state: state.clone(), room: room.clone() };
        node.life.inner.processes.open(inbox, name)?;
        Ok(Inbox { node, process, queue, state, room, reason: term!(normal) })
    }

    fn inner(&self) -> &Arc<Inner> {
        &self.node.life.inner
    }

    /// Returns the pid, to send it to other processes.
    pub fn pid(&self) -> Pid {
        self.inner().local.pid(self.process)
    }

    /// Receives the next message or signal. Waits for one if there is none.
    ///
    /// The current process takes on the token and the user tag of a message, see [`seq_trace`] and [`spread_tag`](dyntrace_processes::spread_tag).
    ///
    /// Cancellation loses nothing.
    #[track_caller]
    pub fn recv(&mut self) -> impl Future<Output = Received> {
        self.recv_at(Location::caller())
    }

    async fn recv_at(&mut self, place: &'static Location<'static>) -> Received {
        self.shown();
        match Waiting::new(OwnMailbox::new("dist::Inbox::recv"), place, self.queue.recv()).await {
            Some(queued) => self.taken(queued),
            // The queue closes only with the inbox.
            None => std::future::pending().await,
        }
    }

    /// Receives the next message. Waits for one if there is none. Drops signals that come before it.
    #[track_caller]
    pub fn recv_message(&mut self) -> impl Future<Output = Message> {
        let place = Location::caller();
        async move {
            loop {
                if let Received::Message(message) = self.recv_at(place).await {
                    return message;
                }
            }
        }
    }

    /// Receives the next message or signal, if there is one.
    pub fn try_recv(&mut self) -> Option<Received> {
        self.queue.try_recv().ok().map(|queued| self.taken(queued))
    }

    fn taken(&self, queued: Queued) -> Received {
        let length = self.state.length.fetch_sub(1, Ordering::Relaxed) - 1;
        queued.received.fire_receive(self.shown(), length);
        if let Received::Message(message) = &queued.received {
            seq_trace::on_receive(message.token.clone());
            tag::on_receive(message.tag.clone());
        }
        queued.received
    }

    /// The pid for tracers: that of the current process, from now on.
    fn shown(&self) -> process::Pid {
        if let Some(pid) = process::own() {
            self.state.set_shown(pid);
        }
        self.state.shown()
    }

    /// Sends a message like [`Node::send`], with this inbox as the sender, so that answers arrive here.
    ///
    /// # Errors
    ///
    /// Those of [`Node::send`].
    #[track_caller]
    pub fn send(&self, to: impl Into<Destination>, term: Term) -> impl Future<Output = Result<(), Error>> {
        let (place, to) = (Location::caller(), to.into());
        async move { self.inner().send(self.process, self.shown(), to, term, place).await }
    }

    /// Links the inbox to a process of another node. When either ends, or the connection is lost, the other side gets an exit signal: the
    /// inbox receives [`Received::Exit`].
    ///
    /// # Errors
    ///
    /// Those of [`Node::connect`].
    pub async fn link(&self, other: &Pid) -> Result<(), Error> {
        let connection = self.inner().connection(&other.node.name).await?;
        let bonds = |bonds: &mut Bonds| bonds.links.insert(other.clone(), Link::default());
        connection.bind(|| _ = self.inner().processes.bonds(self.process.number(), bonds))?;
        connection.signal(Wire::link(self.pid(), other.clone()));
        Ok(())
    }

    /// Removes a link. It causes no [`Received::Exit`] any more.
    pub fn unlink(&self, other: &Pid) {
        let Some(connection) = self.inner().peers.connected(&other.node.name) else { return };
        // Relaxed: the numbers need only differ. They are from 1 to 2^63 - 1, as the protocol demands.
        let id = self.inner().references.fetch_add(1, Ordering::Relaxed);
        let ended = self.inner().processes.bonds(self.process.number(), |bonds| {
            let link = bonds.links.get_mut(other).filter(|link| link.ended.is_none())?;
            link.ended = Some(id);
            // The link is kept until the peer acknowledges this, so the peer is charged.
            if link.charge.is_none() {
                link.charge = connection.budget.kept.charge(bond_bytes(&[&other.node.name])).ok();
            }
            Some(link.charge.is_some())
        });
        match ended.flatten() {
            Some(true) => connection.signal(Wire::unlink_id(id.into_term(), self.pid(), other.clone())),
            Some(false) => connection.close(TOO_MUCH),
            None => {}
        }
    }

    /// Monitors a process of another node. The inbox receives one [`Received::Down`] when the process ends or the connection is lost, or
    /// at once if there is no such process.
    ///
    /// # Errors
    ///
    /// Those of [`Node::connect`].
    pub async fn monitor(&self, process: impl Into<Destination>) -> Result<Reference, Error> {
        let process = process.into();
        let node = process.node().to_owned();
        let connection = self.inner().connection(&node).await?;
        let watched = match process {
            Destination::Pid(pid) => PidOrAtom::Pid(pid),
            Destination::Name { name, .. } => PidOrAtom::Atom(name.into()),
        };
        let monitor = self.inner().reference();
        let entry = (node, watched.clone());
        let bonds = |bonds: &mut Bonds| bonds.watched.insert(monitor.clone(), entry);
        connection.bind(|| _ = self.inner().processes.bonds(self.process.number(), bonds))?;
        connection.signal(Wire::monitor_p(self.pid(), watched, monitor.clone()));
        Ok(monitor)
    }

    /// Removes a monitor. It causes no [`Received::Down`] any more.
    pub fn demonitor(&self, monitor: &Reference) {
        let removed = self.inner().processes.bonds(self.process.number(), |bonds| bonds.watched.remove(monitor));
        if let Some((node, watched)) = removed.flatten()
            && let Some(connection) = self.inner().peers.connected(&node)
        {
            connection.signal(Wire::demonitor_p(self.pid(), watched, monitor.clone()));
        }
    }

    /// Ends the process for a reason other than `normal`.
    pub fn exit(mut self, reason: Term) {
        self.reason = reason;
    }
}

impl Drop for Inbox {
    fn drop(&mut self) {
        // Lets connections whose messages wait for room continue.
        self.room.close();
        let own = self.pid();
        let inner = self.inner();
        let bonds = inner.processes.close(self.process.number());
        for (other, link) in bonds.links {
            if let (None, Some(connection)) = (link.ended, inner.peers.connected(&other.node.name)) {
                connection.signal(Wire::exit(own.clone(), other, self.reason.clone()));
            }
        }
        for ((watcher, monitor), Watcher { watched, .. }) in bonds.watchers {
            if let Some(connection) = inner.peers.connected(&watcher.node.name) {
                connection.signal(Wire::monitor_p_exit(watched, watcher, monitor, self.reason.clone()));
            }
        }
        for (monitor, (node, watched)) in bonds.watched {
            if let Some(connection) = inner.peers.connected(&node) {
                connection.signal(Wire::demonitor_p(own.clone(), watched, monitor));
            }
        }
    }
}
