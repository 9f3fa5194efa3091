//! Greetings: names of peers that are being accepted.
//!
//! If two nodes dial each other at once, one of the two connections is dropped, and messages sent over it are lost. So a caller that is
//! about to dial waits for a peer of that name that is being accepted, and the task that accepts a peer looks for a caller that dials it.
//! Each announces itself before it looks for the other, under one lock, so that at least one sees the other:
//!
//! 1. The caller that dials counts itself, then looks for a greeting.
//! 2. The task that accepts leaves the greeting, then looks for a caller that dials.
//!
//! The name is not proved yet, so a caller waits for [`PATIENCE`] at most.

use std::collections::HashMap;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::timeout;

use dyntrace_probes::primitives::{Mutex, lock};

/// The limit for waiting for a peer that is being accepted: long enough for a real peer, and short enough for a stranger.
const PATIENCE: Duration = Duration::from_secs(2);

/// The number of greetings of each name: those of strangers, and of peers that have proved the cookie and are not connected yet.
#[derive(Default)]
pub(super) struct Greetings {
    names: Mutex<HashMap<String, usize>>,
    gone: Notify,
}

/// Announces that a peer is being accepted, until it is dropped.
pub(super) struct Greeting<'g> {
    greetings: &'g Greetings,
    name: String,
}

impl Greetings {
    /// Announces that a peer of this name is being accepted.
    pub(super) fn leave(&self, name: String) -> Greeting<'_> {
        *lock(&self.names).entry(name.clone()).or_default() += 1;
        Greeting { greetings: self, name }
    }

    /// Waits until no peer of this name is being accepted, or for [`PATIENCE`].
    pub(super) async fn wait(&self, name: &str) {
        let wait = async {
            loop {
                let gone = self.gone.notified();
                if !lock(&self.names).contains_key(name) {
                    return;
                }
                gone.await;
            }
        };
        // Otherwise the peer is a stranger, or slow.
        let _ = timeout(PATIENCE, wait).await;
    }
}

impl Drop for Greeting<'_> {
    fn drop(&mut self) {
        let mut names = lock(&self.greetings.names);
        if let Some(count) = names.get_mut(&self.name) {
            *count -= 1;
            if *count == 0 {
                names.remove(&self.name);
            }
        }
        drop(names);
        self.greetings.gone.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_caller_waits_for_all_of_that_name_and_not_for_ever() {
        let greetings = Greetings::default();
        let [one, other] = ["a@h", "a@h"].map(|name| greetings.leave(name.to_owned()));
        let stranger = greetings.leave("b@h".to_owned());
        greetings.wait("c@h").await;
        let begun = tokio::time::Instant::now();
        let going = async {
            for greeting in [one, other] {
                tokio::time::sleep(Duration::from_millis(10)).await;
                drop(greeting);
            }
        };
        tokio::join!(greetings.wait("a@h"), going);
        assert_eq!(begun.elapsed(), Duration::from_millis(20));
        greetings.wait("b@h").await;
        assert_eq!(begun.elapsed(), Duration::from_millis(20) + PATIENCE);
        drop(stranger);
        assert!(lock(&greetings.names).is_empty());
    }
}
