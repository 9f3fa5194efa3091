//! Sends messages to other nodes.

use std::panic::Location;
use std::sync::Arc;

use erl_dist::message::Message as Wire;
use erl_dist::term::{Atom, Term};

use super::connection::Connection;
use super::destination::Destination;
use super::error::Error;
use super::inner::Inner;
use super::term::{mend, words};
use super::waits::OtherNode;
use super::{frame, token};
use dyntrace_processes::probes::{dist, message};
use dyntrace_processes::process;
use dyntrace_processes::seq_trace::{self, Token};
use dyntrace_processes::tag;
use dyntrace_processes::waiting::Waiting;

impl Inner {
    /// Sends a message of the process `sender`. Tracers see the sender as `shown`, and its waits at `place`.
    pub(super) async fn send(
        self: &Arc<Self>,
        sender: process::Pid,
        shown: process::Pid,
        to: Destination,
        mut term: Term,
        place: &'static Location<'static>,
    ) -> Result<(), Error> {
        let connection = self.connection_at(to.node(), place).await?;
        mend(&mut term);
        let token = seq_trace::on_send();
        let fired = message::send_remote::is_enabled().then(|| (to.shown(), words(&term)));
        let frame = self.frame(&connection, sender, to, term, token.as_ref())?;
        let busy = || {
            dist::port_busy(|| (self.local.name.as_str(), &*connection.node, &*connection.node, shown));
        };
        let accepted = || {
            if let Some((receiver, size)) = &fired {
                let (label, previous, current) = Token::shown(token.as_ref());
                message::send_remote(|| (shown, &*connection.node, &**receiver, *size, label, previous, current));
            }
        };
        let sent = connection.send(&frame, busy, accepted);
        let room = Waiting::new(OtherNode::new(&connection.node, "dist::send"), place, sent);
        room.await.map_err(|_| connection.error())
    }

    /// Encodes a message, after the sender's user tag if the peer takes tags.
    fn frame(
        &self,
        connection: &Connection,
        sender: process::Pid,
        to: Destination,
        term: Term,
        token: Option<&Token>,
    ) -> Result<Vec<u8>, Error> {
        let from = self.local.pid(sender);
        let token = token.map(|token| token::to_term(token, from.clone()));
        let message = match (to, token) {
            (Destination::Pid(to), None) => Wire::send_sender(from, to, term),
            (Destination::Pid(to), Some(token)) => Wire::send_sender_tt(from, to, term, token),
            (Destination::Name { name, .. }, None) => Wire::reg_send(from, Atom::from(name), term),
            (Destination::Name { name, .. }, Some(token)) => Wire::reg_send_tt(from, Atom::from(name), term, token),
        };
        let node = || connection.node.clone();
        let mut bytes = Vec::with_capacity(128);
        if let Some(tag) = tag::sent().filter(|_| connection.is_ours) {
            let Ok(()) = frame::write(&mut bytes, frame::USER_TAG, |bytes| {
                bytes.extend_from_slice(tag.as_bytes());
                Ok::<_, std::convert::Infallible>(())
            });
        }
        frame::message(&mut bytes, message).map_err(|reason| Error::Encode { node: node(), reason })?;
        let limit = self.options.max_message;
        if bytes.len() > limit {
            return Err(Error::TooLarge { node: node(), size: bytes.len(), limit });
        }
        Ok(bytes)
    }
}
