//! Arguments and returned values as patterns see them: exact for types that allow it, else opaque.
//!
//! Nothing here allocates, and making a [`Value`] calls no code of users.

pub(crate) mod inspect;
pub(crate) mod printed;
pub(crate) mod shell;
mod shown;
pub(crate) mod text;

use std::fmt::{self, Write};

use text::Text;

pub use inspect::Inspect;
pub use printed::Printed;
pub use shell::{Shell, Variant};
pub use shown::{
    Blind, ByDebug, ByInspect, ByShape, Inside, InsideBlind, InsideByDebug, InsideByInspect, Layer, Shape, Shown,
};

/// An argument or a returned value: a [`Plain`] value, and the `Some`, `Ok` and `Err` around it.
#[derive(Clone, Copy, Debug)]
pub struct Value<'a> {
    /// The variants around it.
    pub shell: Shell,
    /// The innermost value.
    pub plain: Plain<'a>,
}

/// A value without the variants around it.
#[derive(Clone, Copy)]
pub enum Plain<'a> {
    /// An integer of any type.
    Integer(i128),
    /// An integer above `i128::MAX`.
    Large(u128),
    /// `true` or `false`.
    Bool(bool),
    /// A character.
    Char(char),
    /// A string, or a path that is Unicode.
    Text(&'a str),
    /// Bytes, or a path that is not Unicode. Patterns do not look into them.
    Bytes(&'a [u8]),
    /// The `None` of an `Option`.
    None,
    /// A value that can only be printed. Its `Debug` is code of users: it may panic, and call traced functions.
    Debug(Printed<'a>),
    /// A value that is known only by its type's name.
    Opaque(&'static str),
    /// A hidden value: the argument is `secret` or skipped.
    Hidden,
}

impl<'a> Value<'a> {
    /// A hidden value.
    pub const HIDDEN: Value<'static> = Value::of(Plain::Hidden);

    /// Makes a value with no variant around it.
    #[inline]
    pub const fn of(plain: Plain<'a>) -> Value<'a> {
        Value { shell: Shell::EMPTY, plain }
    }

    /// Makes a value that is known only by its type `T`.
    #[inline]
    pub fn opaque<T: ?Sized>(_: &'a T) -> Value<'a> {
        Value::of(Plain::Opaque(std::any::type_name::<T>()))
    }

    /// Returns whether rendering it runs code of users.
    #[inline(always)]
    pub(crate) fn is_printed(&self) -> bool {
        matches!(self.plain, Plain::Debug(_))
    }

    /// Returns whether it is an `Err`.
    #[inline]
    pub fn is_err(&self) -> bool {
        self.shell.outermost().is_some_and(|(variant, _)| variant == Variant::Err)
    }

    /// Writes it as it displays. Most values are integers, which need no formatter.
    #[inline]
    pub(crate) fn render(&self, text: &mut Text) -> fmt::Result {
        match self.plain {
            Plain::Integer(number) if self.shell == Shell::EMPTY => match u32::try_from(number) {
                Ok(number) => text.write_small(number),
                Err(_) => text.write_integer(number),
            },
            _ => self.render_any(text),
        }
    }

    #[inline(never)]
    fn render_any(&self, text: &mut Text) -> fmt::Result {
        write!(text, "{self}")
    }

    /// Puts `variant` around the value.
    #[inline]
    pub fn within(self, variant: Variant) -> Value<'a> {
        match self.shell.within(variant) {
            Some(shell) => Value { shell, ..self },
            None => Value::of(Plain::Opaque("nested too deep")),
        }
    }
}

impl Plain<'_> {
    /// Returns whether such values can be compared.
    #[inline]
    pub fn is_known(&self) -> bool {
        !matches!(self, Plain::Bytes(_) | Plain::Debug(_) | Plain::Opaque(_) | Plain::Hidden)
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Value<'a> {
        Value::of(Plain::Text(text))
    }
}

/// As in Rust's source. Opaque and hidden values are named in angle brackets: `<shop::Order>`, `<hidden>`.
impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for variant in self.shell.variants() {
            write!(f, "{variant}(")?;
        }
        fmt::Debug::fmt(&self.plain, f)?;
        self.shell.variants().try_for_each(|_| f.write_str(")"))
    }
}

impl fmt::Debug for Plain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Plain::Integer(number) => number.fmt(f),
            Plain::Large(number) => number.fmt(f),
            Plain::Bool(truth) => truth.fmt(f),
            Plain::Char(character) => character.fmt(f),
            Plain::Text(text) => text.fmt(f),
            Plain::Bytes(bytes) => write!(f, "b\"{}\"", bytes.escape_ascii()),
            Plain::None => f.write_str("None"),
            Plain::Debug(value) => value.fmt(f),
            Plain::Opaque(type_name) => write!(f, "<{type_name}>"),
            Plain::Hidden => f.write_str("<hidden>"),
        }
    }
}

#[cfg(test)]
mod tests;
