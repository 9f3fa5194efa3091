//! Checks terms before they are decoded.
//!
//! The decoder trusts its input: it reserves memory for as many elements as a list claims, recurses as deep as terms are nested, and
//! panics at unknown tags. So a loop with a stack of its own checks the bytes first. Terms that pass have all elements that they claim,
//! keep to the limits of depth and memory, and have only tags that the decoder knows. Atoms are plain strings, so no table fills up.

use super::options::Options;

/// The reason not to decode a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It ends too early.
    #[error("a term ends in the middle")]
    Truncated,
    /// It has a form that was not announced, or is unknown: compressed terms, cached atoms, old forms.
    #[error("a term has the tag {0}, which was not announced")]
    Tag(u8),
    /// It has a malformed part.
    #[error("a term has {0}")]
    Malformed(&'static str),
    /// It is nested deeper than [`Options::max_depth`].
    #[error("a term is nested deeper than Options::max_depth allows")]
    TooDeep,
    /// Decoded, it would take more than [`Options::max_memory`].
    #[error("a message would take more memory than Options::max_memory allows")]
    TooMuch,
}

/// Bytes of a decoded term in the vector or table that it is an element of.
const PER_TERM: usize = 2 * std::mem::size_of::<erl_dist::term::Term>();

/// Words of the longest reference that Erlang nodes make.
const MOST_WORDS: usize = 5;

/// Checks the terms of a message, each after a version byte. Returns the bytes that they take when decoded.
pub(super) fn check(bytes: &[u8], options: &Options) -> Result<usize, Refused> {
    let mut scan = Scan { bytes, memory: bytes.len(), limit: options.max_memory };
    while !scan.bytes.is_empty() {
        if scan.take::<1>()? != [131] {
            return Err(Refused::Malformed("another version than 131"));
        }
        scan.term(options.max_depth)?;
    }
    Ok(scan.memory)
}

struct Scan<'b> {
    bytes: &'b [u8],
    memory: usize,
    limit: usize,
}

