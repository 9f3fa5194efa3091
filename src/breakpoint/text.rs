//! Rendered arguments and values: bounded, and on the stack.

use std::fmt;
use std::ops::Deref;

/// What was rendered, at most [`Text::LIMIT`] bytes of it.
#[derive(Clone)]
pub struct Text {
    length: u16,
    is_cut: bool,
    /// Behind what it holds: what is shown where there was more.
    bytes: [u8; Text::LIMIT + CUT.len()],
}

/// What is shown in the place of what did not fit.
const CUT: &str = "...";

impl Text {
    /// How many bytes it holds at most.
    pub const LIMIT: usize = 400;

    pub(super) const fn new() -> Text {
        Text { length: 0, is_cut: false, bytes: [0; Text::LIMIT + CUT.len()] }
    }

    /// Whether there would have been more.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// With dots at the end if there would have been more.
    pub(super) fn shown(&self) -> &str {
        self.first(usize::from(self.length) + if self.is_cut { CUT.len() } else { 0 })
    }

    fn first(&self, length: usize) -> &str {
        std::str::from_utf8(&self.bytes[..length]).unwrap_or_default()
    }
}

impl fmt::Write for Text {
    /// Fails when there is no room, so that whoever writes more than anybody reads need not go on.
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.is_cut {
            return Err(fmt::Error);
        }
        let start = usize::from(self.length);
        let fits = text.floor_char_boundary(text.len().min(Text::LIMIT - start));
        self.bytes[start..start + fits].copy_from_slice(&text.as_bytes()[..fits]);
        self.length += fits as u16;
        self.is_cut = fits < text.len();
        if !self.is_cut {
            return Ok(());
        }
        let end = usize::from(self.length);
        self.bytes[end..end + CUT.len()].copy_from_slice(CUT.as_bytes());
        Err(fmt::Error)
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        self.first(usize::from(self.length))
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
