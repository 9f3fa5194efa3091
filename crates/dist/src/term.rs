//! Erlang terms: those of the crate `eetf`, a macro that makes them, and corrections of the crate.

use eetf::ByteList;
use erl_dist::term::{BigInteger, Binary, FixInteger, Float};

pub use crate::__dist_term as term;
pub use erl_dist::term::{Atom, List, Map, Pid, Reference, Term, Tuple};

/// The longest list that is encoded as bytes.
const LONGEST_BYTE_LIST: usize = u16::MAX as usize;

/// A value that [`term!`](crate::term) makes a term of.
///
/// | Rust | Erlang |
/// |---|---|
/// | integers, floats (those that are not finite are the atom `undefined`), `bool` | the same |
/// | `&str`, `String` | a string: a list of characters |
/// | `&[u8]`, `Vec<u8>` | a binary |
/// | `Vec<Term>` | a list; one of bytes is a [`Term::ByteList`], as it is when it comes from Erlang |
/// | [`Term`], [`Pid`], [`Atom`], [`Reference`] | themselves |
pub trait IntoTerm {
    /// The term.
    fn into_term(self) -> Term;
}

macro_rules! integers {
    ($($integer:ty)*) => {$(
        impl IntoTerm for $integer {
            fn into_term(self) -> Term {
                match i32::try_from(self) {
                    Ok(value) => FixInteger { value }.into(),
                    Err(_) => BigInteger { value: self.into() }.into(),
                }
            }
        }
    )*};
}

integers!(u8 i8 u16 i16 u32 i32 u64 i64 u128 i128 usize isize);

macro_rules! themselves {
    ($($term:ty)*) => {$(
        impl IntoTerm for $term {
            fn into_term(self) -> Term {
                self.into()
            }
        }
    )*};
}

themselves!(Term Pid Atom Reference Tuple Map);

impl IntoTerm for &Pid {
    fn into_term(self) -> Term {
        self.clone().into()
    }
}

impl IntoTerm for bool {
    fn into_term(self) -> Term {
        Atom::from(if self { "true" } else { "false" }).into()
    }
}

impl IntoTerm for f64 {
    fn into_term(self) -> Term {
        Float::try_from(self).map_or_else(|_| Atom::from("undefined").into(), Term::from)
    }
}

impl IntoTerm for &str {
    fn into_term(self) -> Term {
        let characters: Vec<Term> = self.chars().map(|character| u32::from(character).into_term()).collect();
        characters.into_term()
    }
}

impl IntoTerm for String {
    fn into_term(self) -> Term {
        self.as_str().into_term()
    }
}

impl IntoTerm for &[u8] {
    fn into_term(self) -> Term {
        Binary::from(self.to_vec()).into()
    }
}

impl IntoTerm for Vec<u8> {
    fn into_term(self) -> Term {
        Binary::from(self).into()
    }
}

/// In the form that `eetf` decodes it to.
impl IntoTerm for Vec<Term> {
    fn into_term(self) -> Term {
        let byte = |term: &Term| match term {
            Term::FixInteger(integer) => u8::try_from(integer.value).ok(),
            _ => None,
        };
        let bytes =
            (1..=LONGEST_BYTE_LIST).contains(&self.len()).then(|| self.iter().map(byte).collect::<Option<Vec<u8>>>());
        match bytes.flatten() {
            Some(bytes) => ByteList { bytes }.into(),
            None => List::from(self).into(),
        }
    }
}

