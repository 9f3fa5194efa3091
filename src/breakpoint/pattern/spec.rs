//! Compiled patterns: a list of checks, and the guard as instructions on a few registers.
//!
//! Operators compute integers or booleans, and the compiler knows which, so a register is an `i128`. All jumps go forward: an evaluation
//! executes each instruction at most once.

use super::actions::Actions;
use super::literal::Constant;
use super::part::Step;
use super::syntax::{
    Argument, ArgumentPlace, Arithmetic, Arity, Comparison, Expression, Leaf, Position, Syntax, TextTest,
};

/// The most instructions of a guard.
pub const MAX_INSTRUCTIONS: usize = 4096;
/// The most intermediate results of a guard at once.
pub const REGISTERS: usize = 8;

/// A compiled pattern: which calls match it, and the actions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchSpec {
    pub(super) arity: Arity,
    /// Whole arguments first, then parts.
    pub(super) arguments: Box<[Argument]>,
    /// The arguments that the pattern looks into.
    pub(super) looked_into: Box<[Position]>,
    pub(super) parts: Box<[Vec<Step>]>,
    /// Leaves its result in register 0. Empty without a guard.
    pub(super) guard: Box<[Instruction]>,
    /// Whether the guard reads a part of an argument. Any other guard is evaluated before arguments are printed for their parts.
    pub(super) guard_needs_parts: bool,
    pub(super) constants: Box<[Constant]>,
    pub(super) actions: Actions,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instruction {
    /// The boolean at a place.
    Truth {
        of: Operand,
        to: u8,
    },
    Not {
        register: u8,
    },
    Compare {
        comparison: Comparison,
        left: Operand,
        right: Operand,
        to: u8,
    },
    Text {
        test: TextTest,
        text: Operand,
        part: Operand,
        to: u8,
    },
    Arithmetic {
        operator: Arithmetic,
        left: Operand,
        right: Operand,
        to: u8,
    },
    /// Jumps to `target` if the register is (not) true.
    Jump {
        register: u8,
        when: bool,
        target: u16,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// A register that holds an integer.
    Integer(u8),
    /// A register that holds a boolean.
    Truth(u8),
    Constant(u16),
    ArgumentPlace(ArgumentPlace),
    Pid,
    Tag,
    Thread,
}

/// Why a guard cannot be compiled.
pub const TOO_LONG: &str = "expected a guard of at most 4096 operations";
/// Why a guard cannot be compiled.
pub const TOO_DEEP: &str = "expected a guard with at most 8 operands that wait for others in parentheses";

impl MatchSpec {
    pub(super) fn compile(syntax: &Syntax) -> Result<MatchSpec, &'static str> {
        let mut compiler = Compiler { code: Vec::new(), constants: Vec::new() };
        if let Some(guard) = &syntax.guard {
            compiler.condition(guard, 0)?;
        }
        let mut arguments = syntax.arguments.clone();
        arguments.sort_by_key(|argument| argument.place.part.is_some());
        let mut looked_into: Vec<_> = parts_of(&arguments).iter().map(|argument| argument.place.position).collect();
        looked_into.dedup();
        let guard_needs_parts = syntax.guard.as_ref().is_some_and(needs_parts);
        Ok(MatchSpec {
            arity: syntax.arity,
            arguments: arguments.into(),
            looked_into: looked_into.into(),
            parts: syntax.parts.as_slice().into(),
            guard: compiler.code.into(),
            guard_needs_parts,
            constants: compiler.constants.into(),
            actions: syntax.actions,
        })
    }

    /// Returns whether it matches every call of the functions that the pattern selects.
    pub fn takes_all(&self) -> bool {
        self.arguments.is_empty() && self.guard.is_empty()
    }

    /// Returns the actions for calls that match.
    pub fn actions(&self) -> Actions {
        self.actions
    }
}

/// Returns the conditions on parts, which come last.
pub(super) fn parts_of(arguments: &[Argument]) -> &[Argument] {
    &arguments[arguments.partition_point(|argument| argument.place.part.is_none())..]
}

/// Returns whether the expression reads a part of an argument.
fn needs_parts(expression: &Expression) -> bool {
    match expression {
        Expression::Leaf(leaf) => matches!(leaf, Leaf::ArgumentPlace(ArgumentPlace { part: Some(_), .. })),
        Expression::Not(inner) | Expression::Negative(inner) => needs_parts(inner),
        Expression::Arithmetic(first, rest) => {
            needs_parts(first) || rest.iter().any(|(_, operand)| needs_parts(operand))
        }
        Expression::Compare(_, sides) | Expression::Text(_, sides) => sides.iter().any(needs_parts),
        Expression::All(conditions) | Expression::Any(conditions) => conditions.iter().any(needs_parts),
    }
}

