//! Clocks of hosts, aligned by the messages between them.
//!
//! A message is received after it was sent. So, with each clock as far ahead of the reference as its *lead* says, a message from host a to
//! host b bounds the difference of their leads: `lead(b) - lead(a) <= received - sent`. Two messages in opposite directions bound it from
//! both sides. Between messages the bounds widen by the most that clocks drift.
//!
//! These are difference constraints: one unknown for each end of a message, one constraint for each message, and two for each pair of
//! neighbouring ends on one clock. Their solutions are known in the literature on shortest paths: the lengths of the shortest paths from an
//! end on the reference give the largest lead of each other end, those of the shortest paths to it the smallest. The middle of both is a
//! solution, too, as solutions are convex. So no message goes backwards, to the nanosecond, and half the distance is the error bar.
//!
//! A clock is given as lines, few of them: the slack that the middle leaves to each message is divided between its ends, and a line goes on
//! as long as it keeps to that. Lines are computed in the arithmetic of engines, which rounds, so this holds for times that engines align.
//!
//! Hosts from which messages only come, or to which they only go, are bounded from one side. They get the bound, without an error bar.
//! Hosts without any message to the others cannot be aligned.

mod alignment;
mod errors;
mod fit;
mod graph;
mod knots;
mod message;
mod paths;
mod piece;
mod span;
mod windows;

pub use alignment::{Aligned, Alignment, align};
pub use message::{Contradiction, Message};
pub use piece::Piece;
