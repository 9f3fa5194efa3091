//! Literals: integers, characters, texts, `true`, `false` and `None`.

use super::cursor::Cursor;
use super::error::PatternError;
use crate::breakpoint::value::Plain;

/// A literal value in a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Constant {
    Integer(i128),
    /// An integer above `i128::MAX`.
    Large(u128),
    Bool(bool),
    Char(char),
    Text(Box<str>),
    None,
}

impl Constant {
    pub fn plain(&self) -> Plain<'_> {
        match self {
            Constant::Integer(number) => Plain::Integer(*number),
            Constant::Large(number) => Plain::Large(*number),
            Constant::Bool(truth) => Plain::Bool(*truth),
            Constant::Char(character) => Plain::Char(*character),
            Constant::Text(text) => Plain::Text(text),
            Constant::None => Plain::None,
        }
    }
}

/// Parses a literal, if one comes next.
pub fn literal(cursor: &mut Cursor<'_>) -> Result<Option<Constant>, PatternError> {
    let start = cursor.at();
    if cursor.eat("\"") {
        return text(cursor, start).map(Some);
    }
    if cursor.eat("'") {
        return character(cursor, start).map(Some);
    }
    let mut ahead = cursor.clone();
    let negative = ahead.eat("-");
    ahead.at();
    if ahead.rest().starts_with(|c: char| c.is_ascii_digit()) {
        *cursor = ahead;
        return integer(cursor, start, negative).map(Some);
    }
    let constant = match cursor.peek_word() {
        Some("true") => Constant::Bool(true),
        Some("false") => Constant::Bool(false),
        Some("None") => Constant::None,
        _ => return Ok(None),
    };
    cursor.word();
    Ok(Some(constant))
}

fn integer(cursor: &mut Cursor<'_>, start: usize, negative: bool) -> Result<Constant, PatternError> {
    let written = cursor.take_while(|c| c.is_alphanumeric() || c == '_');
    let digits = written.replace('_', "");
    let (radix, digits) = match digits.get(..2) {
        Some("0x") => (16, &digits[2..]),
        Some("0o") => (8, &digits[2..]),
        Some("0b") => (2, &digits[2..]),
        _ => (10, digits.as_str()),
    };
    let span = start..cursor.end();
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
        return Err(cursor.error("expected an integer, such as 1_000, -5 or 0xff", span));
    }
    let magnitude = u128::from_str_radix(digits, radix).ok();
    let constant = match (magnitude, negative) {
        (Some(magnitude), true) => 0i128.checked_sub_unsigned(magnitude).map(Constant::Integer),
        (Some(magnitude), false) => {
            Some(i128::try_from(magnitude).map_or(Constant::Large(magnitude), Constant::Integer))
        }
        (None, _) => None,
    };
    constant.ok_or_else(|| cursor.error("expected an integer of at most 128 bits", span))
}

fn text(cursor: &mut Cursor<'_>, start: usize) -> Result<Constant, PatternError> {
    let mut text = String::new();
    loop {
        text.push_str(cursor.take_while(|c| !matches!(c, '"' | '\\')));
        match cursor.next() {
            Some('"') => return Ok(Constant::Text(text.into())),
            Some(_) => text.push(escape(cursor)?),
            None => return Err(cursor.error("expected `\"` at the end of this text", start..start + 1)),
        }
    }
}

fn character(cursor: &mut Cursor<'_>, start: usize) -> Result<Constant, PatternError> {
    let character = match cursor.next() {
        Some('\\') => Some(escape(cursor)?),
        Some('\'') | None => None,
        other => other,
    };
    match character {
        Some(character) if cursor.eat_close("'") => Ok(Constant::Char(character)),
        _ => Err(cursor.error("expected one character in quotes, such as 'x' or '\\n'", start..cursor.end())),
    }
}

/// Parses the escape behind a backslash.
fn escape(cursor: &mut Cursor<'_>) -> Result<char, PatternError> {
    let start = cursor.end() - 1;
    meant(cursor).ok_or_else(|| {
        cursor.error("expected one of \\n \\r \\t \\0 \\\\ \\\" \\' \\x7f \\u{1F600}", start..cursor.end())
    })
}

/// Decodes an escape, given without its backslash. Allocates nothing.
pub fn unescaped(escape: &str) -> Option<char> {
    meant(&mut Cursor::new(escape))
}

fn meant(cursor: &mut Cursor<'_>) -> Option<char> {
    let number = |digits: &str| u32::from_str_radix(digits, 16).ok().and_then(char::from_u32);
    match cursor.next()? {
        'n' => Some('\n'),
        'r' => Some('\r'),
        't' => Some('\t'),
        '0' => Some('\0'),
        itself @ ('\\' | '"' | '\'') => Some(itself),
        'x' => {
            let digits = cursor.rest().get(..2).unwrap_or_default();
            cursor.eat_close(digits);
            number(digits).filter(|c| c.is_ascii() && digits.chars().all(|c| c.is_ascii_hexdigit()))
        }
        'u' if cursor.eat_close("{") => {
            let digits = cursor.take_while(|c| c.is_ascii_hexdigit());
            let closed = cursor.eat_close("}");
            number(digits).filter(|_| closed && digits.len() <= 6)
        }
        _ => None,
    }
}
