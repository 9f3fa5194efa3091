//! Escapes text of unknown origin, so that it cannot control the terminal.
//!
//! Control characters and bytes that are not UTF-8 become sequences like `\x1b`, and invisible characters that reorder or hide text ones
//! like `\u{202e}`. Paths and tags in all writing systems stay readable.

use std::fmt::{self, Write as _};
use std::io::{self, Write as _};
use std::path::Path;

/// `bytes` on one line: newlines and tabs are escaped, too.
pub fn name(bytes: impl AsRef<[u8]>) -> String {
    escaped(bytes.as_ref(), |_| false)
}

/// A path on one line.
pub fn path(path: impl AsRef<Path>) -> String {
    name(path.as_ref().as_os_str().as_encoded_bytes())
}

/// Text of several lines: newlines and tabs pass, and so do sequences of an earlier escaping.
pub fn lines(text: impl AsRef<[u8]>) -> String {
    escape_lines(text.as_ref())
}

/// A stream of text in pieces, which may be cut inside a character. Newlines and tabs pass.
#[derive(Default)]
pub struct Stream {
    /// The first bytes of an incomplete character; at most three.
    begun: Vec<u8>,
}

impl Stream {
    /// Returns the next piece, escaped.
    pub fn push(&mut self, piece: &[u8]) -> String {
        let mut bytes = std::mem::take(&mut self.begun);
        bytes.extend_from_slice(piece);
        let last = bytes.utf8_chunks().last().map_or(&b""[..], |chunk| chunk.invalid());
        let is_incomplete = str::from_utf8(last).is_err_and(|error| error.error_len().is_none());
        let kept = if is_incomplete { last.len() } else { 0 };
        self.begun = bytes.split_off(bytes.len() - kept);
        escape_lines(&bytes)
    }

    /// Returns the rest at the end of the stream.
    pub fn finish(self) -> String {
        escape_lines(&self.begun)
    }
}

/// JSON as libraries write it, with the characters escaped that they leave and that control a terminal. Its own newlines pass.
pub fn json(json: impl fmt::Display) -> String {
    let mut out = Json(Vec::new());
    write!(out, "{json}").expect("writing to memory cannot fail");
    String::from_utf8(out.0).expect("pieces are whole characters")
}

/// A writer of such JSON, each piece of which is whole characters.
pub struct Json<W>(pub W);

impl<W: io::Write> io::Write for Json<W> {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        let text = str::from_utf8(piece).map_err(io::Error::other)?;
        if text.contains(needs_escape) {
            text.chars().try_for_each(|c| write!(self.0, "{}", JsonChar(c)))?;
        } else {
            self.0.write_all(piece)?;
        }
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

struct JsonChar(char);

impl fmt::Display for JsonChar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Such a character is in a string, and below U+10000: one escape.
        if needs_escape(self.0) { write!(f, "\\u{:04x}", u32::from(self.0)) } else { f.write_char(self.0) }
    }
}

/// Whether `c` is unsafe, and allowed in JSON.
fn needs_escape(c: char) -> bool {
    c != '\n' && is_unsafe(c)
}

fn escape_lines(bytes: &[u8]) -> String {
    escaped(bytes, |c| matches!(c, '\n' | '\t'))
}

fn escaped(bytes: &[u8], passes: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            let written = match c {
                _ if passes(c) || !is_unsafe(c) => out.write_char(c),
                '\0'..='\x1f' | '\x7f' => write!(out, "\\x{:02x}", u32::from(c)),
                _ => write!(out, "\\u{{{:x}}}", u32::from(c)),
            };
            written.expect("writing to a String cannot fail");
        }
        for byte in chunk.invalid() {
            write!(out, "\\x{byte:02x}").expect("writing to a String cannot fail");
        }
    }
    out
}

/// Whether `c` is escaped: a control character, a line separator, or a mark that changes the direction of text. All are below U+10000.
pub fn is_unsafe(c: char) -> bool {
    c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_name_cannot_drive_the_terminal() {
        assert_eq!(name("\x1b]0;owned\x07\r\n\t"), r"\x1b]0;owned\x07\x0d\x0a\x09");
        assert_eq!(name("\u{9b}2J \u{202e}txt"), r"\u{9b}2J \u{202e}txt");
        assert_eq!(name(b"a\xff\xc3(b"), r"a\xff\xc3(b");
        assert_eq!(name("käse/日本"), "käse/日本");
    }

    #[test]
    fn a_stream_keeps_its_lines() {
        let mut stream = Stream::default();
        assert_eq!(stream.push(b"one\ttwo\n\x1b[2J\n"), "one\ttwo\n\\x1b[2J\n");
        assert_eq!(stream.finish(), "");
    }

    #[test]
    fn a_character_cut_at_the_end_is_shown_escaped() {
        let mut stream = Stream::default();
        assert_eq!(stream.push(b"a\xe6\x97"), "a");
        assert_eq!(stream.finish(), r"\xe6\x97");
    }

    #[test]
    fn json_of_a_library_cannot_drive_the_terminal() {
        let object = serde_json::json!({ "\u{9b}2J": "\u{202e}\x7f\x1b\nkäse" });
        assert_eq!(json(&object), r#"{"\u009b2J":"\u202e\u007f\u001b\nkäse"}"#);
        for shown in [json(&object), json(format_args!("{object:#}"))] {
            assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), object);
            assert!(!shown.contains(needs_escape));
        }
    }

    #[test]
    fn json_is_written_while_it_is_made() {
        struct Endless;
        impl serde::Serialize for Endless {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_seq(std::iter::repeat("a\u{202e}b"))
            }
        }
        let mut room = [0; 25];
        let mut out = Json(&mut room[..]);
        let error = serde_json::to_writer(&mut out, &Endless).unwrap_err();
        assert_eq!(error.io_error_kind(), Some(io::ErrorKind::WriteZero));
        assert_eq!(&room, br#"["a\u202eb","a\u202eb","a"#);
    }

    proptest! {
        #[test]
        fn pieces_read_as_the_whole(bytes: Vec<u8>, cut: prop::sample::Index) {
            let cut = cut.index(bytes.len() + 1);
            let mut stream = Stream::default();
            let mut pieces = stream.push(&bytes[..cut]);
            pieces += &stream.push(&bytes[cut..]);
            pieces += &stream.finish();
            prop_assert_eq!(pieces, escape_lines(&bytes));
        }

        #[test]
        fn text_in_pieces_of_one_byte_is_whole(text: String) {
            let mut stream = Stream::default();
            let mut pieces: String = text.bytes().map(|byte| stream.push(&[byte])).collect();
            pieces += &stream.finish();
            prop_assert_eq!(pieces, escape_lines(text.as_bytes()));
        }

        #[test]
        fn a_name_has_no_control_characters(bytes: Vec<u8>) {
            prop_assert!(!name(bytes).chars().any(is_unsafe));
        }
    }
}
