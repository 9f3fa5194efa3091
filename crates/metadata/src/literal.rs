//! Literals that both formats have.

use std::fmt::{self, Display, Formatter, Write as _};

/// A UUID in its usual form.
pub(super) struct Uuid<'a>(pub &'a [u8; 16]);

impl Display for Uuid<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (i, byte) in self.0.iter().enumerate() {
            let dash = if matches!(i, 4 | 6 | 8 | 10) { "-" } else { "" };
            write!(f, "{dash}{byte:02x}")?;
        }
        Ok(())
    }
}

/// A string literal of either format.
pub(super) struct Quoted<'a> {
    pub text: &'a str,
    /// Writes the escape of a control character.
    pub escape: fn(&mut Formatter<'_>, u32) -> fmt::Result,
}

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for c in self.text.chars() {
            match c {
                '"' | '\\' => write!(f, "\\{c}")?,
                // It would end the string in readers written in C.
                '\0' => f.write_char(char::REPLACEMENT_CHARACTER)?,
                c if c.is_ascii_control() => (self.escape)(f, c.into())?,
                c => f.write_char(c)?,
            }
        }
        f.write_char('"')
    }
}
