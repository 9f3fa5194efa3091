//! What values print, in a form in which parts are found without reading any escape.
//!
//! `Debug` writes texts and characters in quotes, with escapes. Here each is written as what it is, between two bytes that are in no
//! UTF-8: so a bracket, a comma or a quote within one is never taken for the value's own.

use std::fmt::{self, Write};
use std::mem;
use std::ops::Range;

use super::literal::unescaped;
use crate::breakpoint::value::Value;

/// Before and behind a text.
pub const TEXT: u8 = 0xff;
/// Before and behind a character.
pub const CHARACTER: u8 = 0xfe;

/// The longest escape is `\u{10ffff}`.
const ESCAPE: usize = 10;

/// What was printed so far, at most [`Unquoted::LIMIT`] bytes.
pub struct Unquoted {
    bytes: [u8; Unquoted::LIMIT],
    length: usize,
    /// Whether something did not fit: nothing behind that is taken, or it would seem to stand in its place.
    is_cut: bool,
    within: Within,
    /// An escape that has begun, backslash and all.
    escape: [u8; ESCAPE],
    escaped: usize,
}

/// What the next byte belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    Nothing,
    Text,
    /// What may be a character: an apostrophe stands before it, at this place. Some types print apostrophes of their own.
    Character(usize),
}

impl Unquoted {
    /// How many bytes it holds at most.
    pub const LIMIT: usize = 4096;

    pub fn new() -> Unquoted {
        Unquoted {
            bytes: [0; Unquoted::LIMIT],
            length: 0,
            is_cut: false,
            within: Within::Nothing,
            escape: [0; ESCAPE],
            escaped: 0,
        }
    }

    /// Prints one value more, and answers where it is. Of a value that does not fit, or panics while it is printed, the beginning is there.
    pub fn print(&mut self, value: &Value<'_>) -> Range<usize> {
        let start = self.length;
        (self.within, self.escaped) = (Within::Nothing, 0);
        // Parts that are not there are not found: no more than that follows from an error.
        let _ = write!(self, "{value}");
        start..self.length
    }

    /// All that was printed.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    fn push(&mut self, bytes: &[u8]) -> fmt::Result {
        let room = self.bytes.get_mut(self.length..self.length + bytes.len()).ok_or(fmt::Error)?;
        room.copy_from_slice(bytes);
        self.length += bytes.len();
        Ok(())
    }

    /// What was at the place of a quote becomes what stands before a character, and the same comes behind it.
    fn close_character(&mut self, quote: usize) -> fmt::Result {
        self.bytes[quote] = CHARACTER;
        self.push(&[CHARACTER])
    }

    fn one(&mut self, character: char) -> fmt::Result {
        if self.escaped > 0 {
            return self.escape(character);
        }
        let mut utf8 = [0; 4];
        let bytes = character.encode_utf8(&mut utf8).as_bytes();
        let before = self.within;
        match (before, character) {
            (Within::Nothing, '"') => {
                self.within = Within::Text;
                self.push(&[TEXT])
            }
            (Within::Text, '"') => {
                self.within = Within::Nothing;
                self.push(&[TEXT])
            }
            (Within::Nothing, '\'') => {
                self.within = Within::Character(self.length);
                self.push(bytes)
            }
            (Within::Text, '\\') => self.escape(character),
            (Within::Character(quote), '\\') if self.length == quote + 1 => self.escape(character),
            (Within::Character(quote), '\'') if self.length > quote + 1 => {
                self.within = Within::Nothing;
                self.close_character(quote)
            }
            // It was an apostrophe.
            (Within::Character(quote), _) if self.length > quote + 1 => {
                self.within = Within::Nothing;
                self.one(character)
            }
            _ => self.push(bytes),
        }
    }

    /// One character more of an escape, which is written when it is whole.
    fn escape(&mut self, character: char) -> fmt::Result {
        let place = self.escape.get_mut(self.escaped).ok_or(fmt::Error)?;
        *place = u8::try_from(character).map_err(|_| fmt::Error)?;
        self.escaped += 1;
        let is_whole = match self.escape[1] {
            b'u' => character == '}',
            _ => self.escaped == 2,
        };
        if !is_whole {
            return Ok(());
        }
        let (escape, length) = (self.escape, mem::take(&mut self.escaped));
        match str::from_utf8(&escape[1..length]).ok().and_then(unescaped) {
            Some(meant) => self.push(meant.encode_utf8(&mut [0; 4]).as_bytes()),
            // Of a type that writes escapes of its own.
            None => self.push(&escape[..length]),
        }
    }
}

impl Write for Unquoted {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.is_cut {
            return Err(fmt::Error);
        }
        let written = text.chars().try_for_each(|character| self.one(character));
        self.is_cut = written.is_err();
        written
    }
}
