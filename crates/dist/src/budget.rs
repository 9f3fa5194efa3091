//! Accounts of the memory that this node holds for its peers, in bytes, with limits.
//!
//! An [`Account`] has a limit. A [`Charge`] is a part of it, which is returned when the charge is dropped. So a charge is kept beside
//! the bytes it pays for. Each peer has two accounts, found by its name, so that they outlive a connection:
//!
//! | kept for a peer | account | if there is no room |
//! |---|---|---|
//! | links and monitors that it made; ends of links that it has not acknowledged | [`Budget::kept`] | its connection ends |
//! | answers and exit signals for it that are not written (`outgoing`) | [`Budget::kept`] | its connection ends |
//! | its messages and signals in inboxes, with their terms, tokens and tags | [`Budget::messages`], and the inbox's | this node stops reading from it |
//! | exit and down messages of a lost connection, which must not wait | both of these, above the limit | see [`Account::force`] |
//!
//! Everything else is bounded, because a connection has one of each: the arriving frame ([`Options::max_message`]), the tag before it
//! (as long), the message that is decoded or waits for room ([`Options::max_memory`]), the bytes that this node sends
//! ([`Options::busy_limit`] and one message, twice: one part waits while another is written), and the reason of its end (`text`). The
//! node has 64 handshakes at once (`strangers`), each of a few messages of at most 64 KiB, and forgets a peer when nothing of it is
//! left (`peers`). Atoms are plain strings. Nothing is started or called for a peer.
//!
//! [`Options::max_message`]: super::Options::max_message
//! [`Options::max_memory`]: super::Options::max_memory
//! [`Options::busy_limit`]: super::Options::busy_limit

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Semaphore;

use super::options::Options;

/// The accounts of one peer.
#[derive(Debug)]
pub(super) struct Budget {
    /// Data that cannot wait.
    pub kept: Arc<Account>,
    /// Messages, which can wait.
    pub messages: Arc<Account>,
}

impl Budget {
    pub(super) fn new(options: &Options) -> Budget {
        Budget { kept: Account::new(options.peer_limit), messages: Account::new(options.mailbox_limit) }
    }

    /// Whether nothing is charged, and no task is about to charge anything.
    pub(super) fn is_unused(&self) -> bool {
        Arc::strong_count(&self.kept) == 1 && Arc::strong_count(&self.messages) == 1
    }
}

/// A limit and its use. Waiting callers are served in order.
#[derive(Debug)]
pub(super) struct Account {
    /// Unused bytes.
    free: Semaphore,
    /// Bytes used above the limit. Returned bytes pay for them before `free` gets any.
    debt: AtomicUsize,
    limit: usize,
}

/// Used bytes of an account.
#[derive(Debug)]
pub(super) struct Charge {
    account: Arc<Account>,
    bytes: usize,
}

/// The account has no room.
#[derive(Debug)]
pub(super) struct Exceeded;

impl Account {
    pub(super) fn new(limit: usize) -> Arc<Account> {
        let limit = limit.min(Semaphore::MAX_PERMITS);
        Arc::new(Account { free: Semaphore::new(limit), debt: AtomicUsize::new(0), limit })
    }

    /// Charges `bytes` once any are free, so that one message may exceed the limit. `None` once the account is closed.
    ///
    /// Cancellation charges nothing.
    pub(super) async fn wait(self: &Arc<Self>, bytes: usize) -> Option<Charge> {
        if let Some(charge) = self.try_charge(bytes) {
            return Some(charge);
        }
        self.free.acquire().await.ok()?.forget();
        // The permit is part of the charge now.
        let mut charge = Charge { account: self.clone(), bytes: 1 };
        charge.force(bytes.saturating_sub(1));
        Some(charge)
    }

    /// Charges `bytes` if they are free.
    pub(super) fn charge(self: &Arc<Self>, bytes: usize) -> Result<Charge, Exceeded> {
        self.try_charge(bytes).ok_or(Exceeded)
    }

