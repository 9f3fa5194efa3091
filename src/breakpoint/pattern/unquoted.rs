//! Prints values by their `Debug` and takes texts and characters out of their quotes.
//!
//! `Debug` writes texts and characters with quotes and escapes. This buffer holds the unescaped characters between two marker bytes that
//! never occur in UTF-8. So a reader of the buffer decodes no escapes, and takes no bracket, comma or quote in a text for one of the value.

use std::fmt::{self, Write};
use std::mem;
use std::ops::Range;

use super::literal::unescaped;
use crate::breakpoint::value::Value;

/// Marks the beginning and the end of a text.
pub const TEXT: u8 = 0xff;
/// Marks the beginning and the end of a character.
pub const CHARACTER: u8 = 0xfe;

/// The longest escape is `\u{10ffff}`.
const ESCAPE: usize = 10;

/// A buffer of printed values, at most [`Unquoted::LIMIT`] bytes.
pub struct Unquoted {
    bytes: [u8; Unquoted::LIMIT],
    length: usize,
    /// Whether a write did not fit. Later writes fail too: they would land in the wrong place.
    is_cut: bool,
    within: Within,
    /// The escape that is being read, with its backslash.
    escape: [u8; ESCAPE],
    escaped: usize,
}

/// Where the next character belongs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    Nothing,
    Text,
    /// Behind an apostrophe at this offset: a character, or an apostrophe that a type printed by itself.
    Character(usize),
}

impl Unquoted {
    /// Capacity in bytes.
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

    /// Appends a value and returns its range. A value that does not fit, or whose `Debug` panics, is kept up to that point.
    pub fn print(&mut self, value: &Value<'_>) -> Range<usize> {
        let start = self.length;
        (self.within, self.escaped) = (Within::Nothing, 0);
        // An error only means that later parts are missing.
        let _ = write!(self, "{value}");
        start..self.length
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    fn push(&mut self, bytes: &[u8]) -> fmt::Result {
        let room = self.bytes.get_mut(self.length..self.length + bytes.len()).ok_or(fmt::Error)?;
        room.copy_from_slice(bytes);
        self.length += bytes.len();
        Ok(())
    }

    /// Turns the quote before a character into a marker and appends the closing one.
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
            (Within::Character(quote), _) if self.length > quote + 1 => {
                self.within = Within::Nothing;
                self.one(character)
            }
            _ => self.push(bytes),
        }
    }

    /// Reads the next character of an escape. Appends the escaped character once the escape is complete.
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
            // Not one of Rust's escapes: a type printed it by itself.
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
