//! Decides whether a call matches a pattern. Allocates nothing and does not panic. The only user code that it calls is the `Debug` of
//! arguments that the pattern looks into, and only after all other arguments have matched, and the guard if it needs no part of them.
//!
//! An undefined operation fails the whole guard: a number that overflows, a division by zero, operands of kinds that do not go together, a
//! value that can only be printed, more text than [`MOST_TEXT`].

use std::cmp::Ordering;

use super::actions::Actions;
use super::part;
use super::spec::{Instruction, MatchSpec, Operand, REGISTERS, parts_of};
use super::syntax::{Argument, ArgumentPlace, Arithmetic, Comparison, Position, TextTest, Wanted};
use super::unquoted::Unquoted;
use crate::breakpoint::value::printed::Printed;
use crate::breakpoint::value::shell::Shell;
use crate::breakpoint::value::{Plain, Value};
use crate::glob::Glob;

/// The most bytes of text that one evaluation reads.
pub const MOST_TEXT: usize = 64 * 1024;

/// A call as patterns see it.
pub trait Call {
    /// Returns its arguments.
    fn arguments(&self) -> &[Value<'_>];
    /// Returns the number of the calling process: 57 of `<0.57.0>`.
    fn pid(&self) -> u64;
    /// Returns the user tag of the calling process.
    fn user_tag(&self) -> Option<&str>;
    /// Returns the number of the calling thread.
    fn thread(&self) -> u64;
}

impl MatchSpec {
    /// Returns the actions for `call`, or `None` if it does not match.
    pub fn evaluate(&self, call: &dyn Call) -> Option<Actions> {
        let arguments = call.arguments();
        let mut evaluation = Evaluation { spec: self, call, arguments, printed: &[], text: MOST_TEXT };
        if !self.arity.allows(arguments.len()) {
            return None;
        }
        let parts = parts_of(&self.arguments);
        let is_met = evaluation.all(&self.arguments[..self.arguments.len() - parts.len()])?
            && (self.guard_needs_parts || evaluation.guard()?)
            && (parts.is_empty() || evaluation.look_into(parts)?);
        is_met.then_some(self.actions)
    }
}

/// The maximum number of arguments that a pattern may look into.
pub const MOST_LOOKED_INTO: usize = 8;

/// In all its functions `None` means undefined.
struct Evaluation<'e> {
    spec: &'e MatchSpec,
    call: &'e dyn Call,
    arguments: &'e [Value<'e>],
    /// The printed arguments that the pattern looks into.
    printed: &'e [&'e [u8]],
    /// Bytes of text that may still be read.
    text: usize,
}

/// A value by reference. Its parts have just been stored in smaller pieces, so a copy would stall the processor (store forwarding).
#[derive(Clone, Copy)]
struct ValueRef<'s> {
    shell: Shell,
    plain: &'s Plain<'s>,
}

impl<'s> ValueRef<'s> {
    fn bare(plain: &'s Plain<'s>) -> ValueRef<'s> {
        ValueRef { shell: Shell::EMPTY, plain }
    }

    /// Returns the value if it has no variant around it.
    fn plain(self) -> Option<&'s Plain<'s>> {
        (self.shell == Shell::EMPTY).then_some(self.plain)
    }

    fn integer(self) -> Option<i128> {
        match self.plain()? {
            Plain::Integer(number) => Some(*number),
            _ => None,
        }
    }
}

struct Registers([i128; REGISTERS]);

impl Registers {
    /// The compiler uses only existing registers; the remainder saves a bounds check.
    fn at(&mut self, number: u8) -> &mut i128 {
        &mut self.0[usize::from(number) % REGISTERS]
    }
}

impl<'e> Evaluation<'e> {
    fn all(&mut self, arguments: &[Argument]) -> Option<bool> {
        for argument in arguments {
            let is_met = match (&argument.wanted, argument.place.part) {
                (Wanted::Form(form), Some(part)) => form.is_of(self.part(argument.place.position, part)?)?,
                (Wanted::Anything, Some(part)) => self.part(argument.place.position, part).is_some(),
                (Wanted::Constant(constant), _) => {
                    let mut slot = Plain::None;
                    self.equal(self.place(argument.place, &mut slot)?, ValueRef::bare(&constant.plain()))?
                }
                (Wanted::Anything | Wanted::Form(_), None) => self.place(argument.place, &mut Plain::None).is_some(),
            };
            if !is_met {
                return Some(false);
            }
        }
        Some(true)
    }

    /// Prints the arguments that the pattern looks into and matches their parts. Out of line, because the buffer takes 4 KiB of stack.
    #[inline(never)]
    fn look_into(&self, parts: &[Argument]) -> Option<bool> {
        let mut printed = Unquoted::new();
        let mut ranges = [const { 0..0 }; MOST_LOOKED_INTO];
        for (range, position) in ranges.iter_mut().zip(&self.spec.looked_into) {
            let argument = self.argument(*position)?;
            *range = match &argument.plain {
                // Bytes display as a text. As a slice they have parts.
                Plain::Bytes(bytes) => {
                    let list = Plain::Debug(Printed::new(bytes));
                    printed.print(&Value { plain: list, ..*argument })
                }
                _ => printed.print(argument),
            };
        }
        let printed = ranges.map(|range| &printed.bytes()[range]);
        let mut evaluation = Evaluation { printed: &printed, ..*self };
        Some(evaluation.all(parts)? && (!self.spec.guard_needs_parts || evaluation.guard()?))
    }

