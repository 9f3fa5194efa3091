//! Finds parts of a value in the text that its `Debug` prints.
//!
//! A derived `Debug` prints `Order { id: 7, .. }`, `Shipped(3)`, `(7, "rye")` or `[1, 2]`. A value whose `Debug` prints anything else has
//! no parts: a pattern that asks for one does not match.

use super::syntax::{Arity, Position};
use super::unquoted::{CHARACTER, TEXT};
use crate::breakpoint::value::shell::{Shell, Variant};
use crate::breakpoint::value::{Plain, Value};

/// One step from a value to a part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// The field of this name.
    Field(Box<str>),
    /// One of the values of a tuple, a variant, an array or a slice.
    Item(Position),
}

/// The form that a pattern requires of a value with parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Form {
    /// The name of the structure or the variant, without a path; empty for a tuple or a slice.
    pub name: Box<str>,
    pub brackets: Brackets,
    /// The number of its parts.
    pub parts: Arity,
}

/// The brackets around the parts of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Brackets {
    /// There are no parts.
    None,
    /// `{`
    Fields,
    /// `(`
    Tuple,
    /// `[`
    List,
}

impl Form {
    /// Returns whether the printed value has this form, or `None` if the text was cut too early to tell.
    pub fn is_of(&self, printed: &[u8]) -> Option<bool> {
        let group = Group::of(printed);
        if group.name != self.name.as_bytes() || group.brackets != self.brackets {
            return Some(false);
        }
        if self.brackets == Brackets::None {
            return Some(true);
        }
        let mut parts = Parts(group.inside);
        let mut count = 0;
        // Counted beyond the least only if there may be too many.
        while count < self.parts.least || self.parts.most != usize::MAX {
            match parts.next()? {
                // The `Debug` left fields out and does not say how many.
                Some(b"..") => return None,
                Some(_) => count += 1,
                None => break,
            }
        }
        Some(self.parts.allows(count))
    }
}

/// Follows the steps from a printed value to a part of it. Returns `None` if the part is missing or was cut.
pub fn part<'p>(printed: &'p [u8], steps: &[Step]) -> Option<&'p [u8]> {
    steps.iter().try_fold(printed, |value, step| {
        let inside = Group::of(value).inside;
        match step {
            Step::Field(name) => field(inside, name.as_bytes()),
            Step::Item(Position::FromStart(number)) => Parts(inside).nth((*number).into()),
            Step::Item(position) => Parts(inside).nth(position.of(Parts(inside).count()?)?),
        }
    })
}

/// Reads a printed value. Returns `None` for a kind of value that patterns do not compare.
pub fn value(printed: &[u8]) -> Option<Value<'_>> {
    let mut variants = [Variant::Some; Shell::DEPTH];
    let (mut depth, mut inside) = (0, printed);
    while let Some(variant) = variant(inside) {
        *variants.get_mut(depth)? = variant;
        depth += 1;
        inside = Parts(Group::of(inside).inside).nth(0)?;
    }
    let plain = Value::of(plain(inside)?);
    Some(variants[..depth].iter().rev().fold(plain, |value, variant| value.within(*variant)))
}

fn variant(printed: &[u8]) -> Option<Variant> {
    let Group { name, brackets, .. } = Group::of(printed);
    (brackets == Brackets::Tuple).then(|| str::from_utf8(name).ok().and_then(Variant::named))?
}

fn plain(printed: &[u8]) -> Option<Plain<'_>> {
    if let Some(text) = between(printed, TEXT) {
        return Some(Plain::Text(str::from_utf8(text).ok()?));
    }
    if let Some(character) = between(printed, CHARACTER) {
        return str::from_utf8(character).ok()?.chars().next().map(Plain::Char);
    }
    let word = str::from_utf8(printed).ok()?;
    match word {
        "true" => Some(Plain::Bool(true)),
        "false" => Some(Plain::Bool(false)),
        "None" => Some(Plain::None),
        _ => word.parse().map(Plain::Integer).or_else(|_| word.parse().map(Plain::Large)).ok(),
    }
}

fn between(printed: &[u8], mark: u8) -> Option<&[u8]> {
    printed.strip_prefix(&[mark])?.strip_suffix(&[mark])
}

/// A printed value, split at its opening bracket. `inside` goes on behind the closing one.
struct Group<'p> {
    name: &'p [u8],
    brackets: Brackets,
    inside: &'p [u8],
}

impl<'p> Group<'p> {
    fn of(printed: &'p [u8]) -> Group<'p> {
        let is_of_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || (0x80..CHARACTER).contains(byte);
        let end = printed.iter().position(|byte| !is_of_name(byte)).unwrap_or(printed.len());
        let (name, rest) = printed.split_at(end);
        let (brackets, inside) = match rest {
            [b' ', b'{', inside @ ..] => (Brackets::Fields, inside),
            [b'(', inside @ ..] => (Brackets::Tuple, inside),
            [b'[', inside @ ..] => (Brackets::List, inside),
            _ => (Brackets::None, rest),
        };
        // Without brackets the whole text is the name.
        let name = if brackets == Brackets::None { printed } else { name };
        Group { name, brackets, inside }
    }
}

/// Iterates over the parts of a value.
struct Parts<'p>(&'p [u8]);

impl<'p> Parts<'p> {
    /// Returns the next part, `Some(None)` after the last one, and `None` if the text was cut.
    fn next(&mut self) -> Option<Option<&'p [u8]>> {
        let start = self.0.trim_ascii_start();
        let length = length(start)?;
        let (part, rest) = start.split_at(length);
        let (end, rest) = rest.split_first()?;
        if *end == b',' {
            self.0 = rest;
        } else if part.is_empty() {
            return Some(None);
        } else {
            // Leave the bracket: the next call sees it with no part before it and ends.
            self.0 = &start[length..];
        }
        Some(Some(part.trim_ascii_end()))
    }

    fn nth(&mut self, number: usize) -> Option<&'p [u8]> {
        for _ in 0..number {
            self.next()??;
        }
        self.next()?.filter(|part| part != b"..")
    }

    /// Returns `None` if the text was cut or the `Debug` left parts out.
    fn count(&mut self) -> Option<usize> {
        let mut count = 0;
        while let Some(part) = self.next()? {
            if part == b".." {
                return None;
            }
            count += 1;
        }
        Some(count)
    }
}

fn field<'p>(inside: &'p [u8], name: &[u8]) -> Option<&'p [u8]> {
    let mut parts = Parts(inside);
    loop {
        let part = parts.next()??;
        if let Some(value) = part.strip_prefix(name).and_then(|rest| rest.strip_prefix(b":")) {
            return Some(value.trim_ascii_start());
        }
    }
}

/// Returns the length of the first value, up to its comma or closing bracket, or `None` if the text ends before either.
fn length(printed: &[u8]) -> Option<usize> {
    let (mut at, mut depth) = (0, 0_usize);
    loop {
        match *printed.get(at)? {
            mark @ (TEXT | CHARACTER) => at += 1 + printed[at + 1..].iter().position(|byte| *byte == mark)?,
            b'(' | b'[' | b'{' => depth += 1,
            b',' | b')' | b']' | b'}' if depth == 0 => return Some(at),
            b')' | b']' | b'}' => depth -= 1,
            _ => {}
        }
        at += 1;
    }
}
