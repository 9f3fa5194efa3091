//! The syntax tree of patterns. Only parentheses nest, to a fixed depth.

use super::actions::Actions;
use super::literal::Constant;
use super::part::{Form, Step};
use super::path::Path;
use crate::breakpoint::value::shell::Shell;

#[derive(Clone, Debug, PartialEq)]
pub struct Syntax {
    pub path: Path,
    pub arity: Arity,
    /// Arguments that match anything have no condition here.
    pub arguments: Vec<Argument>,
    pub parts: Vec<Vec<Step>>,
    pub guard: Option<Expression>,
    pub actions: Actions,
}

/// The number of arguments of a function, or of parts of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arity {
    pub least: usize,
    pub most: usize,
}

impl Arity {
    pub const ANY: Arity = Arity { least: 0, most: usize::MAX };

    pub fn exactly(number: usize) -> Arity {
        Arity { least: number, most: number }
    }

    pub fn allows(self, arity: usize) -> bool {
        (self.least..=self.most).contains(&arity)
    }
}

/// A condition on an argument or on a part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    pub place: ArgumentPlace,
    pub wanted: Wanted,
}

/// The condition on a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// The place exists.
    Anything,
    Constant(Constant),
    /// A value with parts.
    Form(Form),
}

/// An argument, or a part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArgumentPlace {
    pub position: Position,
    /// The variants to remove.
    pub shell: Shell,
    /// Index of the steps to a part of the printed argument. The shell is empty then.
    pub part: Option<u16>,
}

/// Index of an argument, or of a value in a tuple or a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    FromStart(u16),
    /// The last is 1.
    FromEnd(u16),
}

impl Position {
    /// Returns the same position, counted from the end of a list of `count`.
    pub fn counted_back(self, count: u16) -> Position {
        match self {
            Position::FromStart(number) => Position::FromEnd(count - number),
            Position::FromEnd(_) => self,
        }
    }

    /// Returns the argument's index in a call with `arity` arguments.
    pub fn of(self, arity: usize) -> Option<usize> {
        match self {
            Position::FromStart(number) => Some(number.into()),
            Position::FromEnd(number) => arity.checked_sub(number.into()),
        }
    }
}

/// A guard, or a part of one.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    Leaf(Leaf),
    Not(Box<Expression>),
    Negative(Box<Expression>),
    Compare(Comparison, Box<[Expression; 2]>),
    Text(TextTest, Box<[Expression; 2]>),
    /// Operators of one precedence, from left to right.
    Arithmetic(Box<Expression>, Vec<(Arithmetic, Expression)>),
    All(Vec<Expression>),
    Any(Vec<Expression>),
}

/// An expression without operators.
#[derive(Clone, Debug, PartialEq)]
pub enum Leaf {
    Constant(Constant),
    ArgumentPlace(ArgumentPlace),
    Pid,
    Tag,
    Thread,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextTest {
    StartsWith,
    EndsWith,
    Contains,
    /// The part is a glob of at most [`LONGEST_GLOB`](super::guard::LONGEST_GLOB) bytes, and a literal.
    Matches,
}
