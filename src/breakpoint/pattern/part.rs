//! Parts of values: where a pattern finds them in what a value prints.
//!
//! What is looked into is a value as its `Debug` prints it: `Order { id: 7, .. }`, `Shipped(3)`, `(7, "rye")`, `[1, 2]`. A `Debug` that is
//! derived prints so. One that prints something else has no parts, and a pattern that asks for some is not met.

use super::syntax::{Arity, Position};
use super::unquoted::{CHARACTER, TEXT};
use crate::breakpoint::value::{Plain, Shell, Value, Variant};

/// From a value to a part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// The field of this name.
    Field(Box<str>),
    /// One of the values of a tuple, a variant, an array or a slice.
    Item(Position),
}

/// What a value with parts has to look like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Form {
    /// The name of the structure or the variant, without a path; empty for a tuple or a slice.
    pub name: Box<str>,
    pub brackets: Brackets,
    /// How many parts it has.
    pub parts: Arity,
}

/// What the parts of a value stand in.
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
    /// Whether `printed`, a value, has this form. `None` if it was cut before that can be told.
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
        // More than the least are counted only where there may be too many.
        while count < self.parts.least || self.parts.most != usize::MAX {
            match parts.next()? {
                // What stands there says that there are others, and not how many.
                Some(b"..") => return None,
                Some(_) => count += 1,
                None => break,
            }
        }
        Some(self.parts.allows(count))
    }
}

/// The part of `printed` that these steps lead to. `None` if it is not there or was cut.
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

/// The value that was printed so, as far as it is one that patterns know.
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
    match Group::of(printed) {
        Group { name: b"Some", brackets: Brackets::Tuple, .. } => Some(Variant::Some),
        Group { name: b"Ok", brackets: Brackets::Tuple, .. } => Some(Variant::Ok),
        Group { name: b"Err", brackets: Brackets::Tuple, .. } => Some(Variant::Err),
        _ => None,
    }
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

/// A value: its name, and what is in its brackets and behind them.
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
        // A value without brackets is all that was printed.
        let name = if brackets == Brackets::None { printed } else { name };
        Group { name, brackets, inside }
    }
}

/// The parts of a value, one after the other.
struct Parts<'p>(&'p [u8]);

impl<'p> Parts<'p> {
    /// The next one; `Some(None)` behind the last. `None` if it was cut.
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
            // The bracket is met again, with nothing before it.
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

    /// `None` if not all are there.
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

/// How long the value is that stands first, up to the comma or the bracket behind it. `None` if neither is there.
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
