//! Escapes text of unknown origin, so that it cannot control the terminal, as the command `dyntrace` does.

use std::fmt::Write as _;
use std::path::Path;

/// Returns the text with its lines, and all other control characters escaped.
pub fn lines(text: &str) -> String {
    escaped(text, |c| c == '\n')
}

/// Returns the text on one line.
pub fn line(text: &str) -> String {
    escaped(text, |_| false)
}

/// Returns a path on one line.
pub fn path(path: &Path) -> String {
    line(&path.to_string_lossy())
}

fn escaped(text: &str, passes: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        let written = match c {
            _ if passes(c) || !is_unsafe(c) => out.write_char(c),
            '\0'..='\x1f' | '\x7f' => write!(out, "\\x{:02x}", u32::from(c)),
            _ => write!(out, "\\u{{{:x}}}", u32::from(c)),
        };
        written.expect("writing to a String cannot fail");
    }
    out
}

/// Whether `c` is a control character, a line separator, or a mark that changes the direction of text.
fn is_unsafe(c: char) -> bool {
    c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_cannot_drive_the_terminal() {
        assert_eq!(lines("\x1b]0;owned\x07\r\nb"), "\\x1b]0;owned\\x07\\x0d\nb");
        assert_eq!(path(Path::new("a\n\u{202e}b")), r"a\x0a\u{202e}b");
    }
}
