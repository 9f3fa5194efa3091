//! Peers that are about to connect: they have said their names, and are being accepted.
//!
//! Where two nodes dial each other at once, one of the two connections has to go, and what was sent over it is lost. So a caller that is
//! about to dial waits for a peer of that name which is about to connect; and the task that accepts a peer looks whether somebody dials it.
//! Each says what it does before it looks at the other, under one lock, so that one of both sees the other one:
//!
//! 1. The caller that dials counts itself, then looks for a greeting.
//! 2. The task that accepts leaves the greeting, then looks for a caller that dials.
//!
//! A name is no proof: nobody waits for a greeting for longer than [`PATIENCE`].

use std::collections::HashMap;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::timeout;

use crate::sync::{Mutex, lock};

/// How long a caller waits for a peer that is about to connect: as long as that takes where both are there, and no longer than a
/// stranger may cost it.
const PATIENCE: Duration = Duration::from_secs(2);

/// How many there are of each name: as many as strangers have places, and those that have proved the cookie and are not connected yet.
#[derive(Default)]
pub(super) struct Greetings {
    names: Mutex<HashMap<String, usize>>,
    gone: Notify,
}

/// Says that a peer is about to connect, until it is dropped.
pub(super) struct Greeting<'g> {
    greetings: &'g Greetings,
    name: String,
}

impl Greetings {
    /// A peer of this name is being accepted.
    pub(super) fn leave(&self, name: String) -> Greeting<'_> {
        *lock(&self.names).entry(name.clone()).or_default() += 1;
        Greeting { greetings: self, name }
    }

    /// Waits until no peer of this name is about to connect, but not for ever.
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
        // Else it is a stranger, or slow.
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
