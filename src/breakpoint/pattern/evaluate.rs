//! Whether a call meets a pattern. Takes nothing from the heap, calls no code of the user's, and does not panic.
//!
//! What cannot be told fails the guard, whatever surrounds it: a number that overflows, a division by zero, operands of kinds that do
//! not go together, a value that can only be printed, more text than [`MOST_TEXT`].

use std::cmp::Ordering;

use super::actions::Actions;
use super::spec::{Instruction, MatchSpec, Operand, REGISTERS};
use super::syntax::{Arithmetic, Comparison, Place, TextTest};
use crate::breakpoint::value::{Plain, Value};

/// How many bytes of text one evaluation looks at.
pub const MOST_TEXT: usize = 64 * 1024;

/// A call, as far as patterns look at it.
pub trait Call {
    /// How many arguments there are.
    fn arity(&self) -> usize;
    /// An argument, from 0, or `None` if there are fewer.
    fn argument(&self, number: usize) -> Option<Value<'_>>;
    /// The number of the calling process: 57 of `<0.57.0>`.
    fn pid(&self) -> u64;
    /// The user tag that operations of the calling process carry.
    fn user_tag(&self) -> Option<&str>;
    /// The number of the calling thread.
    fn thread(&self) -> u64;
}

impl MatchSpec {
    /// What is to be done about `call`, or `None` if it does not meet the pattern.
    pub fn evaluate(&self, call: &dyn Call) -> Option<Actions> {
        let mut evaluation = Evaluation { spec: self, call, text: MOST_TEXT, registers: [0; REGISTERS] };
        (evaluation.arguments()? && evaluation.guard()?).then_some(self.actions)
    }
}

/// In all its functions `None` means that it cannot be told.
struct Evaluation<'e> {
    spec: &'e MatchSpec,
    call: &'e dyn Call,
    /// Bytes of text that may still be looked at.
    text: usize,
    registers: [i128; REGISTERS],
}

impl<'e> Evaluation<'e> {
    fn arguments(&mut self) -> Option<bool> {
        if !self.spec.arity.allows(self.call.arity()) {
            return Some(false);
        }
        for argument in &self.spec.arguments {
            let value = self.place(argument.place)?;
            if let Some(constant) = &argument.constant
                && !self.equal(value, constant.value())?
            {
                return Some(false);
            }
        }
        Some(true)
    }

    fn guard(&mut self) -> Option<bool> {
        if self.spec.guard.is_empty() {
            return Some(true);
        }
        let mut at = 0;
        while let Some(instruction) = self.spec.guard.get(at) {
            at += 1;
            match *instruction {
                Instruction::Truth { of, to } => {
                    let truth = self.truth(of)?;
                    *self.register(to) = truth.into();
                }
                Instruction::Not { register } => {
                    let register = self.register(register);
                    *register = i128::from(*register == 0);
                }
                Instruction::Compare { comparison, left, right, to } => {
                    let truth = self.compare(comparison, self.operand(left)?, self.operand(right)?)?;
                    *self.register(to) = truth.into();
                }
                Instruction::Text { test, text, part, to } => {
                    let truth = self.text(test, self.operand(text)?, self.operand(part)?)?;
                    *self.register(to) = truth.into();
                }
                Instruction::Arithmetic { operator, left, right, to } => {
                    let number = arithmetic(operator, integer(self.operand(left)?)?, integer(self.operand(right)?)?)?;
                    *self.register(to) = number;
                }
                Instruction::Jump { register, when, target } => {
                    if (*self.register(register) != 0) == when {
                        at = target.into();
                    }
                }
            }
        }
        Some(*self.register(0) != 0)
    }

    /// The compiler gives out no more than there are; the remainder spares a check.
    fn register(&mut self, number: u8) -> &mut i128 {
        &mut self.registers[usize::from(number) % REGISTERS]
    }

