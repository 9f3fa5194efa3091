//! A message on its way, and what it carries from its sender to its receiver.
//!
//! Most messages carry nothing, and most tokens have a number of 32 bits for a label: both take no memory of their own. What they take
//! is in whole words, because parts of words, as an `enum` has them, are copied piece by piece: that costs half of what the channel does.

use crate::seq_trace::{self, Flags, Label, Serial, Token};
use crate::tag::{self, Tag};

pub(super) struct Envelope<T> {
    pub(super) message: T,
    pub(super) carried: Carried,
}

pub(super) struct Carried {
    /// A token, packed; 0 if there is none, or not here.
    token: u64,
    /// Its counts.
    serial: u64,
    more: Option<Box<More>>,
}

/// What has no place in the words.
struct More {
    token: Option<Token>,
    era: u32,
    tag: Option<Tag>,
}

/// Set in each packed token.
const PRESENT: u64 = 1 << 7;

/// As much of an era as there is room for.
const ERA: u32 = (1 << 24) - 1;

fn pack(label: i32, era: u32, flags: Flags) -> u64 {
    u64::from(label.cast_unsigned()) << 32 | u64::from(era & ERA) << 8 | PRESENT | u64::from(flags.bits())
}

impl Carried {
    const NOTHING: Carried = Carried { token: 0, serial: 0, more: None };

    /// What the current process sends along.
    #[inline]
    pub(super) fn on_send() -> Carried {
        if seq_trace::era() == 0 && !tag::any_spreads() { Carried::NOTHING } else { Carried::take() }
    }

    #[inline(never)]
    fn take() -> Carried {
        let era = seq_trace::era();
        let tag = if tag::any_spreads() { tag::sent() } else { None };
        let sent = seq_trace::on_send_as(|token| match token.label {
            Label::Integer(label) if tag.is_none() && i32::try_from(label).is_ok() => {
                let Serial { previous, current } = token.serial;
                let serial = u64::from(previous) << 32 | u64::from(current);
                Ok(Carried { token: pack(label as i32, era, token.flags), serial, more: None })
            }
            _ => Err(token.clone()),
        });
        match (sent, tag) {
            (None, None) => Carried::NOTHING,
            (Some(Ok(carried)), _) => carried,
            (sent, tag) => {
                let token = sent.and_then(Result::err);
                Carried { more: Some(Box::new(More { token, era, tag })), ..Carried::NOTHING }
            }
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
        match self.packed() {
            Some((label, serial, flags)) => seq_trace::on_receive_number(label, serial, flags),
            None => seq_trace::on_receive(self.token()),
        }
        if tag::any_spreads() {
            tag::on_receive(self.more.as_mut().and_then(|more| more.tag.take()));
        }
    }

    /// The token in it, if traces were not reset since.
    pub(super) fn token(&self) -> Option<Token> {
        if let Some((label, serial, flags)) = self.packed() {
            return Some(Token { label: Label::Integer(label), serial, flags });
        }
        self.more.as_ref().filter(|more| more.era == seq_trace::era())?.token.clone()
    }

    /// That in the words.
    fn packed(&self) -> Option<(i64, Serial, Flags)> {
        let is_of_this_era = (self.token >> 8) as u32 & ERA == seq_trace::era() & ERA;
        (self.token != 0 && is_of_this_era).then(|| {
            let label = (self.token >> 32) as i32;
            let serial = Serial { previous: (self.serial >> 32) as u32, current: self.serial as u32 };
            (label.into(), serial, Flags::from_bits_retain((self.token & (PRESENT - 1)) as u8))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packed_token_is_what_it_was() {
        for (label, flags) in
            [(0, Flags::empty()), (-1, Flags::all()), (i32::MIN, Flags::SEND), (i32::MAX, Flags::PRINT)]
        {
            let serial = Serial { previous: u32::MAX, current: 7 };
            let packed = u64::from(serial.previous) << 32 | u64::from(serial.current);
            let carried = |era| Carried { token: pack(label, era, flags), serial: packed, more: None };
            assert_eq!(carried(seq_trace::era()).token(), Some(Token { label: label.into(), serial, flags }));
            assert_eq!(carried(seq_trace::era() + 1).token(), None);
        }
    }
}
