//! Aligns the clocks. Hosts whose messages contradict those of the others are left out.

use std::collections::{BTreeMap, BTreeSet};

use dyntrace_fleet::clocks::{Alignment, Message, align};

/// The aligned clocks.
pub struct Solved {
    pub reference: usize,
    pub alignment: Alignment,
    pub left_out: Vec<LeftOut>,
}

/// A host that was left out, and the messages that contradict each other.
pub struct LeftOut {
    pub host: usize,
    pub messages: Vec<Message>,
}

/// Aligns the clocks of the hosts that messages connect with the host `reference`.
pub fn solve(reference: usize, mut messages: Vec<Message>, drift: u32) -> Solved {
    let mut left_out = Vec::new();
    loop {
        let contradiction = match align(reference, &messages, drift) {
            Ok(alignment) => return Solved { reference, alignment, left_out },
            Err(contradiction) => contradiction,
        };
        let circle: Vec<Message> = contradiction.messages.iter().map(|&at| messages[at]).collect();
        // Each message is between two hosts, so one of them is not the reference.
        let host = suspect(reference, &circle, &messages);
        messages.retain(|message| ![message.from, message.to].contains(&host));
        left_out.push(LeftOut { host, messages: circle });
    }
}

/// The host of the circle that is left out: that which has messages with the fewest others, so that these stay connected; of several that
/// with the fewest messages.
fn suspect(reference: usize, circle: &[Message], messages: &[Message]) -> usize {
    let hosts = circle.iter().flat_map(|message| [message.from, message.to]).filter(|host| *host != reference);
    let mut of_hosts: BTreeMap<usize, (BTreeSet<usize>, usize)> =
        hosts.map(|host| (host, Default::default())).collect();
    for message in messages {
        for (host, other) in [(message.from, message.to), (message.to, message.from)] {
            if let Some((others, count)) = of_hosts.get_mut(&host) {
                others.insert(other);
                *count += 1;
            }
        }
    }
    let least = of_hosts.iter().min_by_key(|(host, (others, count))| (others.len(), *count, **host));
    least.map_or(reference, |(host, _)| *host)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(from: usize, sent: i64, to: usize, received: i64) -> Message {
        Message { from, sent, to, received }
    }

    #[test]
    fn a_host_whose_clock_was_set_is_left_out() {
        let mut messages = vec![];
        for round in 0..10 {
            let at = round * 1_000_000;
            // 1 and 2 talk with 0 and with each other, 3 with 2 only.
            for (one, other) in [(0, 1), (1, 2), (0, 2)] {
                messages.extend([message(one, at, other, at + 10), message(other, at + 20, one, at + 30)]);
            }
            // Set back by 1 s.
            let there = if round < 5 { at } else { at - 1_000_000_000 };
            messages.extend([message(2, at, 3, there + 10), message(3, there + 20, 2, at + 30)]);
        }
        let solved = solve(0, messages.clone(), 200);
        let left_out: Vec<usize> = solved.left_out.iter().map(|out| out.host).collect();
        assert_eq!(left_out, [3]);
        assert!(solved.left_out[0].messages.iter().any(|message| [message.from, message.to].contains(&3)));
        assert!((0..3).all(|host| !solved.alignment.pieces(host).is_empty()));
        assert!(solved.alignment.pieces(3).is_empty());
        // The reference itself is never left out.
        let solved = solve(3, messages, 200);
        assert_eq!(solved.left_out.iter().map(|out| out.host).collect::<Vec<_>>(), [2]);
    }
}