impl Scan<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], Refused> {
        let (taken, rest) = self.bytes.split_first_chunk::<N>().ok_or(Refused::Truncated)?;
        self.bytes = rest;
        Ok(*taken)
    }

    fn skip(&mut self, bytes: usize) -> Result<&[u8], Refused> {
        let (skipped, rest) = self.bytes.split_at_checked(bytes).ok_or(Refused::Truncated)?;
        self.bytes = rest;
        Ok(skipped)
    }

    fn u8(&mut self) -> Result<usize, Refused> {
        Ok(self.take::<1>()?[0].into())
    }

    fn u16(&mut self) -> Result<usize, Refused> {
        Ok(u16::from_be_bytes(self.take()?).into())
    }

    fn u32(&mut self) -> Result<usize, Refused> {
        Ok(u32::from_be_bytes(self.take()?) as usize)
    }

    /// Checks one whole term. `open` has the number of missing elements of each term that has begun.
    fn term(&mut self, max_depth: usize) -> Result<(), Refused> {
        let mut open: Vec<usize> = vec![1];
        while let Some(left) = open.last_mut() {
            if *left == 0 {
                open.pop();
                continue;
            }
            *left -= 1;
            self.memory = self.memory.saturating_add(PER_TERM);
            if self.memory > self.limit {
                return Err(Refused::TooMuch);
            }
            let inside = self.one()?;
            if inside > 0 {
                // Each takes a byte at least: a false claim ends here, before memory is reserved for it.
                if inside > self.bytes.len() {
                    return Err(Refused::Truncated);
                }
                if open.len() > max_depth {
                    return Err(Refused::TooDeep);
                }
                open.push(inside);
            }
        }
        Ok(())
    }

    /// Checks a term without its elements, and returns their number.
    fn one(&mut self) -> Result<usize, Refused> {
        let [tag] = self.take()?;
        match tag {
            // Floats, new and old.
            70 if !f64::from_be_bytes(self.take()?).is_finite() => {
                return Err(Refused::Malformed("a float that is not finite"));
            }
            70 => {}
            99 => drop(self.skip(31)?),
            // Bits.
            77 => {
                let size = self.u32()?;
                let last = self.u8()?;
                if size > 0 && !(1..=8).contains(&last) {
                    return Err(Refused::Malformed("a byte that is not of 1 to 8 bits"));
                }
                self.skip(size)?;
            }
            // Integers.
            97 => drop(self.skip(1)?),
            98 => drop(self.skip(4)?),
            110 => self.big(|scan| scan.u8())?,
            111 => self.big(|scan| scan.u32())?,
            // Atoms.
            100 | 118 => self.atom(|scan| scan.u16())?,
            115 | 119 => self.atom(|scan| scan.u8())?,
            // References; ports; pids.
            90 => {
                let words = self.u16()?;
                if words > MOST_WORDS {
                    return Err(Refused::Malformed("a reference of more than 5 words"));
                }
                self.node()?;
                self.skip(4 + 4 * words)?;
            }
            89 => self.of_node(8)?,
            120 => self.of_node(12)?,
            88 => self.of_node(12)?,
            // Tuples, lists, maps.
            104 => return self.u8(),
            105 => return self.u32(),
            106 => {}
            107 => {
                let size = self.u16()?;
                self.skip(size)?;
            }
            108 => return Ok(self.u32()?.saturating_add(1)),
            116 => return Ok(self.u32()?.saturating_mul(2)),
            109 => {
                let size = self.u32()?;
                self.skip(size)?;
            }
            // Functions: the exported one; one with variables, behind its module, two integers and a pid.
            113 => {
                self.node()?;
                self.node()?;
                return Ok(1);
            }
            112 => {
                self.skip(4 + 1 + 16 + 4)?;
                let variables = self.u32()?;
                self.node()?;
                return Ok(variables.saturating_add(3));
            }
            tag => return Err(Refused::Tag(tag)),
        }
        Ok(0)
    }

    fn big(&mut self, size: impl FnOnce(&mut Self) -> Result<usize, Refused>) -> Result<(), Refused> {
        let size = size(self)?;
        if self.u8()? > 1 {
            return Err(Refused::Malformed("an integer whose sign is neither plus nor minus"));
        }
        self.skip(size).map(drop)
    }

    fn atom(&mut self, size: impl FnOnce(&mut Self) -> Result<usize, Refused>) -> Result<(), Refused> {
        let size = size(self)?;
        // An atom has 255 characters at most, and a character 4 bytes.
        if size > 4 * 255 {
            return Err(Refused::Malformed("an atom that is too long"));
        }
        match std::str::from_utf8(self.skip(size)?) {
            Ok(_) => Ok(()),
            Err(_) => Err(Refused::Malformed("an atom that is not UTF-8")),
        }
    }

    /// An atom where only an atom may be.
    fn node(&mut self) -> Result<(), Refused> {
        match self.take()? {
            [100 | 118] => self.atom(|scan| scan.u16()),
            [115 | 119] => self.atom(|scan| scan.u8()),
            [tag] => Err(Refused::Tag(tag)),
        }
    }

    fn of_node(&mut self, bytes: usize) -> Result<(), Refused> {
        self.node()?;
        self.skip(bytes).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Term, hostile, term};

    fn checked(bytes: &[u8], options: &Options) -> Result<usize, Refused> {
        check(&[&[131], bytes].concat(), options)
    }

    #[test]
    fn hostile_terms_are_refused() {
        let options = Options::default();
        for (bytes, refused) in [
            // Lists, tuples, maps and binaries that claim 4 GiB and are empty.
            (vec![108, 255, 255, 255, 255], Refused::Truncated),
            (vec![105, 255, 255, 255, 255], Refused::Truncated),
            (vec![116, 255, 255, 255, 255], Refused::Truncated),
            (vec![109, 255, 255, 255, 255], Refused::Truncated),
            (vec![111, 255, 255, 255, 255, 0], Refused::Truncated),
            ([108, 255, 255, 255, 255].repeat(1000), Refused::Truncated),
            ([104, 1].repeat(1_000_000), Refused::TooDeep),
            ([[104, 1].repeat(128), vec![104, 1, 106]].concat(), Refused::TooDeep),
            (vec![80, 0, 0, 0, 9], Refused::Tag(80)),
            (vec![82, 0], Refused::Tag(82)),
            (vec![68, 0], Refused::Tag(68)),
            (vec![77, 0, 0, 0, 1, 0, 1], Refused::Malformed("a byte that is not of 1 to 8 bits")),
            (vec![77, 0, 0, 0, 1, 9, 1], Refused::Malformed("a byte that is not of 1 to 8 bits")),
            (vec![70, 0x7f, 0xf0, 0, 0, 0, 0, 0, 0], Refused::Malformed("a float that is not finite")),
            (vec![119, 1, 0xff], Refused::Malformed("an atom that is not UTF-8")),
            (
                [vec![90, 0, 6, 119, 1, 97], vec![0; 28]].concat(),
                Refused::Malformed("a reference of more than 5 words"),
            ),
            (vec![90, 0xea, 0x60, 119, 1, 97], Refused::Malformed("a reference of more than 5 words")),
            (vec![110, 0, 2], Refused::Malformed("an integer whose sign is neither plus nor minus")),
        ] {
            assert_eq!(checked(&bytes, &options), Err(refused), "{:?}", &bytes[..bytes.len().min(8)]);
        }
        assert!(checked(&[vec![90, 0, 5, 119, 1, 97], vec![0; 24]].concat(), &options).is_ok());
        assert!(checked(&[[104, 1].repeat(128), vec![106]].concat(), &options).is_ok());
        let little = Options { max_memory: 1000, ..options };
        assert_eq!(checked(&[vec![104, 255], vec![106; 255]].concat(), &little), Err(Refused::TooMuch));
    }

    /// The deepest allowed term, on the stack of a thread of the runtime, and without optimization.
    #[test]
    fn the_deepest_terms_are_decoded() {
        let depth = Options::default().max_depth;
        for bytes in [
            [vec![131], [104, 1].repeat(depth), vec![106]].concat(),
            [vec![131], [108, 0, 0, 0, 1].repeat(depth), vec![106; depth + 1]].concat(),
            [vec![131], [116, 0, 0, 0, 1, 97, 1].repeat(depth), vec![106]].concat(),
        ] {
            let decoded = std::thread::Builder::new().stack_size(1 << 20).spawn(move || {
                check(&bytes, &Options::default()).unwrap();
                let term = Term::decode(bytes.as_slice()).unwrap();
                assert!(!term.clone().to_string().is_empty());
                crate::term::words(&term)
            });
            decoded.unwrap().join().unwrap();
        }
    }

    fn terms() -> impl Strategy<Value = Term> {
        use crate::IntoTerm;
        let leaf = prop_oneof![
            any::<i128>().prop_map(IntoTerm::into_term),
            any::<u8>().prop_map(IntoTerm::into_term),
            any::<f64>().prop_map(IntoTerm::into_term),
            ".{0,20}".prop_map(IntoTerm::into_term),
            any::<Vec<u8>>().prop_map(IntoTerm::into_term),
            (any::<u32>(), any::<u32>()).prop_map(|(id, serial)| crate::Pid::new("a@b", id, serial, 7).into()),
        ];
        leaf.prop_recursive(5, 64, 8, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..8).prop_map(IntoTerm::into_term),
                prop::collection::vec(inner.clone(), 0..8).prop_map(|elements| crate::Tuple::from(elements).into()),
                prop::collection::hash_map(inner.clone(), inner, 0..4).prop_map(|map| crate::Map::from(map).into()),
            ]
        })
    }

    proptest! {
        #[test]
        fn sent_terms_pass_the_limits_and_come_back(term in terms()) {
            let mut bytes = Vec::new();
            let mut sent = term.clone();
            crate::term::mend(&mut sent);
            sent.encode(&mut bytes).unwrap();
            prop_assert!(check(&bytes, &Options::default()).is_ok());
            // Small integers may be encoded as large ones.
            prop_assert_eq!(Term::decode(bytes.as_slice()).unwrap().to_string().len(), term.to_string().len());
            // Cut at any place, it is refused.
            for end in 1..bytes.len() {
                prop_assert_eq!(check(&bytes[..end], &Options::default()), Err(Refused::Truncated));
            }
        }

        #[test]
        fn bytes_within_the_limits_are_decoded_without_a_panic(
            tags in prop::collection::vec((prop::sample::select(TAGS), prop::collection::vec(0u8..4, 0..12)), 1..20),
        ) {
            let mut bytes = vec![131];
            for (tag, rest) in tags {
                bytes.push(tag);
                bytes.extend(rest);
            }
            hostile::message(&bytes);
        }

        #[test]
        fn changed_messages_are_taken_or_refused(term in terms(), changes in prop::collection::vec((any::<usize>(), any::<u8>()), 0..4)) {
            let pid = crate::Pid::new("a@b", 1, 2, 3);
            let mut bytes = Vec::new();
            let message = erl_dist::message::Message::send_sender(pid.clone(), pid, term!({told, (term)}));
            message.write_into(&mut bytes).unwrap();
            for (at, byte) in changes {
                let at = at % bytes.len();
                bytes[at] = byte;
            }
            hostile::message(&bytes);
        }
    }

    const TAGS: &[u8] = &[
        68, 70, 77, 80, 82, 88, 89, 90, 97, 98, 99, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112,
        113, 114, 115, 116, 117, 118, 119, 120, 131,
    ];
}