    /// Charges `bytes`, free or not: for messages that must not be lost and cannot wait. Until these are returned, no other call finds
    /// room.
    pub(super) fn force(self: &Arc<Self>, bytes: usize) -> Charge {
        let mut charge = Charge { account: self.clone(), bytes: 0 };
        charge.force(bytes);
        charge
    }

    /// Closes the account: calls do not wait any more, and waiting ones return.
    pub(super) fn close(&self) {
        self.free.close();
    }

    /// Used bytes.
    pub(super) fn used(&self) -> usize {
        // Relaxed: a count for tests and messages, which orders nothing.
        self.limit.saturating_sub(self.free.available_permits()) + self.debt.load(Ordering::Relaxed)
    }

    fn try_charge(self: &Arc<Self>, bytes: usize) -> Option<Charge> {
        let permits = u32::try_from(bytes).ok()?;
        self.free.try_acquire_many(permits).ok()?.forget();
        Some(Charge { account: self.clone(), bytes })
    }
}

impl Charge {
    /// Charges `bytes` more if they are free.
    pub(super) fn grow(&mut self, bytes: usize) -> Result<(), Exceeded> {
        let more = self.account.try_charge(bytes).ok_or(Exceeded)?;
        self.merge(more);
        Ok(())
    }

    fn force(&mut self, bytes: usize) {
        let free = self.account.free.forget_permits(bytes);
        // Relaxed: only the count matters; the charged data is passed on by other means.
        self.account.debt.fetch_add(bytes - free, Ordering::Relaxed);
        self.bytes += bytes;
    }

    fn merge(&mut self, mut other: Charge) {
        self.bytes += std::mem::take(&mut other.bytes);
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        if self.bytes == 0 {
            return;
        }
        let account = &*self.account;
        let mut free = self.bytes;
        // Relaxed: as in `force`. There is debt only after a connection with links was lost, or an oversized message.
        if account.debt.load(Ordering::Relaxed) > 0 {
            let paid = |debt: usize| Some(debt - debt.min(self.bytes));
            let debt = account.debt.fetch_update(Ordering::Relaxed, Ordering::Relaxed, paid).unwrap_or_default();
            free -= debt.min(self.bytes);
        }
        account.free.add_permits(free);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn charges_are_given_back() {
        let account = Account::new(100);
        let mut charge = account.charge(60).unwrap();
        assert!(account.charge(41).is_err());
        charge.grow(40).unwrap();
        assert!(charge.grow(1).is_err());
        assert_eq!(account.used(), 100);
        drop(charge);
        assert_eq!(account.used(), 0);
    }

    #[tokio::test]
    async fn debt_is_paid_first() {
        let account = Account::new(100);
        let small = account.charge(30).unwrap();
        let forced = account.force(1000);
        assert_eq!(account.used(), 1030);
        drop(small);
        assert_eq!(account.used(), 1000);
        assert!(account.charge(1).is_err());
        drop(forced);
        assert_eq!(account.used(), 0);
        assert!(account.charge(100).is_ok());
    }

    #[tokio::test]
    async fn one_message_may_exceed_the_limit() {
        let account = Account::new(100);
        let first = account.wait(5_000_000_000).await.unwrap();
        assert_eq!(account.used(), 5_000_000_000);
        let second = tokio::spawn({
            let account = account.clone();
            async move { account.wait(7).await.map(|charge| charge.bytes) }
        });
        tokio::task::yield_now().await;
        assert!(!second.is_finished());
        drop(first);
        assert_eq!(second.await.unwrap(), Some(7));
        assert_eq!(account.used(), 0);
    }

    #[tokio::test]
    async fn a_wait_that_is_dropped_has_used_nothing() {
        let account = Account::new(10);
        let all = account.charge(10).unwrap();
        let waits = tokio::time::timeout(std::time::Duration::from_millis(1), account.wait(1)).await;
        assert!(waits.is_err());
        drop(all);
        assert_eq!(account.used(), 0);
        account.close();
        assert!(account.wait(1).await.is_none());
    }
}
