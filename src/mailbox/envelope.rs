//! A message on its way, and what it carries from its sender to its receiver.
//!
//! Most messages carry nothing, and most tokens have a number for a label: both take no memory of their own. That is why
//! this is not just a token and a tag.

use crate::seq_trace::{self, Flags, Label, Serial, Token};
use crate::tag::{self, Tag};

pub(super) struct Envelope<T> {
    pub(super) message: T,
    pub(super) carried: Carried,
}

pub(super) enum Carried {
    Nothing,
    Number { label: i64, serial: Serial, flags: Flags, era: u32 },
    More(Box<More>),
}

pub(super) struct More {
    token: Option<Token>,
    era: u32,
    tag: Option<Tag>,
}

impl Carried {
    /// What the current process sends along.
    #[inline]
    pub(super) fn on_send() -> Carried {
        if seq_trace::era() == 0 && !tag::any_spreads() { Carried::Nothing } else { Carried::take() }
    }

    #[inline(never)]
    fn take() -> Carried {
        let era = seq_trace::era();
        match (seq_trace::on_send(), tag::sent()) {
            (None, None) => Carried::Nothing,
            (Some(Token { label: Label::Integer(label), serial, flags }), None) => {
                Carried::Number { label, serial, flags, era }
            }
            (token, tag) => Carried::More(Box::new(More { token, era, tag })),
        }
    }

    /// The current process has received it.
    #[inline]
    pub(super) fn on_receive(self) {
        if seq_trace::era() != 0 || tag::any_spreads() {
            self.give();
        }
    }

    #[inline(never)]
    fn give(self) {
        let (token, tag) = match self {
            Carried::More(more) => {
                let More { token, era, tag } = *more;
                (token.filter(|_| era == seq_trace::era()), tag)
            }
            carried => (carried.token(), None),
        };
        seq_trace::on_receive(token);
        tag::on_receive(tag);
    }

    /// The token in it, if traces were not reset since.
    pub(super) fn token(&self) -> Option<Token> {
        let (token, of) = match self {
            Carried::Nothing => return None,
            Carried::Number { label, serial, flags, era } => {
                (Some(Token { label: Label::Integer(*label), serial: *serial, flags: *flags }), *era)
            }
            Carried::More(more) => (more.token.clone(), more.era),
        };
        token.filter(|_| of == seq_trace::era())
    }
}
