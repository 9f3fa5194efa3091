//! Sequential trace tokens between nodes: `{Flags, Label, Serial, Sender, Previous}`.

use std::sync::Arc;

use erl_dist::term::{BigInteger, Binary, FixInteger, Pid, Term, Tuple};

use super::term::IntoTerm;
use dyntrace_processes::seq_trace::{Flags, Label, Serial, Token};

/// The version byte before a whole term. Labels are stored without it.
const VERSION: u8 = 131;

/// The token as another node gets it.
pub(super) fn to_term(token: &Token, sender: Pid) -> Term {
    let label = match &token.label {
        Label::Integer(number) => number.into_term(),
        Label::Text(text) => text.as_bytes().into_term(),
        Label::Term(bytes) => {
            let whole = [&[VERSION], &bytes[..]].concat();
            Term::decode(whole.as_slice()).unwrap_or_else(|_| Binary::from(bytes.to_vec()).into())
        }
        // There are no others, but the type allows for them.
        _ => Label::UNSHOWN.into_term(),
    };
    let Serial { previous, current } = token.serial;
    Tuple::from(vec![token.flags.bits().into_term(), label, current.into_term(), sender.into(), previous.into_term()])
        .into()
}

/// The token of another node; `None` if the term is not a token.
pub(super) fn of_term(term: Term) -> Option<Token> {
    let Term::Tuple(Tuple { elements }) = term else { return None };
    let [flags, label, current, _sender, previous] = <[Term; 5]>::try_from(elements).ok()?;
    let count = |term: &Term| integer(term).and_then(|count| u32::try_from(count).ok());
    let serial = Serial { previous: count(&previous)?, current: count(&current)? };
    let flags = Flags::from_bits_retain(u8::try_from(integer(&flags)?).ok()?);
    let label = match (integer(&label), label) {
        (Some(number), _) => Label::Integer(number),
        (None, Term::Binary(Binary { bytes })) if std::str::from_utf8(&bytes).is_ok() => {
            Label::Text(String::from_utf8_lossy(&bytes).into())
        }
        (None, label) => {
            let mut bytes = Vec::new();
            label.encode(&mut bytes).ok()?;
            Label::Term(Arc::from(&bytes[1..]))
        }
    };
    Some(Token { label, serial, flags })
}

fn integer(term: &Term) -> Option<i64> {
    match term {
        Term::FixInteger(FixInteger { value }) => Some((*value).into()),
        Term::BigInteger(BigInteger { value }) => i64::try_from(value).ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term;

    #[test]
    fn a_token_comes_back_as_it_went() {
        let sender = Pid::new("erl@localhost", 7, 0, 1);
        let mut encoded = Vec::new();
        term!({request, 7}).encode(&mut encoded).unwrap();
        for label in [
            Label::from(42),
            Label::from(-1),
            Label::from(1i64 << 40),
            Label::from("a text"),
            Label::Term(encoded[1..].into()),
        ] {
            let serial = Serial { previous: 3, current: u32::MAX };
            let token = Token { label, serial, flags: Flags::SEND | Flags::TIMESTAMP };
            assert_eq!(of_term(to_term(&token, sender.clone())), Some(token));
        }
    }

    #[test]
    fn a_malformed_token_is_none() {
        for term in
            [term!([]), term!({1, 2, 3}), term!({1, 2, 3, 4, no}), term!({256, 2, 3, 4, 5}), term!({1, 2, -3, 4, 5})]
        {
            assert_eq!(of_term(term), None);
        }
    }
}
