//! Lost connections and their reasons.

use std::collections::VecDeque;

use dyntrace_probes::primitives::{Mutex, lock};

use super::text::cut;

/// The number of remembered connections.
const MOST: usize = 64;

/// A connection that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LostConnection {
    /// The name of the node at its other end.
    pub node: String,
    /// The reason, for people to read; 512 bytes at most.
    pub reason: String,
}

/// The last connections that have ended.
#[derive(Default)]
pub(super) struct Lost(Mutex<VecDeque<LostConnection>>);

impl Lost {
    pub(super) fn add(&self, node: &str, reason: &str) {
        let lost = LostConnection { node: node.to_owned(), reason: cut(reason) };
        let mut all = lock(&self.0);
        if all.len() == MOST {
            all.pop_front();
        }
        all.push_back(lost);
    }

    pub(super) fn all(&self) -> Vec<LostConnection> {
        lock(&self.0).iter().cloned().collect()
    }
}
