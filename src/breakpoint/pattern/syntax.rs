//! What a pattern's text says, as a tree. It is flat but for parentheses, and those nest to a fixed depth.

use super::actions::Actions;
use super::literal::Constant;
use super::path::Path;
use crate::breakpoint::value::Shell;

/// A whole pattern.
#[derive(Clone, Debug, PartialEq)]
pub struct Syntax {
    pub path: Path,
    pub arity: Arity,
    /// Of arguments that can be anything there is none.
    pub arguments: Vec<Argument>,
    pub guard: Option<Expression>,
    pub actions: Actions,
}

/// How many arguments a function may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arity {
    pub least: usize,
    pub most: usize,
}

impl Arity {
    pub const ANY: Arity = Arity { least: 0, most: usize::MAX };

    pub fn allows(self, arity: usize) -> bool {
        (self.least..=self.most).contains(&arity)
    }
}

/// What one argument has to be: in such a shell, and there this constant or, without one, anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    pub place: Place,
    pub constant: Option<Constant>,
}

/// An argument, or a part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub position: Position,
    /// What is to be taken off.
    pub shell: Shell,
}

/// Which argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// From 0.
    FromStart(u16),
    /// The last is 1.
    FromEnd(u16),
}

impl Position {
    /// The argument's number in a call with so many.
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
    /// `&&`
    All(Vec<Expression>),
    /// `||`
    Any(Vec<Expression>),
}

/// What needs no computing.
#[derive(Clone, Debug, PartialEq)]
pub enum Leaf {
    Constant(Constant),
    Place(Place),
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
}
