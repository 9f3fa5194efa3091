//! From text to [`Syntax`]: the path, the arguments, and what is behind them.
//!
//! Written by hand: the grammar fits two screens, errors say what was expected in the pattern's own words, and programs that are traced
//! get no parser library for it.

use std::ops::Range;

use super::actions::Actions;
use super::cursor::Cursor;
use super::error::PatternError;
use super::guard::Guard;
use super::literal::{Constant, literal};
use super::path::Path;
use super::syntax::{Argument, Arity, Place, Position, Syntax};
use crate::breakpoint::value::{Shell, Variant};

/// How many bytes a pattern may have.
pub const MAX_LENGTH: usize = 64 * 1024;

/// Words that mean something in guards, so that no argument can have their name.
const RESERVED: [&str; 5] = ["if", "do", "pid", "tag", "thread"];

/// What a text says, and where in it the guard is.
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
    let Arguments { patterns, names, arity } = Arguments::parse(&mut cursor)?;
    let arity = match written {
        None => arity,
        Some(written) if arity.allows(written) => Arity { least: written, most: written },
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
        return Ok((Syntax { path, arity, arguments: patterns, guard, actions }, place));
    }
    Err(cursor.expected(match () {
        () if actions != Actions::default() => "`,` and an action, or the end",
        () if guard.is_some() => "an operator, `do` and actions, or the end",
        () => "`if` and a guard, `do` and actions, or the end",
    }))
}

/// `/2`
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

/// The patterns of arguments, and what names they give.
struct Arguments<'t> {
    patterns: Vec<Argument>,
    names: Vec<(&'t str, Place)>,
    arity: Arity,
}

impl<'t> Arguments<'t> {
    fn parse(cursor: &mut Cursor<'t>) -> Result<Arguments<'t>, PatternError> {
        let mut arguments = Arguments { patterns: Vec::new(), names: Vec::new(), arity: Arity::ANY };
        if !cursor.eat("(") {
            return Ok(arguments);
        }
        let (mut count, mut rest) = (0u16, None);
        while !cursor.eat(")") {
            let start = cursor.at();
            if cursor.eat("..") {
                if rest.replace((count, arguments.patterns.len(), arguments.names.len())).is_some() {
                    return Err(cursor.error("expected one `..` at most", start..cursor.end()));
                }
            } else {
                // A pattern's length bounds them well below 2^16.
                arguments.one(cursor, Position::FromStart(count))?;
                count += 1;
            }
            if !cursor.eat(",") {
                if cursor.eat(")") {
                    break;
                }
                return Err(cursor.expected("`,` or `)`"));
            }
        }
        let least = count.into();
        arguments.arity = Arity { least, most: if rest.is_some() { usize::MAX } else { least } };
        if let Some((_, patterns, names)) = rest {
            // What is behind `..` is counted from the end.
            let behind = arguments.patterns[patterns..].iter_mut().map(|pattern| &mut pattern.place);
            for place in behind.chain(arguments.names[names..].iter_mut().map(|(_, place)| place)) {
                if let Position::FromStart(number) = place.position {
                    place.position = Position::FromEnd(count - number);
                }
            }
        }
        Ok(arguments)
    }

    /// One pattern: `Some(Ok(qty))` is a row of variants and what is inside of them.
    fn one(&mut self, cursor: &mut Cursor<'t>, position: Position) -> Result<(), PatternError> {
        let mut variants = Vec::new();
        while let Some(variant) = variant(cursor)? {
            if variants.len() == Shell::DEPTH {
                let message = format!("expected at most {} variants, one in the other", Shell::DEPTH);
                return Err(cursor.error(message, cursor.end() - 1..cursor.end()));
            }
            variants.push(variant);
        }
        let shell = variants.iter().rev().try_fold(Shell::EMPTY, |shell, variant| shell.within(*variant));
        let place = Place { position, shell: shell.unwrap_or_default() };
        let constant = self.innermost(cursor, place)?;
        if constant.is_some() || place.shell != Shell::EMPTY {
            self.patterns.push(Argument { place, constant });
        }
        variants.iter().try_for_each(|_| cursor.expect(")"))
    }

    fn innermost(&mut self, cursor: &mut Cursor<'t>, place: Place) -> Result<Option<Constant>, PatternError> {
        if let Some(constant) = literal(cursor)? {
            return Ok(Some(constant));
        }
        let start = cursor.at();
        let name = match cursor.peek_word() {
            Some(name) if !name.starts_with(char::is_uppercase) => name,
            _ => return Err(cursor.expected("a pattern: a literal, `_`, a name, `..`, Some(), None, Ok() or Err()")),
        };
        cursor.word();
        let span = start..cursor.end();
        if RESERVED.contains(&name) {
            return Err(
                cursor.error(format!("expected another name than `{name}`, which has a meaning of its own"), span)
            );
        }
        if name != "_" {
            if self.names.iter().any(|(other, _)| *other == name) {
                return Err(
                    cursor.error(format!("expected another name: `{name}` is taken by an argument before"), span)
                );
            }
            self.names.push((name, place));
        }
        Ok(None)
    }
}

/// A variant and its parenthesis, if one comes next.
fn variant(cursor: &mut Cursor<'_>) -> Result<Option<Variant>, PatternError> {
    let variant = match cursor.peek_word() {
        Some("Some") => Variant::Some,
        Some("Ok") => Variant::Ok,
        Some("Err") => Variant::Err,
        _ => return Ok(None),
    };
    cursor.word();
    cursor.expect("(")?;
    Ok(Some(variant))
}
