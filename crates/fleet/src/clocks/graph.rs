//! The constraints between the leads of clocks at the ends of messages.

use super::message::{Contradiction, Message};
use super::paths::{Arrow, shortest};
use super::span::{drifted, gap};

/// An end of a message: a time on a host's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct End {
    pub(super) host: usize,
    pub(super) time: i64,
}

/// The ends in the order of hosts and times, and the constraints between their leads.
pub(super) struct Graph {
    reference: usize,
    ends: Vec<End>,
    arrows: Vec<Arrow>,
}

/// The lead at an end, and the smallest and the largest possible one, `None` if messages bound it from one side only.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bound {
    pub(super) lead: i128,
    pub(super) range: Option<[i128; 2]>,
}

impl Graph {
    pub(super) fn of(reference: usize, messages: &[Message], drift: i128) -> Graph {
        let ends_of = |message: &Message| {
            let Message { from, sent, to, received } = *message;
            [End { host: from, time: sent }, End { host: to, time: received }]
        };
        let mut ends: Vec<End> = messages.iter().flat_map(ends_of).collect();
        ends.sort_unstable();
        ends.dedup();
        let place = |end| ends.binary_search(&end).expect("it is an end");
        let mut arrows: Vec<Arrow> = Vec::with_capacity(messages.len() + 2 * ends.len());
        for (number, message) in messages.iter().enumerate() {
            let [from, to] = ends_of(message).map(place);
            let most = i128::from(message.received) - i128::from(message.sent);
            arrows.push(Arrow { from, to, most, message: Some(number) });
        }
        for (at, pair) in ends.windows(2).enumerate().filter(|(_, pair)| pair[0].host == pair[1].host) {
            let is_reference = pair[0].host == reference;
            let most = if is_reference { 0 } else { drifted(gap(pair[0].time, pair[1].time), drift) };
            arrows.push(Arrow { from: at, to: at + 1, most, message: None });
            arrows.push(Arrow { from: at + 1, to: at, most, message: None });
        }
        // Most paths go forth or back in time, so few passes follow them.
        arrows.sort_by_key(|arrow| ends[arrow.from].time);
        Graph { reference, ends, arrows }
    }

    pub(super) fn reference(&self) -> usize {
        self.reference
    }

    pub(super) fn ends(&self) -> &[End] {
        &self.ends
    }

    /// The constraints of the messages.
    pub(super) fn messages(&self) -> impl Iterator<Item = &Arrow> {
        self.arrows.iter().filter(|arrow| arrow.message.is_some())
    }

    /// Returns the lead at each end; `None` if the end is not connected with the reference.
    pub(super) fn bounds(&self) -> Result<Vec<Option<Bound>>, Contradiction> {
        let start: Vec<_> = self.ends.iter().map(|end| (end.host == self.reference).then_some(0)).collect();
        let most = self.from(start.clone())?;
        let least = self.to(start)?;
        let both = most.into_iter().zip(least).map(|(most, least)| {
            let (most, least) = most.zip(least)?;
            // Rounded alike everywhere, so that the middles obey the constraints, too.
            Some(Bound { lead: (most + least).div_euclid(2), range: Some([least, most]) })
        });
        let mut bounds: Vec<Option<Bound>> = both.collect();
        // The others are bounded from one side. All that lead to known ends get the smallest lead, all to which known ends lead the largest:
        // after each step no path leads from a known end to an unknown one and back.
        loop {
            let unknown = bounds.iter().filter(|bound| bound.is_none()).count();
            for step in [Graph::to, Graph::from] {
                let known = bounds.iter().map(|bound| bound.map(|bound| bound.lead)).collect();
                for (bound, lead) in bounds.iter_mut().zip(step(self, known)?) {
                    *bound = bound.or(lead.map(|lead| Bound { lead, range: None }));
                }
            }
            if bounds.iter().filter(|bound| bound.is_none()).count() == unknown {
                return Ok(bounds);
            }
        }
    }

    /// The largest leads that the known ones allow.
    fn from(&self, known: Vec<Option<i128>>) -> Result<Vec<Option<i128>>, Contradiction> {
        shortest(&self.arrows, known)
    }

    /// The smallest leads that the known ones allow.
    fn to(&self, known: Vec<Option<i128>>) -> Result<Vec<Option<i128>>, Contradiction> {
        let negative = |leads: Vec<Option<i128>>| leads.into_iter().map(|lead| lead.map(|lead| -lead)).collect();
        let reversed = self.arrows.iter().map(|arrow| Arrow { from: arrow.to, to: arrow.from, ..*arrow });
        shortest(&reversed.collect::<Vec<_>>(), negative(known)).map(negative)
    }
}
