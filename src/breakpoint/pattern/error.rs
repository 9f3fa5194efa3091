//! Errors of patterns, with their place.

use std::fmt;
use std::ops::Range;

/// The number of characters of a long pattern that an error shows on each side of its place.
const AROUND: usize = 40;

/// The reason why a text is not a pattern.
///
/// Displays as three lines, with the place marked; [`message`](PatternError::message) alone is one line.
///
/// ```
/// use dyntrace::trace::Pattern;
///
/// let error = "shop::**::price(_, qty) if qty >".parse::<Pattern>().unwrap_err();
/// let lines = [
///     "expected a value, found the end of the pattern, at column 33",
///     "  shop::**::price(_, qty) if qty >",
///     "                                  ^",
/// ];
/// assert_eq!(error.to_string(), lines.join("\n"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternError {
    message: String,
    span: Range<usize>,
    text: Box<str>,
}

impl PatternError {
    pub(super) fn new(message: impl Into<String>, span: Range<usize>, text: &str) -> PatternError {
        PatternError { message: message.into(), span, text: text.into() }
    }

    /// Returns what was expected and what was found.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns the place as a range of bytes of the parsed text, empty at the end.
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// Returns the place as the number of the character, from 1.
    pub fn column(&self) -> usize {
        self.before().chars().count() + 1
    }

    fn before(&self) -> &str {
        self.text.get(..self.span.start).unwrap_or(&self.text)
    }
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}, at column {}", self.message, self.column())?;
        let before = self.before();
        let start = before.char_indices().rev().take(AROUND).last().map_or(before.len(), |(at, _)| at);
        let cut = if start > 0 { "..." } else { "" };
        let marked = self.text.get(self.span.clone()).unwrap_or_default().chars().count().clamp(1, AROUND);
        let line = self.text[start..].chars().take(AROUND + marked + AROUND).map(printable).collect::<String>();
        let indent = cut.len() + before[start..].chars().count();
        write!(f, "  {cut}{}\n  {:indent$}{}", line.trim_end(), "", "^".repeat(marked))
    }
}

/// Replaces control characters, which a terminal would obey, and keeps the mark under its place.
fn printable(character: char) -> char {
    match character {
        _ if character.is_whitespace() => ' ',
        _ if character.is_control() => char::REPLACEMENT_CHARACTER,
        _ => character,
    }
}

impl std::error::Error for PatternError {}
