//! Names made of a number, written out in registers.
//!
//! Written to memory digit by digit, and read from there in words at once, a name would cost a wait for all of its digits to reach
//! the memory.

use super::text::Shape;

/// The text of a name that is short, as most are.
#[derive(Clone, Copy, Debug)]
pub struct Name {
    /// Its bytes, and NULs behind them.
    words: [[u8; 8]; 2],
    length: usize,
}

/// As it is given to a ring.
#[derive(Clone, Copy, Debug)]
pub enum Recorded<'t> {
    /// Made of a number.
    Name(Name),
    /// What stands elsewhere.
    Bytes(&'t [u8]),
}

impl Name {
    /// `None` if it does not have from 7 to 15 bytes, which with a NUL are two words that may overlap.
    #[inline(always)]
    pub(super) fn new(shape: &Shape, number: u64) -> Option<Name> {
        // 8 digits.
        if number >= 100_000_000 {
            return None;
        }
        let (digits, count) = digits(number as u32);
        let suffix_at = shape.prefix.length + count;
        let length = suffix_at + shape.suffix.length;
        if !(7..=15).contains(&length) {
            return None;
        }
        let [prefix, suffix] = [shape.prefix, shape.suffix].map(|part| u128::from(u64::from_le_bytes(part.bytes)));
        let text = prefix | u128::from(digits) << (8 * shape.prefix.length) | suffix << (8 * suffix_at);
        Some(Name { words: [text as u64, (text >> 64) as u64].map(u64::to_le_bytes), length })
    }

    /// How many bytes it has, the NUL at its end among them.
    #[inline(always)]
    pub(crate) fn size(self) -> usize {
        self.length + 1
    }

    /// The first eight of these, and the last eight.
    #[inline(always)]
    pub(crate) fn ends(self) -> [[u8; 8]; 2] {
        let [low, high] = self.words.map(u64::from_le_bytes);
        let text = u128::from(high) << 64 | u128::from(low);
        [low, (text >> (8 * (self.size() - 8))) as u64].map(u64::to_le_bytes)
    }

    /// The text, without the NUL.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.words.as_flattened()[..self.length]
    }
}

/// The digits of a number below 100,000,000, the first one lowest, and how many they are.
#[inline(always)]
fn digits(mut number: u32) -> (u64, usize) {
    let (mut digits, mut count) = (0, 0);
    loop {
        digits = digits << 8 | u64::from(b'0' + (number % 10) as u8);
        number /= 10;
        count += 1;
        if number == 0 {
            return (digits, count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static PID: Shape = Shape::new("<0.", ".0>");
    static PORT: Shape = Shape::new("#Port<0.", ">");
    static BARE: Shape = Shape::new("", "");

    #[test]
    fn a_name_is_its_text() {
        for number in [0, 7, 10, 99, 100, 12_345, 99_999, 100_000, 999_999, 12_345_678, 99_999_999] {
            for (shape, text) in [(&PID, format!("<0.{number}.0>")), (&PORT, format!("#Port<0.{number}>"))] {
                let name = Name::new(shape, number);
                assert_eq!(name.is_some(), text.len() <= 15, "{text}");
                let Some(name) = name else { continue };
                assert_eq!(name.bytes(), text.as_bytes());
                let ended = format!("{text}\0").into_bytes();
                assert_eq!(name.size(), ended.len());
                assert_eq!(name.ends().map(Vec::from), [ended[..8].to_vec(), ended[ended.len() - 8..].to_vec()]);
            }
        }
    }

    #[test]
    fn what_does_not_fit_is_none() {
        assert!(Name::new(&PID, 100_000_000).is_none());
        assert!(Name::new(&PID, u64::from(u32::MAX) + 2).is_none());
        assert!(Name::new(&BARE, 123_456).is_none() && Name::new(&BARE, 1_234_567).is_some());
    }
}
