//! Texts with parts that a peer chooses.

use std::fmt::{self, Display, Write};

/// The longest text in bytes.
const LIMIT: usize = 512;

/// Formats `shown`, cut at [`LIMIT`]. The rest is not even formatted, because a peer chooses its length.
pub(super) fn cut(shown: impl Display) -> String {
    struct Cut(String);
    impl Write for Cut {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            let room = text.floor_char_boundary(LIMIT - self.0.len());
            self.0.push_str(&text[..room]);
            if room < text.len() { Err(fmt::Error) } else { Ok(()) }
        }
    }
    let mut text = Cut(String::new());
    if write!(text, "{shown}").is_err() {
        text.0.push_str(" ...");
    }
    text.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_at_a_character() {
        assert_eq!(cut("short"), "short");
        assert_eq!(cut("x".repeat(512)), "x".repeat(512));
        assert_eq!(cut("x".repeat(513)), "x".repeat(512) + " ...");
        assert_eq!(cut("é".repeat(300)).chars().count(), 256 + 4);
        assert_eq!(cut(format_args!("{}{}", "x".repeat(511), "é")), "x".repeat(511) + " ...");
    }
}