    fn argument(&self, position: Position) -> Option<&'e Value<'e>> {
        self.arguments.get(position.of(self.arguments.len())?)
    }

    /// Finds a part in its printed argument.
    fn part(&self, position: Position, part: u16) -> Option<&'e [u8]> {
        let number = self.spec.looked_into.iter().position(|looked_into| *looked_into == position)?;
        part::part(self.printed.get(number)?, self.spec.parts.get(usize::from(part))?)
    }

    fn guard(&mut self) -> Option<bool> {
        if self.spec.guard.is_empty() {
            return Some(true);
        }
        let mut registers = Registers([0; REGISTERS]);
        let mut at = 0;
        while let Some(instruction) = self.spec.guard.get(at) {
            at += 1;
            let (mut one, mut other) = (Plain::None, Plain::None);
            match *instruction {
                Instruction::Truth { of, to } => {
                    let Plain::Bool(truth) = *self.operand(of, &mut registers, &mut one)?.plain()? else { return None };
                    *registers.at(to) = truth.into();
                }
                Instruction::Not { register } => *registers.at(register) ^= 1,
                Instruction::Compare { comparison, left, right, to } => {
                    let left = self.operand(left, &mut registers, &mut one)?;
                    let right = self.operand(right, &mut registers, &mut other)?;
                    *registers.at(to) = self.compare(comparison, left, right)?.into();
                }
                Instruction::Text { test, text, part, to } => {
                    let text = self.operand(text, &mut registers, &mut one)?;
                    let part = self.operand(part, &mut registers, &mut other)?;
                    *registers.at(to) = self.text(test, text, part)?.into();
                }
                Instruction::Arithmetic { operator, left, right, to } => {
                    let left = self.operand(left, &mut registers, &mut one)?.integer()?;
                    let right = self.operand(right, &mut registers, &mut other)?.integer()?;
                    *registers.at(to) = arithmetic(operator, left, right)?;
                }
                Instruction::Jump { register, when, target } => {
                    if (*registers.at(register) != 0) == when {
                        at = target.into();
                    }
                }
            }
        }
        Some(*registers.at(0) != 0)
    }

    /// Returns the value of an operand, by reference or, if it is computed, in `slot`.
    fn operand<'s>(&self, operand: Operand, registers: &mut Registers, slot: &'s mut Plain<'e>) -> Option<ValueRef<'s>>
    where
        'e: 's,
    {
        *slot = match operand {
            Operand::ArgumentPlace(place) => return self.place(place, slot),
            Operand::Integer(number) => Plain::Integer(*registers.at(number)),
            Operand::Truth(number) => Plain::Bool(*registers.at(number) != 0),
            Operand::Constant(number) => self.spec.constants.get(usize::from(number))?.plain(),
            Operand::Pid => Plain::Integer(self.call.pid().into()),
            Operand::Tag => self.call.user_tag().map_or(Plain::None, Plain::Text),
            Operand::Thread => Plain::Integer(self.call.thread().into()),
        };
        Some(ValueRef::bare(slot))
    }

    /// Returns the value of a place. That of a part is parsed from the printed text into `slot`.
    fn place<'s>(&self, place: ArgumentPlace, slot: &'s mut Plain<'e>) -> Option<ValueRef<'s>>
    where
        'e: 's,
    {
        if let Some(part) = place.part {
            let value = part::value(self.part(place.position, part)?)?;
            *slot = value.plain;
            return Some(ValueRef { shell: value.shell, plain: slot });
        }
        let value = self.argument(place.position)?;
        Some(ValueRef { shell: value.shell.strip(place.shell)?, plain: &value.plain })
    }

    fn compare(&mut self, comparison: Comparison, left: ValueRef<'_>, right: ValueRef<'_>) -> Option<bool> {
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
    fn equal(&mut self, left: ValueRef<'_>, right: ValueRef<'_>) -> Option<bool> {
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

    fn order(&mut self, left: ValueRef<'_>, right: ValueRef<'_>) -> Option<Ordering> {
        match (left.plain()?, right.plain()?) {
            (Plain::Integer(a), Plain::Integer(b)) => Some(a.cmp(b)),
            (Plain::Large(a), Plain::Large(b)) => Some(a.cmp(b)),
            (Plain::Integer(_), Plain::Large(_)) => Some(Ordering::Less),
            (Plain::Large(_), Plain::Integer(_)) => Some(Ordering::Greater),
            (Plain::Char(a), Plain::Char(b)) => Some(a.cmp(b)),
            (Plain::Text(a), Plain::Text(b)) => {
                self.look_at(a.len().min(b.len()))?;
                Some(a.cmp(b))
            }
            _ => None,
        }
    }

    fn text(&mut self, test: TextTest, text: ValueRef<'_>, part: ValueRef<'_>) -> Option<bool> {
        let (Plain::Text(text), Plain::Text(part)) = (text.plain()?, part.plain()?) else { return None };
        if part.len() > text.len() && test != TextTest::Matches {
            return Some(false);
        }
        match test {
            TextTest::StartsWith | TextTest::EndsWith => self.look_at(part.len())?,
            TextTest::Contains | TextTest::Matches => self.look_at(text.len())?,
        }
        Some(match test {
            TextTest::StartsWith => text.starts_with(part),
            TextTest::EndsWith => text.ends_with(part),
            TextTest::Contains => text.contains(part),
            TextTest::Matches => Glob::is_match(part, text.as_bytes()),
        })
    }

    fn look_at(&mut self, bytes: usize) -> Option<()> {
        self.text = self.text.checked_sub(bytes)?;
        Some(())
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
