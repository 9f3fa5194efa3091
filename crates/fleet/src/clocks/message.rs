//! Messages, and how they contradict each other.

/// A message from one host to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// The number of the host that sent it.
    pub from: usize,
    /// When it was sent, in nanoseconds by that host's clock.
    pub sent: i64,
    /// The number of the host that received it.
    pub to: usize,
    /// When it was received, in nanoseconds by that host's clock.
    pub received: i64,
}

/// The messages contradict each other: a clock was set, or drifted by more than the limit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} messages cannot all have been received after they were sent: a clock was set, or drifts by more than the limit", .messages.len())]
pub struct Contradiction {
    /// The indices of messages of which at least one is wrong.
    pub messages: Vec<usize>,
}