/// Makes a term, written as in Erlang.
///
/// Names are atoms. In parentheses is a Rust expression that is [`IntoTerm`].
///
/// ```
/// # mod dyntrace { pub use dyntrace_dist as dist; }
/// use dyntrace::dist::{Term, term};
///
/// let parts = vec![term!(1), term!([2, "text"])];
/// let answer = term!({ok, -1, <<"bytes">>, (parts), #{size => 7}, true, []});
/// assert!(matches!(answer, Term::Tuple(tuple) if tuple.elements.len() == 7));
/// ```
#[macro_export]
#[doc(hidden)]
macro_rules! __dist_term {
    (@list [$($done:expr,)*]) => { ::std::vec::Vec::<$crate::Term>::from([$($done),*]) };
    (@list [$($done:expr,)*] < < $text:literal > > $(, $($rest:tt)*)?) => {
        $crate::__dist_term!(@list [$($done,)* $crate::__dist_term!(<<$text>>),] $($($rest)*)?)
    };
    (@list [$($done:expr,)*] << $text:literal >> $(, $($rest:tt)*)?) => {
        $crate::__dist_term!(@list [$($done,)* $crate::__dist_term!(<<$text>>),] $($($rest)*)?)
    };
    (@list [$($done:expr,)*] # $map:tt $(, $($rest:tt)*)?) => {
        $crate::__dist_term!(@list [$($done,)* $crate::__dist_term!(# $map),] $($($rest)*)?)
    };
    (@list [$($done:expr,)*] $value:literal $(, $($rest:tt)*)?) => {
        $crate::__dist_term!(@list [$($done,)* $crate::__dist_term!($value),] $($($rest)*)?)
    };
    (@list [$($done:expr,)*] $one:tt $(, $($rest:tt)*)?) => {
        $crate::__dist_term!(@list [$($done,)* $crate::__dist_term!($one),] $($($rest)*)?)
    };
    (<< $text:literal >>) => { $crate::IntoTerm::into_term($text.as_bytes()) };
    (#{ $($key:tt => $value:tt),* $(,)? }) => {
        $crate::Term::from($crate::Map::from(::std::collections::HashMap::from([
            $(($crate::__dist_term!($key), $crate::__dist_term!($value))),*
        ])))
    };
    ({ $($inside:tt)* }) => {
        $crate::Term::from($crate::Tuple::from($crate::__dist_term!(@list [] $($inside)*)))
    };
    ([ $($inside:tt)* ]) => { $crate::IntoTerm::into_term($crate::__dist_term!(@list [] $($inside)*)) };
    ($value:literal) => { $crate::IntoTerm::into_term($value) };
    ($name:ident) => { $crate::Term::from($crate::Atom::from(::std::stringify!($name))) };
    (($value:expr)) => { $crate::IntoTerm::into_term($value) };
}

/// Changes terms that `eetf` would encode wrongly: negative integers in short lists of small ones, and byte lists of more than 65,535
/// bytes.
pub(super) fn mend(term: &mut Term) {
    match term {
        Term::List(list) => {
            let small = |element: &Term| matches!(element, Term::FixInteger(integer) if integer.value < 256);
            let as_bytes = list.elements.len() <= LONGEST_BYTE_LIST && list.elements.iter().all(small);
            for element in &mut list.elements {
                match element {
                    Term::FixInteger(integer) if as_bytes && integer.value < 0 => {
                        *element = BigInteger::from(&*integer).into();
                    }
                    element => mend(element),
                }
            }
        }
        Term::ByteList(list) if list.bytes.len() > LONGEST_BYTE_LIST => {
            let integers: Vec<Term> = list.bytes.iter().map(|&byte| byte.into_term()).collect();
            *term = List::from(integers).into();
        }
        Term::ImproperList(list) => {
            list.elements.iter_mut().for_each(mend);
            mend(&mut list.last);
        }
        Term::Tuple(tuple) => tuple.elements.iter_mut().for_each(mend),
        Term::Map(map) => {
            let mended = |(mut key, mut value)| {
                mend(&mut key);
                mend(&mut value);
                (key, value)
            };
            map.map = std::mem::take(&mut map.map).into_iter().map(mended).collect();
        }
        _ => {}
    }
}

/// The size of a term in machine words, as Erlang counts it: 0 for a term that fits into one, and without the bytes of binaries that
/// messages share.
pub(super) fn words(term: &Term) -> u32 {
    fn all<'t>(terms: impl IntoIterator<Item = &'t Term>) -> usize {
        terms.into_iter().map(size).sum()
    }
    fn binary(bytes: usize) -> usize {
        if bytes <= 64 { 2 + bytes.div_ceil(8) } else { 6 }
    }
    fn size(term: &Term) -> usize {
        match term {
            Term::Atom(_) | Term::FixInteger(_) => 0,
            // Integers of 60 bits, with the sign, fit into one word.
            Term::BigInteger(integer) if integer.value.bits() < 60 => 0,
            Term::BigInteger(integer) => 1 + integer.value.bits().div_ceil(64) as usize,
            Term::Float(_) => 2,
            Term::Pid(_) | Term::Port(_) => 4,
            Term::Reference(_) => 5,
            Term::ExternalFun(_) => 2,
            Term::InternalFun(_) => 6,
            Term::Binary(bytes) => binary(bytes.bytes.len()),
            Term::BitBinary(bits) => 5 + binary(bits.bytes.len()),
            Term::ByteList(list) => 2 * list.bytes.len(),
            Term::List(list) => 2 * list.elements.len() + all(&list.elements),
            Term::ImproperList(list) => 2 * list.elements.len() + all(&list.elements) + size(&list.last),
            Term::Tuple(tuple) => 1 + tuple.elements.len() + all(&tuple.elements),
            Term::Map(map) => 4 + 2 * map.map.len() + all(map.map.keys()) + all(map.map.values()),
        }
    }
    size(term).try_into().unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term;

    fn sent(mut term: Term) -> Term {
        mend(&mut term);
        let mut bytes = Vec::new();
        term.encode(&mut bytes).unwrap();
        Term::decode(bytes.as_slice()).unwrap()
    }

    #[test]
    fn terms_are_written_as_in_erlang() {
        assert_eq!(term!(ok).to_string(), "'ok'");
        assert_eq!(term!({ok, 1}).to_string(), "{'ok',1}");
        assert_eq!(term!([a, [], {}, -5, (2 + 3)]).to_string(), "['a',[],{},-5,5]");
        assert_eq!(term!({<<"ab">>, "é", true}).to_string(), "{<<97,98>>,[233],'true'}");
        assert_eq!(term!(#{a => 1}).to_string(), "#{'a'=>1}");
    }

    #[test]
    fn terms_that_the_encoder_would_change_are_mended() {
        assert_eq!(sent(term!([1, -1, 255])).to_string(), "[1,-1,255]");
        assert_eq!(sent(term!({ [-3] })).to_string(), "{[-3]}");
        let long = "x".repeat(70_000);
        let Term::List(list) = sent(Term::from(long)) else { panic!("a list of bytes is a list") };
        assert_eq!(list.elements.len(), 70_000);
    }

    #[test]
    fn sizes_are_erlangs() {
        for (term, expected) in [
            (term!(ok), 0),
            (term!(1), 0),
            (term!((1u64 << 59)), 2),
            (term!((1u64 << 58)), 0),
            (term!({ok, 1}), 3),
            (term!([1, 2, 3]), 6),
            (term!("text"), 8),
            (term!(1.5), 2),
            (term!(<<"12345678">>), 3),
            (term!((vec![0u8; 65])), 6),
        ] {
            assert_eq!(words(&term), expected, "{term}");
        }
    }
}
