//! Joins the two ends of messages by their tokens.

use std::collections::HashMap;

use dyntrace_fleet::clocks::Message;

/// The label and the two counts of a token.
pub type Key = [i64; 3];

/// A step of a message that has a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Sent to a process of the same node.
    Send,
    /// Sent to another node.
    SendRemote,
    Receive,
}

/// A host by its number, and a time on its clock.
#[derive(Clone, Copy)]
struct End {
    host: usize,
    time: i64,
}

/// The ends of the messages with a key.
#[derive(Default)]
struct Ends {
    sent: KeyEnds,
    received: KeyEnds,
    /// Whether it was sent to another node.
    is_remote: bool,
}

#[derive(Default)]
enum KeyEnds {
    #[default]
    Never,
    Once(End),
    /// By messages that cannot be told apart.
    Often,
}

/// The steps so far. Memory grows with the number of keys.
#[derive(Default)]
pub struct Join {
    keys: HashMap<Key, Ends>,
}

/// Messages between hosts, and those that are not among them.
pub struct Joined {
    /// In no order.
    pub messages: Vec<Message>,
    /// Keys of messages to other nodes that were sent or received twice.
    pub ambiguous: u64,
    /// Messages to other nodes whose receive the data set lacks.
    pub unreceived: u64,
}

impl Join {
    pub fn add(&mut self, step: Step, key: Key, host: usize, time: i64) {
        let ends = self.keys.entry(key).or_default();
        ends.is_remote |= step == Step::SendRemote;
        let seen = if step == Step::Receive { &mut ends.received } else { &mut ends.sent };
        *seen = match seen {
            KeyEnds::Never => KeyEnds::Once(End { host, time }),
            KeyEnds::Once(_) | KeyEnds::Often => KeyEnds::Often,
        };
    }

    /// Returns the messages. A key that was also used by a message within a node is ambiguous: its receive may be of that.
    pub fn finish(self) -> Joined {
        let mut joined = Joined { messages: Vec::new(), ambiguous: 0, unreceived: 0 };
        for ends in self.keys.into_values().filter(|ends| ends.is_remote) {
            match (ends.sent, ends.received) {
                (KeyEnds::Often, _) | (_, KeyEnds::Often) => joined.ambiguous += 1,
                (KeyEnds::Once(from), KeyEnds::Once(to)) if from.host != to.host => {
                    let message = Message { from: from.host, sent: from.time, to: to.host, received: to.time };
                    joined.messages.push(message);
                }
                // Between nodes of one host, which have one clock.
                (KeyEnds::Once(_), KeyEnds::Once(_)) => {}
                (_, KeyEnds::Never) | (KeyEnds::Never, _) => joined.unreceived += 1,
            }
        }
        joined
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_occurs_twice_tells_no_message() {
        use Step::{Receive, Send, SendRemote};
        let steps = [
            (SendRemote, 1, 0, 10),
            (Receive, 1, 1, 20),
            // Received twice.
            (SendRemote, 2, 0, 30),
            (Receive, 2, 1, 40),
            (Receive, 2, 2, 41),
            // The same counts within a node.
            (SendRemote, 3, 0, 50),
            (Send, 3, 1, 51),
            (Receive, 3, 1, 52),
            // Within nodes only.
            (Send, 4, 0, 60),
            (Receive, 4, 0, 61),
            (Receive, 4, 0, 62),
            // Not received, and received on the same host.
            (SendRemote, 5, 0, 70),
            (SendRemote, 6, 1, 80),
            (Receive, 6, 1, 81),
        ];
        let mut join = Join::default();
        for (step, label, host, time) in steps {
            join.add(step, [label, 0, 1], host, time);
        }
        let joined = join.finish();
        assert_eq!(joined.messages, [Message { from: 0, sent: 10, to: 1, received: 20 }]);
        assert_eq!((joined.ambiguous, joined.unreceived), (2, 1));
    }
}
