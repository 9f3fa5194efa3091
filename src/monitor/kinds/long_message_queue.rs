//! `long_message_queue`: mailboxes with many messages.

use std::time::Duration;

use crate::monitor::condition::{Condition, LookEvents, OF_NUMBERS};

#[cfg(feature = "mailbox")]
mod mailboxes {
    use crate::mailbox::depth::Watch;
    use crate::monitor::crossing::Above;

    pub(super) struct Mailboxes {
        pub watch: Watch,
        pub above: Above<usize>,
    }

    impl Mailboxes {
        pub(super) fn new() -> Mailboxes {
            Mailboxes { watch: Watch::begin(), above: Above::new() }
        }
    }
}

pub(super) struct LongMessageQueue {
    #[cfg(feature = "mailbox")]
    mailboxes: mailboxes::Mailboxes,
}

impl LongMessageQueue {
    pub(super) fn new() -> LongMessageQueue {
        LongMessageQueue {
            #[cfg(feature = "mailbox")]
            mailboxes: mailboxes::Mailboxes::new(),
        }
    }
}

impl Condition for LongMessageQueue {
    fn period(&self) -> Duration {
        OF_NUMBERS
    }

    #[cfg(feature = "mailbox")]
    fn look(&mut self, found: &mut LookEvents) {
        let mailboxes::Mailboxes { watch, above } = &mut self.mailboxes;
        for long in above.update(watch.longer_than(found.limit), |long| long.mailbox) {
            found.add(long.messages.into(), |event| event.process = Some(long.owner));
        }
    }

    /// There are no mailboxes.
    #[cfg(not(feature = "mailbox"))]
    fn look(&mut self, _found: &mut LookEvents) {}
}
