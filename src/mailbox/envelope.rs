//! A message on its way, and what it carries from its sender to its receiver.
//!
//! Most messages carry nothing, and most tokens have a number of 32 bits for a label: both take no memory of their own. What they take
//! is in whole words, because parts of words, as an `enum` has them, are copied piece by piece: that costs half of what the channel does.

use crate::seq_trace::{self, Label, Packed};
use crate::tag::{self, Tag};

pub(super) struct Envelope<T> {
    pub(super) message: T,
    pub(super) carried: Carried,
}

pub(super) struct Carried {
    token: Packed,
    more: Option<Box<More>>,
}

/// What has no place in the words.
struct More {
    label: Option<Label>,
    tag: Option<Tag>,
}

impl Carried {
    /// What the current process sends along.
    #[inline]
    pub(super) fn on_send() -> Carried {
        let mut carried = Carried { token: Packed::NOTHING, more: None };
        if seq_trace::era() != 0 || tag::any_spreads() {
            carried.take();
        }
        carried
    }

    #[inline(never)]
    fn take(&mut self) {
        let mut label = None;
        let era = seq_trace::era();
        if era != 0 {
            // A task that is no process has no token.
            let _ = seq_trace::change(era, |sequence| {
                if let Some(beside) = sequence.send(&mut self.token) {
                    label = Some(beside.clone());
                }
            });
        }
        let tag = if tag::any_spreads() { tag::sent() } else { None };
        if label.is_some() || tag.is_some() {
            self.more = Some(Box::new(More { label, tag }));
        }
    }

    /// The current process has received it.
    #[inline]
    pub(super) fn on_receive(mut self) {
        if seq_trace::era() != 0 || tag::any_spreads() {
            self.give();
        }
    }

    #[inline(never)]
    fn give(&mut self) {
        let era = seq_trace::era();
        if era != 0 {
            // A task that is no process has no token to change.
            let label = self.more.as_ref().and_then(|more| more.label.as_ref());
            let _ = seq_trace::change(era, |sequence| sequence.receive_packed(&self.token, label));
        }
        if tag::any_spreads() {
            tag::on_receive(self.more.as_mut().and_then(|more| more.tag.take()));
        }
    }

    /// The token in it as probes show it: zeros if traces were reset since.
    pub(super) fn shown(&self) -> (i32, i32, i32) {
        self.token.shown(seq_trace::era())
    }
}
