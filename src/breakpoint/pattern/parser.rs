//! Parses patterns to [`Syntax`]: the path, the arguments, and the rest.
//!
//! Written by hand: the grammar fits two screens, errors use the pattern's own words, and traced programs link no parser library.

use std::ops::Range;

use super::actions::Actions;
use super::arguments::Arguments;
use super::cursor::Cursor;
use super::error::PatternError;
use super::guard::Guard;
use super::path::Path;
use super::syntax::{Arity, Syntax};

/// The most bytes of a pattern.
pub const MAX_LENGTH: usize = 64 * 1024;

/// Parses a pattern. Also returns the place of the guard in the text.
pub fn parse(text: &str) -> Result<(Syntax, Range<usize>), PatternError> {
    if text.len() > MAX_LENGTH {
        let start = text.floor_char_boundary(MAX_LENGTH);
        let message = format!("expected a pattern of at most {MAX_LENGTH} bytes");
        return Err(PatternError::new(message, start..start, &text[..start]));
    }
    let mut cursor = Cursor::new(text);
    let path = Path::parse(&mut cursor)?;
    let written = arity(&mut cursor)?;
    let start = cursor.at();
    let (Arguments { patterns, names, parts, .. }, arity) = Arguments::parse(&mut cursor)?;
    let arity = match written {
        None => arity,
        Some(written) if arity.allows(written) => Arity::exactly(written),
        Some(written) => {
            return Err(cursor.error(
                format!("expected patterns for {written} arguments, as `/{written}` says"),
                start..cursor.end(),
            ));
        }
    };
    let has_guard = cursor.eat_word("if");
    let beginning = cursor.at();
    let guard = if has_guard { Some(Guard::new(&mut cursor, &names).parse()?) } else { None };
    let place = beginning..cursor.end();
    let actions = if cursor.eat_word("do") { Actions::parse(&mut cursor)? } else { Actions::default() };
    if cursor.is_at_end() {
        return Ok((Syntax { path, arity, arguments: patterns, parts, guard, actions }, place));
    }
    Err(cursor.expected(match () {
        () if actions != Actions::default() => "`,` and an action, or the end",
        () if guard.is_some() => "an operator, `do` and actions, or the end",
        () => "`if` and a guard, `do` and actions, or the end",
    }))
}

/// Parses `/2`.
fn arity(cursor: &mut Cursor<'_>) -> Result<Option<usize>, PatternError> {
    if !cursor.eat_close("/") {
        return Ok(None);
    }
    let start = cursor.end();
    let digits = cursor.take_while(|c| c.is_ascii_digit());
    match digits.parse::<u16>() {
        Ok(arity) => Ok(Some(arity.into())),
        Err(_) if digits.is_empty() => Err(cursor.expected("a number of arguments")),
        Err(_) => Err(cursor.error("expected a number of arguments of at most 65535", start..cursor.end())),
    }
}
