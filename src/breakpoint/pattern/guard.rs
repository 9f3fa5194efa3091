//! Parses guards to [`Expression`]s. Operators bind as in Rust.

use std::ops::Range;

use super::cursor::Cursor;
use super::error::PatternError;
use super::literal::{Constant, literal};
use super::syntax::{ArgumentPlace, Arithmetic, Comparison, Expression, Leaf, TextTest};

/// The deepest nesting of parentheses, `!` and `-`.
pub const MAX_DEPTH: usize = 32;

/// The most bytes of a glob. A match takes at most as many steps as the text has bytes, times those of the glob.
pub const LONGEST_GLOB: usize = 256;

/// The type of a part's value, as far as it is known before any call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ValueType {
    /// An argument: its type is not known.
    Any,
    Integer,
    Bool,
    Char,
    Text,
    None,
}

/// A part of the guard that has been read.
struct Part {
    expression: Expression,
    kind: ValueType,
    span: Range<usize>,
}

/// Reads a guard.
pub struct Guard<'c, 't> {
    cursor: &'c mut Cursor<'t>,
    /// The arguments that names stand for.
    names: &'c [(&'t str, ArgumentPlace)],
    depth: usize,
}

impl<'c, 't> Guard<'c, 't> {
    pub fn new(cursor: &'c mut Cursor<'t>, names: &'c [(&'t str, ArgumentPlace)]) -> Guard<'c, 't> {
        Guard { cursor, names, depth: 0 }
    }

    pub fn parse(mut self) -> Result<Expression, PatternError> {
        let part = self.any()?;
        self.check(&part, ValueType::Bool)?;
        Ok(part.expression)
    }

    fn any(&mut self) -> Result<Part, PatternError> {
        self.conditions("||", Expression::Any, Self::all)
    }

    fn all(&mut self) -> Result<Part, PatternError> {
        self.conditions("&&", Expression::All, Self::comparison)
    }

    fn conditions(
        &mut self,
        operator: &str,
        make: fn(Vec<Expression>) -> Expression,
        next: fn(&mut Self) -> Result<Part, PatternError>,
    ) -> Result<Part, PatternError> {
        let first = next(self)?;
        let start = first.span.start;
        let mut parts = vec![first];
        while self.cursor.eat(operator) {
            parts.push(next(self)?);
        }
        if parts.len() == 1 {
            return Ok(parts.remove(0));
        }
        parts.iter().try_for_each(|part| self.check(part, ValueType::Bool))?;
        let expression = make(parts.into_iter().map(|part| part.expression).collect());
        Ok(self.part(expression, ValueType::Bool, start))
    }

    fn comparison(&mut self) -> Result<Part, PatternError> {
        let left = self.sum()?;
        let Some(comparison) = self.comparison_operator() else { return Ok(left) };
        let right = self.sum()?;
        let span = left.span.start..right.span.end;
        let (a, b) = (left.kind, right.kind);
        let equality = matches!(comparison, Comparison::Equal | Comparison::NotEqual);
        if let Some(kind) =
            [a, b].into_iter().find(|kind| !equality && matches!(kind, ValueType::Bool | ValueType::None))
        {
            return Err(self
                .cursor
                .error(format!("expected integers, characters or texts, found {}", kind.name()), span));
        }
        // A tag is a text, or there is none; an argument may be anything.
        let comparable = a == b
            || [a, b].contains(&ValueType::Any)
            || matches!((a, b), (ValueType::Text, ValueType::None) | (ValueType::None, ValueType::Text));
        if !comparable {
            return Err(self.cursor.error(format!("expected {}, found {}", a.name(), b.name()), right.span));
        }
        let mut ahead = self.cursor.clone();
        if self.comparison_operator().is_some() {
            return Err(ahead.expected("`&&`, for comparisons make no row"));
        }
        let start = span.start;
        Ok(self.part(
            Expression::Compare(comparison, [left.expression, right.expression].into()),
            ValueType::Bool,
            start,
        ))
    }

    fn comparison_operator(&mut self) -> Option<Comparison> {
        [
            ("==", Comparison::Equal),
            ("!=", Comparison::NotEqual),
            ("<=", Comparison::LessOrEqual),
            (">=", Comparison::GreaterOrEqual),
            ("<", Comparison::Less),
            (">", Comparison::Greater),
        ]
        .into_iter()
        .find_map(|(token, comparison)| self.cursor.eat(token).then_some(comparison))
    }

    fn sum(&mut self) -> Result<Part, PatternError> {
        self.arithmetic(&[("+", Arithmetic::Add), ("-", Arithmetic::Subtract)], Self::product)
    }

    fn product(&mut self) -> Result<Part, PatternError> {
        let operators = [("*", Arithmetic::Multiply), ("/", Arithmetic::Divide), ("%", Arithmetic::Remainder)];
        self.arithmetic(&operators, Self::unary)
    }

    fn arithmetic(
        &mut self,
        operators: &[(&str, Arithmetic)],
        next: fn(&mut Self) -> Result<Part, PatternError>,
    ) -> Result<Part, PatternError> {
        let first = next(self)?;
        let start = first.span.start;
        let mut rest = Vec::new();
        while let Some((_, operator)) = operators.iter().find(|(token, _)| self.cursor.eat(token)) {
            if rest.is_empty() {
                self.check(&first, ValueType::Integer)?;
            }
            let part = next(self)?;
            self.check(&part, ValueType::Integer)?;
            rest.push((*operator, part.expression));
        }
        if rest.is_empty() {
            return Ok(first);
        }
        Ok(self.part(Expression::Arithmetic(first.expression.into(), rest), ValueType::Integer, start))
    }

    fn unary(&mut self) -> Result<Part, PatternError> {
        let start = self.cursor.at();
        if let Some(constant) = literal(self.cursor)? {
            let kind = match constant {
                Constant::Integer(_) | Constant::Large(_) => ValueType::Integer,
                Constant::Bool(_) => ValueType::Bool,
                Constant::Char(_) => ValueType::Char,
                Constant::Text(_) => ValueType::Text,
                Constant::None => ValueType::None,
            };
            return Ok(self.part(Expression::Leaf(Leaf::Constant(constant)), kind, start));
        }
        if self.cursor.eat("!") {
            let part = self.nested(start, Self::unary)?;
            self.check(&part, ValueType::Bool)?;
            return Ok(self.part(Expression::Not(part.expression.into()), ValueType::Bool, start));
        }
        if self.cursor.eat("-") {
            let part = self.nested(start, Self::unary)?;
            self.check(&part, ValueType::Integer)?;
            return Ok(self.part(Expression::Negative(part.expression.into()), ValueType::Integer, start));
        }
        if self.cursor.eat("(") {
            let part = self.nested(start, Self::any)?;
            self.cursor.expect(")")?;
            return Ok(self.part(part.expression, part.kind, start));
        }
        self.name()
    }

    fn name(&mut self) -> Result<Part, PatternError> {
        let start = self.cursor.at();
        let mut ahead = self.cursor.clone();
        let (leaf, kind) = match ahead.word() {
            Some("pid") => (Leaf::Pid, ValueType::Integer),
            Some("thread") => (Leaf::Thread, ValueType::Integer),
            Some("tag") => (Leaf::Tag, ValueType::Text),
            Some(test @ ("starts_with" | "ends_with" | "contains" | "matches")) if ahead.eat("(") => {
                *self.cursor = ahead;
                return self.text_test(test, start);
            }
            Some(name) => match self.names.iter().find(|(known, _)| *known == name) {
                Some((_, place)) => (Leaf::ArgumentPlace(*place), ValueType::Any),
                None => return Err(self.unknown(name)),
            },
            None if ahead.eat("<") => return self.pid(ahead, start),
            None => return Err(self.cursor.expected("a value")),
        };
        *self.cursor = ahead;
        Ok(self.part(Expression::Leaf(leaf), kind, start))
    }

    fn unknown(&mut self, name: &str) -> PatternError {
        let known: Vec<_> =
            self.names.iter().map(|(known, _)| *known).chain(["pid", "tag", "thread"]).take(12).collect();
        match name {
            "if" | "do" => self.cursor.expected("a value"),
            _ => self.cursor.expected(&format!("one of the names {}", known.join(", "))),
        }
    }

    /// Parses a pid such as `<0.57.0>`. Returns the number in the middle.
    fn pid(&mut self, mut ahead: Cursor<'t>, start: usize) -> Result<Part, PatternError> {
        let number =
            ahead.eat_close("0.").then(|| ahead.take_while(|c| c.is_ascii_digit()).parse::<u64>().ok()).flatten();
        let number = number.filter(|_| ahead.eat_close(".0>"));
        let Some(number) = number else {
            return Err(self.cursor.expected("a value, or a pid such as <0.57.0>"));
        };
        *self.cursor = ahead;
        Ok(self.part(Expression::Leaf(Leaf::Constant(Constant::Integer(number.into()))), ValueType::Integer, start))
    }

    /// Parses `starts_with(name, "text")`, from behind the parenthesis.
    fn text_test(&mut self, test: &str, start: usize) -> Result<Part, PatternError> {
        let test = match test {
            "starts_with" => TextTest::StartsWith,
            "ends_with" => TextTest::EndsWith,
            "matches" => TextTest::Matches,
            _ => TextTest::Contains,
        };
        let text = self.nested(start, Self::any)?;
        self.cursor.expect(",")?;
        let part = self.nested(start, Self::any)?;
        self.cursor.expect(")")?;
        self.check(&text, ValueType::Text)?;
        self.check(&part, ValueType::Text)?;
        if test == TextTest::Matches && !is_glob(&part.expression) {
            let expected = format!("expected a glob: a text of at most {LONGEST_GLOB} bytes, such as \"req-*\"");
            return Err(self.cursor.error(expected, part.span));
        }
        Ok(self.part(Expression::Text(test, [text.expression, part.expression].into()), ValueType::Bool, start))
    }

    fn nested(
        &mut self,
        start: usize,
        next: fn(&mut Self) -> Result<Part, PatternError>,
    ) -> Result<Part, PatternError> {
        if self.depth == MAX_DEPTH {
            let message = format!("expected nothing nested deeper than {MAX_DEPTH} levels");
            return Err(self.cursor.error(message, start..self.cursor.end()));
        }
        self.depth += 1;
        let part = next(self);
        self.depth -= 1;
        part
    }

    fn part(&self, expression: Expression, kind: ValueType, start: usize) -> Part {
        Part { expression, kind, span: start..self.cursor.end() }
    }

    fn check(&self, part: &Part, wanted: ValueType) -> Result<(), PatternError> {
        if part.kind == wanted || part.kind == ValueType::Any {
            return Ok(());
        }
        Err(self.cursor.error(format!("expected {}, found {}", wanted.name(), part.kind.name()), part.span.clone()))
    }
}

/// Whether it is a literal that is no longer than globs may be.
fn is_glob(expression: &Expression) -> bool {
    matches!(expression, Expression::Leaf(Leaf::Constant(Constant::Text(text))) if text.len() <= LONGEST_GLOB)
}

impl ValueType {
    fn name(self) -> &'static str {
        match self {
            ValueType::Any => "a value",
            ValueType::Integer => "an integer",
            ValueType::Bool => "a condition",
            ValueType::Char => "a character",
            ValueType::Text => "a text",
            ValueType::None => "None",
        }
    }
}
