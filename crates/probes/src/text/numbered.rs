//! Names that contain a number, such as `#Port<0.7>`, formatted in registers.
//!
//! Storing digits one by one and then loading them as words would stall until all stores have completed. The text around the digits is
//! prepared at compile time.

/// The text around the number in a name.
pub struct Shape {
    pub(super) prefix: Part,
    pub(super) suffix: Part,
    /// The name without its digits, by their number.
    blanks: [Option<Blank>; Blank::DIGITS + 1],
}

impl Shape {
    /// The shape of names such as `#Port<0.7>`: `#Port<0.` and `>`.
    ///
    /// # Panics
    ///
    /// If one of them is longer than 8 bytes.
    pub const fn new(prefix: &str, suffix: &str) -> Shape {
        let (prefix, suffix) = (Part::new(prefix), Part::new(suffix));
        Shape { prefix, suffix, blanks: Blank::all(prefix, suffix) }
    }
}

/// A short text, written by one store.
#[derive(Clone, Copy)]
pub(super) struct Part {
    pub bytes: [u8; Part::LIMIT],
    pub length: usize,
}

impl Part {
    pub const LIMIT: usize = 8;

    const fn new(text: &str) -> Part {
        assert!(text.len() <= Part::LIMIT, "a part of a name is longer than 8 bytes");
        let mut part = Part { bytes: [0; Part::LIMIT], length: text.len() };
        let mut at = 0;
        while at < text.len() {
            part.bytes[at] = text.as_bytes()[at];
            at += 1;
        }
        part
    }
}

/// The text of a short name, as most are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name {
    /// Its first eight bytes, and its last eight with a NUL at the end.
    ends: [u64; 2],
    /// Its length in bytes, with the NUL.
    size: usize,
}

/// A name without its digits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Blank(Name);

/// The shape of the names of ports.
pub static PORT: Shape = Shape::new("#Port<0.", ">");

/// The shape of the names of processes.
pub static PROCESS: Shape = Shape::new("<0.", ".0>");

/// A text, as rings take it.
#[derive(Clone, Copy, Debug)]
pub enum Recorded<'t> {
    /// A name with a number.
    Name(Name),
    /// Bytes in memory.
    Bytes(&'t [u8]),
}

impl Blank {
    /// The most digits formatted in registers.
    pub(super) const DIGITS: usize = 8;

    /// The blanks by number of digits, for names of 7 to 15 bytes: with the NUL, two words that may overlap.
    pub(super) const fn all(prefix: Part, suffix: Part) -> [Option<Blank>; Self::DIGITS + 1] {
        let mut all = [None; Self::DIGITS + 1];
        let mut count = 1;
        while count <= Self::DIGITS {
            let suffix_at = prefix.length + count;
            let size = suffix_at + suffix.length + 1;
            if size >= 8 && size <= 16 {
                let [prefix, suffix] = [u64::from_le_bytes(prefix.bytes), u64::from_le_bytes(suffix.bytes)];
                let text = prefix as u128 | (suffix as u128) << (8 * suffix_at);
                all[count] = Some(Blank(Name { ends: [text as u64, (text >> (8 * (size - 8))) as u64], size }));
            }
            count += 1;
        }
        all
    }
}

impl Name {
    /// Returns `None` if there is no blank for the number.
    #[inline(always)]
    pub(super) fn new(shape: &Shape, number: u64) -> Option<Name> {
        if number >= 100_000_000 {
            return None;
        }
        let (digits, count) = digits(number as u32);
        let Blank(Name { ends: [head, tail], size }) = shape.blanks[count]?;
        let at_end = digits << (64 - 8 * count);
        // Two shifts by halves: one shift by a whole word would not clear it.
        let (before, behind) = (4 * shape.prefix.length, 4 * (shape.suffix.length + 1));
        let head = head | digits << before << before;
        let tail = tail | at_end >> behind >> behind;
        Some(Name { ends: [head, tail], size })
    }

    /// Its length in bytes, with the NUL.
    #[inline(always)]
    pub fn size(self) -> usize {
        self.size
    }

    /// Its first and its last eight bytes.
    #[inline(always)]
    pub fn ends(self) -> [[u8; 8]; 2] {
        self.ends.map(u64::to_le_bytes)
    }

    /// Its text, and zeros.
    #[inline(always)]
    pub fn text(self) -> [u8; 16] {
        let [head, tail] = self.ends.map(u128::from);
        (head | tail << (8 * (self.size - 8))).to_le_bytes()
    }

    /// Writes its text into `to`. Returns the text.
    pub fn write(self, to: &mut [u8; 16]) -> &[u8] {
        *to = self.text();
        &to[..self.size - 1]
    }
}

/// The digits of a number below 100,000,000, the first one in the lowest byte, and their number.
///
/// Pairs of digits are found together: half of the number in each half of a word, then a quarter in each quarter.
#[inline(always)]
pub fn digits(number: u32) -> (u64, usize) {
    let (first, last) = (number / 10_000, number % 10_000);
    let halves = u64::from(first) | u64::from(last) << 32;
    // 10486 / 2^20 and 103 / 2^10 are precise enough for numbers below 10000 and below 100.
    let hundreds = (halves * 10_486) >> 20 & 0x0000_007f_0000_007f;
    let quarters = hundreds | (halves - 100 * hundreds) << 16;
    let tens = (quarters * 103) >> 10 & 0x000f_000f_000f_000f;
    let all = tens | (quarters - 10 * tens) << 8;
    // The last one counts also if it is 0.
    let zeros = (all | 1 << 56).trailing_zeros() / 8;
    ((all + 0x3030_3030_3030_3030) >> (8 * zeros), 8 - zeros as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    static PID: Shape = Shape::new("<0.", ".0>");
    static PORT: Shape = Shape::new("#Port<0.", ">");
    static BARE: Shape = Shape::new("", "");

    #[test]
    fn digits_are_those_of_the_number() {
        let (step, dense) = if cfg!(miri) { (1_000_003, 101) } else { (9_973, 10_001) };
        let near = (0..8).flat_map(|power| [10_u32.pow(power) - 1, 10_u32.pow(power)]);
        for number in (0..100_000_000).step_by(step).chain(0..dense).chain(near).chain([99_999_999]) {
            let (digits, count) = digits(number);
            assert_eq!(digits.to_le_bytes()[..count], *number.to_string().as_bytes());
            assert!(digits.to_le_bytes()[count..].iter().all(|byte| *byte == 0), "{number}");
        }
    }

    #[test]
    fn a_name_is_its_text() {
        for number in [0, 7, 10, 99, 100, 12_345, 99_999, 100_000, 999_999, 12_345_678, 99_999_999] {
            for (shape, text) in [(&PID, format!("<0.{number}.0>")), (&PORT, format!("#Port<0.{number}>"))] {
                let name = Name::new(shape, number);
                assert_eq!(name.is_some(), text.len() <= 15, "{text}");
                let Some(name) = name else { continue };
                assert_eq!(name.write(&mut [0; 16]), text.as_bytes());
                let ended = format!("{text}\0").into_bytes();
                assert_eq!(name.size(), ended.len());
                assert_eq!(name.ends().map(Vec::from), [ended[..8].to_vec(), ended[ended.len() - 8..].to_vec()]);
            }
        }
    }

    #[test]
    fn a_name_that_does_not_fit_is_none() {
        assert!(Name::new(&PID, 100_000_000).is_none());
        assert!(Name::new(&PID, u64::from(u32::MAX) + 2).is_none());
        assert!(Name::new(&BARE, 123_456).is_none() && Name::new(&BARE, 1_234_567).is_some());
    }
}
