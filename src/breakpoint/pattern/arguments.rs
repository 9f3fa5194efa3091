//! Parses the patterns of arguments: literals, names, variants and parts of values.

use super::cursor::Cursor;
use super::error::PatternError;
use super::evaluate::MOST_LOOKED_INTO;
use super::guard::MAX_DEPTH;
use super::literal::literal;
use super::part::{Brackets, Form, Step};
use super::syntax::{Argument, ArgumentPlace, Arity, Position, Wanted};
use crate::breakpoint::value::shell::{Shell, Variant};

/// Words with a meaning in guards. Arguments cannot have these names.
const RESERVED: [&str; 5] = ["if", "do", "pid", "tag", "thread"];

/// The patterns of arguments, and the names that they bind.
#[derive(Default)]
pub struct Arguments<'t> {
    pub patterns: Vec<Argument>,
    pub names: Vec<(&'t str, ArgumentPlace)>,
    pub parts: Vec<Vec<Step>>,
    looked_into: usize,
}

/// A list of patterns between two brackets.
struct Row {
    count: u16,
    /// The lengths of the lists at a `..`, if there was one. Positions behind it count from the end.
    behind: Option<Mark>,
    ends_in_comma: bool,
}

/// The lengths of the lists of [`Arguments`] at a `..`.
struct Mark {
    patterns: usize,
    names: usize,
    parts: usize,
}

impl Row {
    /// The number of values that the list matches.
    fn arity(&self) -> Arity {
        let least = self.count.into();
        Arity { least, most: if self.behind.is_some() { usize::MAX } else { least } }
    }
}

impl<'t> Arguments<'t> {
    /// Parses `(a, .., b)`, if it comes next. Also returns the number of arguments that it matches.
    pub fn parse(cursor: &mut Cursor<'t>) -> Result<(Arguments<'t>, Arity), PatternError> {
        let mut arguments = Arguments::default();
        if !cursor.eat("(") {
            return Ok((arguments, Arity::ANY));
        }
        let row = arguments
            .row(cursor, ")", |arguments, cursor, number| arguments.argument(cursor, Position::FromStart(number)))?;
        if let Some(behind) = &row.behind {
            let patterns = arguments.patterns[behind.patterns..].iter_mut().map(|pattern| &mut pattern.place);
            let names = arguments.names[behind.names..].iter_mut().map(|(_, place)| place);
            patterns.chain(names).for_each(|place| place.position = place.position.counted_back(row.count));
        }
        Ok((arguments, row.arity()))
    }

