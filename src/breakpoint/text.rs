//! Rendered arguments and values: bounded, and on the stack.

use std::fmt;
use std::ops::Deref;

use arrayvec::ArrayString;

/// What was rendered, at most [`Text::LIMIT`] bytes of it.
#[derive(Clone)]
pub struct Text {
    /// What it holds, and behind that what is shown where there was more.
    shown: ArrayString<{ Text::LIMIT + CUT.len() }>,
    length: u16,
}

/// What is shown in the place of what did not fit.
const CUT: &str = "...";

impl Text {
    /// How many bytes it holds at most.
    pub const LIMIT: usize = 400;

    pub(super) const fn new() -> Text {
        Text { shown: ArrayString::new_const(), length: 0 }
    }

    /// Whether there would have been more.
    pub fn is_cut(&self) -> bool {
        self.shown.len() > usize::from(self.length)
    }

    /// With dots at the end if there would have been more.
    pub(super) fn shown(&self) -> &str {
        &self.shown
    }

    /// Writes a number.
    pub(super) fn write_integer(&mut self, number: impl itoa::Integer) -> fmt::Result {
        fmt::Write::write_str(self, itoa::Buffer::new().format(number))
    }
}

impl fmt::Write for Text {
    /// Fails when there is no room, so that whoever writes more than anybody reads need not go on.
    #[inline]
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.is_cut() {
            return Err(fmt::Error);
        }
        let fits = text.floor_char_boundary(text.len().min(Text::LIMIT - self.shown.len()));
        self.shown.push_str(&text[..fits]);
        self.length = self.shown.len() as u16;
        if fits == text.len() {
            return Ok(());
        }
        self.shown.push_str(CUT);
        Err(fmt::Error)
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        &self.shown[..self.length.into()]
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.shown())
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::*;

    #[test]
    fn holds_what_fits_and_says_that_there_was_more() {
        let mut text = Text::new();
        assert_eq!(write!(text, "{}", "ä".repeat(150)), Ok(()));
        assert!(!text.is_cut());
        assert_eq!(write!(text, "{}", "日".repeat(150)), Err(fmt::Error));
        assert_eq!(&*text, "ä".repeat(150) + &"日".repeat(33));
        assert!(text.to_string().ends_with("日..."));
        assert_eq!(text.write_str("x"), Err(fmt::Error));
        assert!(text.len() <= Text::LIMIT);
    }
}
