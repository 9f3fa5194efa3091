//! The outcome for each host.

use serde::Serialize;

use super::read::ClockInputs;
use super::solve::Solved;

/// How a host is aligned, or why it is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    Reference,
    Aligned,
    /// Messages bound its clock from one side.
    OneSided,
    /// Its messages contradict each other.
    LeftOut,
    /// No messages connect it with the reference.
    Unconnected,
}

/// A host, and its clock at the time of its last message or estimate.
#[derive(Serialize)]
pub struct Host<'f> {
    #[serde(rename = "hostname")]
    pub name: &'f str,
    pub state: State,
    pub messages: u64,
    pub pieces: usize,
    #[serde(rename = "ahead_ns")]
    pub ahead: Option<i64>,
    #[serde(rename = "error_ns")]
    pub error: Option<i64>,
}

/// The hosts in the order of their names.
pub fn hosts<'f>(found: &'f ClockInputs, solved: &'f Solved) -> impl Iterator<Item = Host<'f>> {
    let mut last = vec![0; found.hosts.len()];
    for message in found.links() {
        for (host, time) in [(message.from, message.sent), (message.to, message.received)] {
            last[host] = time.max(last[host]);
        }
    }
    found.hosts.iter().zip(last).enumerate().map(|(number, (name, last))| {
        let aligned = solved.alignment.time(number, last);
        let error = aligned.and_then(|aligned| aligned.error);
        let state = match aligned {
            _ if number == solved.reference => State::Reference,
            Some(_) if error.is_none() => State::OneSided,
            Some(_) => State::Aligned,
            None if solved.left_out.iter().any(|out| out.host == number) => State::LeftOut,
            None => State::Unconnected,
        };
        let ahead = aligned.map(|aligned| last.saturating_sub(aligned.time));
        let pieces = solved.alignment.pieces(number).len();
        Host { name, state, messages: found.count(number), pieces, ahead, error }
    })
}
