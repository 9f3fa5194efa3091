//! Names that rings take as numbers, see [`Shape`].

use std::fmt;
use std::ptr;

use super::argument::{Text, TextKind};
use super::buffer::Buffer;
use super::numbered::{PORT, PROCESS, Recorded, Shape};

/// A name in two parts.
#[derive(Clone, Copy)]
pub struct Numbered {
    shape: &'static Shape,
    number: u64,
}

/// A text, as rings take it where most texts are names of one shape.
#[derive(Clone, Copy, Debug)]
pub enum Named<'t> {
    /// A name of that shape.
    Number(Numbered),
    /// Another text.
    Text(Recorded<'t>),
}

impl Numbered {
    /// The number.
    #[inline(always)]
    pub fn number(self) -> u64 {
        self.number
    }

    /// Calls `look` with the name.
    #[cold]
    #[inline(never)]
    pub fn with<R>(self, look: impl FnOnce(&[u8]) -> R) -> R {
        look(Buffer::new().bytes(Text::numbered(self.shape, self.number)))
    }
}

impl fmt::Debug for Numbered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.with(|name| f.write_str(&String::from_utf8_lossy(name)))
    }
}

impl PartialEq for Numbered {
    fn eq(&self, other: &Numbered) -> bool {
        self.with(|name| other.with(|other| name == other))
    }
}

impl Eq for Numbered {}

impl Buffer {
    /// The text as rings take it where most texts are names of ports.
    #[doc(hidden)]
    #[inline(always)]
    pub fn port<'t>(&'t mut self, text: Text<'t>) -> Named<'t> {
        self.named(&PORT, text)
    }

    /// The text as rings take it where most texts are names of processes.
    #[doc(hidden)]
    #[inline(always)]
    pub fn process<'t>(&'t mut self, text: Text<'t>) -> Named<'t> {
        self.named(&PROCESS, text)
    }

    #[inline(always)]
    fn named<'t>(&'t mut self, shape: &'static Shape, text: Text<'t>) -> Named<'t> {
        match text.0 {
            TextKind::Numbered { shape: own, number } if ptr::eq(own, shape) => {
                Named::Number(Numbered { shape, number })
            }
            _ => Named::Text(self.recorded(text)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_the_shape_is_a_number() {
        let mut buffer = Buffer::new();
        let Named::Number(name) = buffer.port(Text::numbered(&PORT, u64::MAX)) else {
            panic!("a text");
        };
        assert_eq!((name.number(), format!("{name:?}")), (u64::MAX, "#Port<0.18446744073709551615>".to_owned()));
    }

    #[test]
    fn another_text_stays_one() {
        for text in [Text::numbered(&PROCESS, 7), Text::from("#Port<0.7>"), Text::NULL] {
            assert!(matches!(Buffer::new().port(text), Named::Text(_)));
        }
    }
}