struct Compiler {
    code: Vec<Instruction>,
    constants: Vec<Constant>,
}

type Compiled<T> = Result<T, &'static str>;

impl Compiler {
    /// Computes a boolean into register `to`.
    fn condition(&mut self, expression: &Expression, to: u8) -> Compiled<()> {
        match self.operand(expression, to)? {
            Operand::Truth(_) => Ok(()),
            of => self.emit(Instruction::Truth { of, to }, to),
        }
    }

    /// Refers to a value or, if it is computed, computes it into register `to`.
    fn operand(&mut self, expression: &Expression, to: u8) -> Compiled<Operand> {
        match expression {
            Expression::Leaf(leaf) => return self.leaf(leaf),
            Expression::Not(condition) => {
                self.condition(condition, to)?;
                self.emit(Instruction::Not { register: to }, to)?;
            }
            Expression::Negative(number) => {
                let left = self.constant(Constant::Integer(0))?;
                let right = self.operand(number, to)?;
                self.emit(Instruction::Arithmetic { operator: Arithmetic::Subtract, left, right, to }, to)?;
                return Ok(Operand::Integer(to));
            }
            Expression::Arithmetic(first, rest) => {
                let mut left = self.operand(first, to)?;
                for (operator, expression) in rest {
                    let right = self.operand(expression, behind(left, to))?;
                    self.emit(Instruction::Arithmetic { operator: *operator, left, right, to }, to)?;
                    left = Operand::Integer(to);
                }
                return Ok(left);
            }
            Expression::Compare(comparison, sides) => {
                let [left, right] = self.both(sides, to)?;
                self.emit(Instruction::Compare { comparison: *comparison, left, right, to }, to)?;
            }
            Expression::Text(test, sides) => {
                let [text, part] = self.both(sides, to)?;
                self.emit(Instruction::Text { test: *test, text, part, to }, to)?;
            }
            Expression::All(conditions) => self.conditions(conditions, false, to)?,
            Expression::Any(conditions) => self.conditions(conditions, true, to)?,
        }
        Ok(Operand::Truth(to))
    }

    fn both(&mut self, [left, right]: &[Expression; 2], to: u8) -> Compiled<[Operand; 2]> {
        let left = self.operand(left, to)?;
        Ok([left, self.operand(right, behind(left, to))?])
    }

    /// Compiles expressions to evaluate in order until one `decides`.
    fn conditions(&mut self, conditions: &[Expression], decides: bool, to: u8) -> Compiled<()> {
        let mut jumps = Vec::new();
        for (at, condition) in conditions.iter().enumerate() {
            self.condition(condition, to)?;
            if at + 1 < conditions.len() {
                jumps.push(self.code.len());
                self.emit(Instruction::Jump { register: to, when: decides, target: 0 }, to)?;
            }
        }
        let end = index(self.code.len())?;
        for jump in jumps {
            self.code[jump] = Instruction::Jump { register: to, when: decides, target: end };
        }
        Ok(())
    }

    fn leaf(&mut self, leaf: &Leaf) -> Compiled<Operand> {
        Ok(match leaf {
            Leaf::Constant(constant) => return self.constant(constant.clone()),
            Leaf::ArgumentPlace(place) => Operand::ArgumentPlace(*place),
            Leaf::Pid => Operand::Pid,
            Leaf::Tag => Operand::Tag,
            Leaf::Thread => Operand::Thread,
        })
    }

    fn constant(&mut self, constant: Constant) -> Compiled<Operand> {
        self.constants.push(constant);
        Ok(Operand::Constant(index(self.constants.len() - 1)?))
    }

    fn emit(&mut self, instruction: Instruction, to: u8) -> Compiled<()> {
        if usize::from(to) >= REGISTERS {
            return Err(TOO_DEEP);
        }
        if self.code.len() == MAX_INSTRUCTIONS {
            return Err(TOO_LONG);
        }
        self.code.push(instruction);
        Ok(())
    }
}

/// Returns the next free register: `to`, or the one after it if the operand was computed into it.
fn behind(left: Operand, to: u8) -> u8 {
    if matches!(left, Operand::Integer(_) | Operand::Truth(_)) { to + 1 } else { to }
}

fn index(number: usize) -> Compiled<u16> {
    u16::try_from(number).map_err(|_| TOO_LONG)
}
