//! Rendered arguments and values, of bounded length and on the stack.

use std::fmt;
use std::mem::MaybeUninit;
use std::ops::Deref;

use dyntrace_probes::short;
use dyntrace_probes::text::digits;

/// A rendered text of at most [`Text::LIMIT`] bytes.
#[derive(Clone)]
pub struct Text {
    /// The text, followed by [`CUT`] if it was cut.
    bytes: [MaybeUninit<u8>; Text::LIMIT + CUT.len()],
    /// The number of bytes that are written, [`CUT`] included. They are UTF-8.
    shown: u16,
    /// The number of bytes of the text. Not a `bool` for whether it is cut: the compiler would clear the bytes with it.
    length: u16,
}

/// Displayed in place of the rest of a cut text.
const CUT: &str = "...";

impl Text {
    /// The most bytes that it holds.
    pub const LIMIT: usize = 400;

    pub(crate) const fn new() -> Text {
        Text { bytes: [MaybeUninit::uninit(); Text::LIMIT + CUT.len()], shown: 0, length: 0 }
    }

    /// Returns whether it was cut.
    pub fn is_cut(&self) -> bool {
        self.shown > self.length
    }

    /// Returns the text, with dots at the end if it was cut.
    pub(crate) fn shown(&self) -> &str {
        // SAFETY: `push` has written these bytes, in whole characters.
        unsafe { str::from_utf8_unchecked(self.bytes[..self.shown.into()].assume_init_ref()) }
    }

    /// # Safety
    ///
    /// There is room for the text.
    #[inline]
    unsafe fn push(&mut self, text: &str) {
        debug_assert!(text.len() <= self.bytes.len() - usize::from(self.shown));
        // SAFETY: there is room, as the caller promises. It cannot overlap the text: this is borrowed mutably.
        unsafe { short::copy(text.as_bytes(), self.bytes.as_mut_ptr().add(self.shown.into()).cast()) };
        self.shown += text.len() as u16;
    }

    /// Writes a number.
    #[cold]
    pub(crate) fn write_integer(&mut self, number: impl itoa::Integer) -> fmt::Result {
        fmt::Write::write_str(self, itoa::Buffer::new().format(number))
    }

    /// Writes a number, one of few digits in place: copying digits that were just written one by one takes longer than writing them.
    #[inline]
    pub(crate) fn write_small(&mut self, number: u32) -> fmt::Result {
        let at = usize::from(self.shown);
        if number >= SMALL || at > Text::LIMIT - size_of::<u64>() {
            return self.write_integer(number);
        }
        let (digits, count) = digits(number);
        // SAFETY: there is room for eight bytes.
        unsafe { self.bytes.as_mut_ptr().add(at).cast::<[u8; 8]>().write(digits.to_le_bytes()) };
        self.shown += count as u16;
        self.length = self.shown;
        Ok(())
    }

    /// Writes the part that fits.
    #[cold]
    fn cut(&mut self, text: &str) -> fmt::Result {
        if !self.is_cut() {
            let fits = &text[..text.floor_char_boundary(Text::LIMIT - usize::from(self.shown))];
            // SAFETY: it fits up to the limit, and after the limit there is room for the dots.
            unsafe {
                self.push(fits);
                self.length = self.shown;
                self.push(CUT);
            }
        }
        Err(fmt::Error)
    }
}

/// The least number of nine digits.
const SMALL: u32 = 100_000_000;

impl fmt::Write for Text {
    /// Fails when there is no room, so that the writer can stop.
    #[inline]
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.is_cut() || text.len() > Text::LIMIT - usize::from(self.shown) {
            return self.cut(text);
        }
        // SAFETY: compared with the room above: without dots, at most `LIMIT` bytes are written.
        unsafe { self.push(text) };
        self.length = self.shown;
        Ok(())
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        &self.shown()[..self.length.into()]
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
    fn numbers_are_written_as_they_are() {
        let powers = (0..10).map(|power| 10_u32.pow(power));
        for number in powers.flat_map(|power| [power - 1, power, power / 3 * 7]).chain([u32::MAX]) {
            let mut text = Text::new();
            assert_eq!(text.write_small(number), Ok(()));
            assert_eq!(&*text, number.to_string());
            let full = "x".repeat(Text::LIMIT - 1);
            let mut text = Text::new();
            let fits = text.write_str(&full).and_then(|()| text.write_small(number)).is_ok();
            assert_eq!((fits, text.starts_with(&full)), (number.to_string().len() == 1, true));
            assert_eq!(text.write_small(number), Err(fmt::Error));
            assert!(text.is_cut());
        }
    }

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
