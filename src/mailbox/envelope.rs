//! A message in its envelope: with the token and the user tag of its sender.
//!
//! Most messages carry neither, and most labels are 32-bit numbers: both fit into the envelope without an allocation. The envelope
//! is made of whole words. An `enum` would be copied field by field, which costs half as much as the channel itself.

use dyntrace_processes::seq_trace;
use dyntrace_processes::sequence::{Label, Packed, Sequence, era};
use dyntrace_processes::tag::{self, Tag};

pub(super) struct Envelope<T> {
    pub(super) message: T,
    pub(super) carried: Carried,
}

impl<T> Envelope<T> {
    #[inline(always)]
    pub(super) fn with_nothing(message: T) -> Envelope<T> {
        Envelope { message, carried: Carried::NOTHING }
    }

    /// Gives the current process the token and the tag, and returns the message.
    #[inline(always)]
    pub(super) fn opened(self) -> T {
        let Envelope { message, carried } = self;
        carried.on_receive();
        message
    }
}

pub(super) struct Carried {
    token: Packed,
    more: Option<Box<More>>,
}

/// The rest, which does not fit into the words.
struct More {
    label: Option<Label>,
    tag: Option<Tag>,
}

/// Apart from the rest: few labels are not 32-bit numbers.
#[cold]
#[inline(never)]
fn cloned(label: &Label) -> Option<Label> {
    Some(label.clone())
}

/// The label, and the user tag for a message of the current process.
#[inline(never)]
fn more(label: Option<Label>) -> Option<Box<More>> {
    let tag = if tag::any_spreads() { tag::sent() } else { None };
    (label.is_some() || tag.is_some()).then(|| Box::new(More { label, tag }))
}

/// Whether any message may carry something.
#[inline(always)]
pub(super) fn may_carry() -> bool {
    era() != 0 || tag::any_spreads()
}

impl Carried {
    const NOTHING: Carried = Carried { token: Packed::NOTHING, more: None };

    /// Returns the token and the user tag for a message of the current process.
    #[inline]
    pub(super) fn on_send() -> Carried {
        if may_carry() { Carried::taken() } else { Carried::NOTHING }
    }

    #[inline(never)]
    fn taken() -> Carried {
        let mut carried = Carried::NOTHING;
        let mut label = None;
        let era = era();
        if era != 0 {
            let _ = seq_trace::change_token(era, |sequence| {
                if let Some(beside) = sequence.send(&mut carried.token) {
                    label = cloned(beside);
                }
            });
        }
        if label.is_some() || tag::any_spreads() {
            carried.more = more(label);
        }
        carried
    }

    /// Gives the current process the token and the tag of a message that it has received.
    #[inline(always)]
    fn on_receive(self) {
        if may_carry() {
            self.give();
        } else if let Some(more) = self.more {
            // As a rule there is nothing to drop, and not even a function is called for it.
            drop(more);
        }
    }

    #[inline(never)]
    fn give(mut self) {
        let era = era();
        // A token of another era counts as none. A task that is not a process has no token to change.
        if self.token.is_of(era) {
            let label = self.more.as_ref().and_then(|more| more.label.as_ref());
            let _ = seq_trace::change(era, |sequence| sequence.receive_packed(&self.token, label));
        } else if era != 0 {
            let _ = seq_trace::change_token(era, Sequence::lose);
        }
        if tag::any_spreads() {
            tag::on_receive(self.more.as_mut().and_then(|more| more.tag.take()));
        }
    }

    /// The token, or none.
    #[inline]
    pub(super) fn token(&self) -> Packed {
        self.token
    }
}