    fn operand(&self, operand: Operand) -> Option<Value<'e>> {
        let register = |number: u8| self.registers[usize::from(number) % REGISTERS];
        Some(Value::of(match operand {
            Operand::Integer(number) => Plain::Integer(register(number)),
            Operand::Truth(number) => Plain::Bool(register(number) != 0),
            Operand::Constant(number) => return Some(self.spec.constants.get(usize::from(number))?.value()),
            Operand::Place(place) => return self.place(place),
            Operand::Pid => Plain::Integer(self.call.pid().into()),
            Operand::Tag => self.call.user_tag().map_or(Plain::None, Plain::Text),
            Operand::Thread => Plain::Integer(self.call.thread().into()),
        }))
    }

    fn place(&self, place: Place) -> Option<Value<'e>> {
        let value = self.call.argument(place.position.of(self.call.arity())?)?;
        Some(Value { shell: value.shell.strip(place.shell)?, ..value })
    }

    fn truth(&self, operand: Operand) -> Option<bool> {
        match plain(self.operand(operand)?)? {
            Plain::Bool(truth) => Some(truth),
            _ => None,
        }
    }

    fn compare(&mut self, comparison: Comparison, left: Value<'_>, right: Value<'_>) -> Option<bool> {
        Some(match comparison {
            Comparison::Equal => self.equal(left, right)?,
            Comparison::NotEqual => !self.equal(left, right)?,
            Comparison::Less => self.order(left, right)?.is_lt(),
            Comparison::LessOrEqual => self.order(left, right)?.is_le(),
            Comparison::Greater => self.order(left, right)?.is_gt(),
            Comparison::GreaterOrEqual => self.order(left, right)?.is_ge(),
        })
    }

    /// Values of different kinds, or in different shells, differ.
    fn equal(&mut self, left: Value<'_>, right: Value<'_>) -> Option<bool> {
        let (mut a, mut b) = (left.shell, right.shell);
        loop {
            match (a.outermost(), b.outermost()) {
                (Some((x, inside_a)), Some((y, inside_b))) if x == y => (a, b) = (inside_a, inside_b),
                (Some(_), Some(_)) => return Some(false),
                (Some(_), None) => return right.plain.is_known().then_some(false),
                (None, Some(_)) => return left.plain.is_known().then_some(false),
                (None, None) => break,
            }
        }
        match (left.plain, right.plain) {
            (Plain::Integer(a), Plain::Integer(b)) => Some(a == b),
            (Plain::Large(a), Plain::Large(b)) => Some(a == b),
            (Plain::Bool(a), Plain::Bool(b)) => Some(a == b),
            (Plain::Char(a), Plain::Char(b)) => Some(a == b),
            (Plain::Text(a), Plain::Text(b)) if a.len() == b.len() => {
                self.look_at(a.len())?;
                Some(a == b)
            }
            (Plain::None, Plain::None) => Some(true),
            (a, b) => (a.is_known() && b.is_known()).then_some(false),
        }
    }

    fn order(&mut self, left: Value<'_>, right: Value<'_>) -> Option<Ordering> {
        match (plain(left)?, plain(right)?) {
            (Plain::Integer(a), Plain::Integer(b)) => Some(a.cmp(&b)),
            (Plain::Large(a), Plain::Large(b)) => Some(a.cmp(&b)),
            (Plain::Integer(_), Plain::Large(_)) => Some(Ordering::Less),
            (Plain::Large(_), Plain::Integer(_)) => Some(Ordering::Greater),
            (Plain::Char(a), Plain::Char(b)) => Some(a.cmp(&b)),
            (Plain::Text(a), Plain::Text(b)) => {
                self.look_at(a.len().min(b.len()))?;
                Some(a.cmp(b))
            }
            _ => None,
        }
    }

    fn text(&mut self, test: TextTest, text: Value<'_>, part: Value<'_>) -> Option<bool> {
        let (Plain::Text(text), Plain::Text(part)) = (plain(text)?, plain(part)?) else { return None };
        if part.len() > text.len() {
            return Some(false);
        }
        match test {
            TextTest::StartsWith | TextTest::EndsWith => self.look_at(part.len())?,
            TextTest::Contains => self.look_at(text.len())?,
        }
        Some(match test {
            TextTest::StartsWith => text.starts_with(part),
            TextTest::EndsWith => text.ends_with(part),
            TextTest::Contains => text.contains(part),
        })
    }

    fn look_at(&mut self, bytes: usize) -> Option<()> {
        self.text = self.text.checked_sub(bytes)?;
        Some(())
    }
}

/// What is in no shell.
fn plain(value: Value<'_>) -> Option<Plain<'_>> {
    value.shell.outermost().is_none().then_some(value.plain)
}

fn integer(value: Value<'_>) -> Option<i128> {
    match plain(value)? {
        Plain::Integer(number) => Some(number),
        _ => None,
    }
}

fn arithmetic(operator: Arithmetic, left: i128, right: i128) -> Option<i128> {
    match operator {
        Arithmetic::Add => left.checked_add(right),
        Arithmetic::Subtract => left.checked_sub(right),
        Arithmetic::Multiply => left.checked_mul(right),
        Arithmetic::Divide => left.checked_div(right),
        Arithmetic::Remainder => left.checked_rem(right),
    }
}
