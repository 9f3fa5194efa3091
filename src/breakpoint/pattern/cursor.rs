//! Splits the text of a pattern into tokens, with the place of each.

use std::ops::Range;

use super::error::PatternError;

/// Reads a text from its beginning to its end. Skips spaces before tokens.
#[derive(Clone)]
pub struct Cursor<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Cursor<'t> {
    pub fn new(text: &'t str) -> Cursor<'t> {
        Cursor { text, at: 0 }
    }

    pub fn at(&mut self) -> usize {
        self.at += self.rest().len() - self.rest().trim_start().len();
        self.at
    }

    pub fn end(&self) -> usize {
        self.at
    }

    /// Returns the text read since `start`.
    pub fn since(&self, start: usize) -> &'t str {
        &self.text[start..self.at]
    }

    pub fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    pub fn is_at_end(&mut self) -> bool {
        self.at() == self.text.len()
    }

    /// Takes `token` if it comes next.
    pub fn eat(&mut self, token: &str) -> bool {
        self.at();
        self.eat_close(token)
    }

    /// Takes `token` if it comes next, without a space before it.
    pub fn eat_close(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    /// Takes `keyword` if it is the next word.
    pub fn eat_word(&mut self, keyword: &str) -> bool {
        let found = self.peek_word() == Some(keyword);
        if found {
            self.at += keyword.len();
        }
        found
    }

    pub fn expect(&mut self, token: &str) -> Result<(), PatternError> {
        if self.eat(token) { Ok(()) } else { Err(self.expected(&format!("`{token}`"))) }
    }

    /// Takes the next word: letters, digits and `_`, no digit first.
    pub fn peek_word(&mut self) -> Option<&'t str> {
        self.at();
        let first = self.rest().chars().next()?;
        (first.is_alphabetic() || first == '_').then(|| self.span_of(|c| c.is_alphanumeric() || c == '_'))
    }

    pub fn word(&mut self) -> Option<&'t str> {
        let word = self.peek_word()?;
        self.at += word.len();
        Some(word)
    }

    /// Takes the following characters for which the condition holds.
    pub fn take_while(&mut self, such: impl Fn(char) -> bool) -> &'t str {
        let taken = self.span_of(such);
        self.at += taken.len();
        taken
    }

    fn span_of(&self, such: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        &rest[..rest.find(|c| !such(c)).unwrap_or(rest.len())]
    }

    /// Takes the next character, even a space.
    pub fn next(&mut self) -> Option<char> {
        let character = self.rest().chars().next()?;
        self.at += character.len_utf8();
        Some(character)
    }

    /// Makes the error that the next token is not the expected one.
    pub fn expected(&mut self, what: &str) -> PatternError {
        let start = self.at();
        let word = self.span_of(|c| c.is_alphanumeric() || c == '_');
        let length = if word.is_empty() { self.rest().chars().next().map_or(0, char::len_utf8) } else { word.len() };
        let found = match self.rest().get(..length) {
            None | Some("") => "the end of the pattern".into(),
            Some(token) if token.len() > 40 => "a long word".into(),
            Some(token) => format!("`{}`", token.escape_debug()),
        };
        self.error(format!("expected {what}, found {found}"), start..start + length)
    }

    /// Makes an error at the next character that is no space.
    pub fn error_at_next(&mut self, message: impl Into<String>) -> PatternError {
        let start = self.at();
        let length = self.rest().chars().next().map_or(0, char::len_utf8);
        self.error(message, start..start + length)
    }

    pub fn error(&self, message: impl Into<String>, span: Range<usize>) -> PatternError {
        PatternError::new(message, span, self.text)
    }
}