    /// Parses patterns up to `close`, each by `one`, which gets its index.
    fn row(
        &mut self,
        cursor: &mut Cursor<'t>,
        close: &str,
        mut one: impl FnMut(&mut Self, &mut Cursor<'t>, u16) -> Result<(), PatternError>,
    ) -> Result<Row, PatternError> {
        let mut row = Row { count: 0, behind: None, ends_in_comma: true };
        while !cursor.eat(close) {
            let start = cursor.at();
            if cursor.eat("..") {
                let mark = Mark { patterns: self.patterns.len(), names: self.names.len(), parts: self.parts.len() };
                if row.behind.replace(mark).is_some() {
                    return Err(cursor.error("expected one `..` at most", start..cursor.end()));
                }
            } else {
                // A pattern's length bounds them well below 2^16.
                one(self, cursor, row.count)?;
                row.count += 1;
            }
            row.ends_in_comma = cursor.eat(",");
            if !row.ends_in_comma {
                if cursor.eat(close) {
                    break;
                }
                return Err(cursor.expected(&format!("`,` or `{close}`")));
            }
        }
        Ok(row)
    }

    /// Parses the pattern of one argument: `Some(Ok(qty))` is two variants and the pattern in them.
    fn argument(&mut self, cursor: &mut Cursor<'t>, position: Position) -> Result<(), PatternError> {
        let mut variants = Vec::new();
        while let Some(variant) = variant(cursor)? {
            if variants.len() == Shell::DEPTH {
                let message = format!("expected at most {} variants, one in the other", Shell::DEPTH);
                return Err(cursor.error(message, cursor.end() - 1..cursor.end()));
            }
            variants.push(variant);
        }
        if is_form(cursor) {
            self.look_into(cursor, position, &variants)?;
        } else {
            let shell = variants.iter().rev().try_fold(Shell::EMPTY, |shell, variant| shell.within(*variant));
            let place = ArgumentPlace { position, shell: shell.unwrap_or_default(), part: None };
            let wanted = self.innermost(cursor, place)?;
            if wanted != Wanted::Anything || place.shell != Shell::EMPTY {
                self.patterns.push(Argument { place, wanted });
            }
        }
        variants.iter().try_for_each(|_| cursor.expect(")"))
    }

    /// Parses a value with parts inside `variants`. The printed text has the variants around it, so they become steps.
    fn look_into(
        &mut self,
        cursor: &mut Cursor<'t>,
        position: Position,
        variants: &[Variant],
    ) -> Result<(), PatternError> {
        if self.looked_into == MOST_LOOKED_INTO {
            let message = format!("expected at most {MOST_LOOKED_INTO} arguments that are looked into");
            return Err(cursor.error_at_next(message));
        }
        self.looked_into += 1;
        let mut steps = Vec::new();
        for variant in variants {
            let place = self.place(position, &steps);
            let form = Form { name: variant.to_string().into(), brackets: Brackets::Tuple, parts: Arity::exactly(1) };
            self.patterns.push(Argument { place, wanted: Wanted::Form(form) });
            steps.push(Step::Item(Position::FromStart(0)));
        }
        self.form(cursor, position, &mut steps)
    }

    /// Adds a part and returns its place.
    fn place(&mut self, position: Position, steps: &[Step]) -> ArgumentPlace {
        self.parts.push(steps.to_vec());
        // A pattern's length bounds them, too.
        ArgumentPlace { position, shell: Shell::EMPTY, part: Some((self.parts.len() - 1) as u16) }
    }

    /// Parses `Order { id: 7, .. }`, `Shipped(_)`, `Shipped`, `(7, _)` or `[first, .., last]`.
    fn form(&mut self, cursor: &mut Cursor<'t>, position: Position, steps: &mut Vec<Step>) -> Result<(), PatternError> {
        let start = cursor.at();
        if steps.len() >= MAX_DEPTH {
            let message = format!("expected nothing nested deeper than {MAX_DEPTH} levels");
            return Err(cursor.error_at_next(message));
        }
        let name = name(cursor)?;
        let place = self.place(position, steps);
        let pattern = self.patterns.len();
        let wanted = Wanted::Form(Form { name: name.into(), brackets: Brackets::None, parts: Arity::exactly(0) });
        self.patterns.push(Argument { place, wanted });
        let (brackets, row) = if cursor.eat("(") {
            (Brackets::Tuple, self.items(cursor, ")", position, steps)?)
        } else if name.is_empty() {
            cursor.expect("[")?;
            (Brackets::List, self.items(cursor, "]", position, steps)?)
        } else if cursor.eat("{") {
            (Brackets::Fields, self.fields(cursor, position, steps)?)
        } else if Variant::named(name).is_some() {
            return Err(cursor.expected("`(`"));
        } else {
            return Ok(());
        };
        if name.is_empty()
            && brackets == Brackets::Tuple
            && row.count == 1
            && !row.ends_in_comma
            && row.behind.is_none()
        {
            return Err(cursor.error("expected `,` in a tuple of one value, as in (x,)", start..cursor.end()));
        }
        if let Some(behind) = row.behind.as_ref().filter(|_| brackets != Brackets::Fields) {
            for part in &mut self.parts[behind.parts..] {
                if let Some(Step::Item(position)) = part.get_mut(steps.len()) {
                    *position = position.counted_back(row.count);
                }
            }
        }
        let form = Form { name: name.into(), brackets, parts: row.arity() };
        self.patterns[pattern].wanted = Wanted::Form(form);
        Ok(())
    }

    fn items(
        &mut self,
        cursor: &mut Cursor<'t>,
        close: &str,
        position: Position,
        steps: &mut Vec<Step>,
    ) -> Result<Row, PatternError> {
        self.row(cursor, close, |arguments, cursor, number| {
            arguments.part(cursor, position, steps, Step::Item(Position::FromStart(number)))
        })
    }

    fn fields(
        &mut self,
        cursor: &mut Cursor<'t>,
        position: Position,
        steps: &mut Vec<Step>,
    ) -> Result<Row, PatternError> {
        self.row(cursor, "}", |arguments, cursor, _| {
            let mut ahead = cursor.clone();
            let Some(name) = ahead.word() else { return Err(cursor.expected("the name of a field, or `..`")) };
            // `id` alone means `id: id`.
            if ahead.eat(":") {
                *cursor = ahead;
            }
            arguments.part(cursor, position, steps, Step::Field(name.into()))
        })
    }

    /// Parses the pattern of a part, one `step` further.
    fn part(
        &mut self,
        cursor: &mut Cursor<'t>,
        position: Position,
        steps: &mut Vec<Step>,
        step: Step,
    ) -> Result<(), PatternError> {
        steps.push(step);
        if is_form(cursor) || is_variant(cursor) {
            self.form(cursor, position, steps)?;
        } else {
            let place = self.place(position, steps);
            let wanted = self.innermost(cursor, place)?;
            self.patterns.push(Argument { place, wanted });
        }
        steps.pop();
        Ok(())
    }

    /// Parses a literal, a name or `_`.
    fn innermost(&mut self, cursor: &mut Cursor<'t>, place: ArgumentPlace) -> Result<Wanted, PatternError> {
        if let Some(constant) = literal(cursor)? {
            return Ok(Wanted::Constant(constant));
        }
        let start = cursor.at();
        let Some(name) = cursor.word() else {
            return Err(cursor.expected("a pattern: a literal, `_`, a name, `..`, Some(), None, Ok(), Err(), or a value with parts, such as Order { id, .. }"));
        };
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
        Ok(Wanted::Anything)
    }
}

/// Parses `Some(`, `Ok(` or `Err(`, if it comes next.
fn variant(cursor: &mut Cursor<'_>) -> Result<Option<Variant>, PatternError> {
    let variant = cursor.peek_word().and_then(Variant::named);
    if variant.is_some() {
        cursor.word();
        cursor.expect("(")?;
    }
    Ok(variant)
}

fn is_variant(cursor: &mut Cursor<'_>) -> bool {
    cursor.peek_word().and_then(Variant::named).is_some()
}

/// Returns whether a value with parts comes next, or a variant without any.
fn is_form(cursor: &mut Cursor<'_>) -> bool {
    let mut ahead = cursor.clone();
    match ahead.word() {
        Some("None") => false,
        Some(word) => word.starts_with(char::is_uppercase) || ahead.eat_close("::"),
        None => ahead.eat("(") || ahead.eat("["),
    }
}

/// Parses the name of a structure or a variant, empty if there is none. Skips the path before it, which `Debug` does not print.
fn name<'t>(cursor: &mut Cursor<'t>) -> Result<&'t str, PatternError> {
    let Some(mut name) = cursor.word() else { return Ok("") };
    while cursor.eat_close("::") {
        name = cursor.word().ok_or_else(|| cursor.expected("a name"))?;
    }
    Ok(name)
}
