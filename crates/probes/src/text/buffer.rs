//! Encoding of string arguments.

use std::ffi::{CStr, c_char};
use std::mem::MaybeUninit;
use std::ptr;

use super::argument::{Text, TextKind};
use super::numbered::{self, Part, Shape};
#[cfg(rings)]
use super::numbered::{Name, Recorded};
use crate::short::is_plain;

/// The smallest page of any platform. Reading one byte of each faults in every page.
const PAGE: usize = 4096;

/// Space on the stack for one string argument of a firing probe.
pub struct Buffer {
    // The only field: with an initialised field beside it, the compiler would clear the bytes, too.
    bytes: [MaybeUninit<u8>; Self::LIMIT + 1],
}

impl Buffer {
    /// The most bytes of a string that a tracer sees, without the NUL.
    pub const LIMIT: usize = 511;

    /// An empty buffer.
    #[inline]
    pub const fn new() -> Self {
        Buffer { bytes: [MaybeUninit::uninit(); Self::LIMIT + 1] }
    }

    /// Encodes `text`. Returns its address: null, in this buffer, or, for a C string, its own.
    ///
    /// The pointer is valid until the buffer is used again or dropped, or the text is freed. All of its pages are in memory: tracers in the
    /// kernel cannot fault one in.
    // Not inlined: each of its branches would get a copy of the site.
    #[inline(never)]
    pub fn encode(&mut self, text: Text<'_>) -> *const c_char {
        match text.0 {
            TextKind::Null => ptr::null(),
            TextKind::Terminated(text) => {
                touch(text);
                text.as_ptr()
            }
            other => {
                let length = self.fill(other);
                self.bytes[length].write(0);
                self.bytes.as_ptr().cast()
            }
        }
    }

    /// The bytes of `text` up to its first NUL, at most [`LIMIT`](Self::LIMIT); empty for null. They are in this buffer, or, if unchanged,
    /// in the text itself.
    #[inline(always)]
    pub fn bytes<'t>(&'t mut self, text: Text<'t>) -> &'t [u8] {
        match text.0 {
            TextKind::Null => b"",
            TextKind::Utf8(text) if is_plain(text.as_bytes(), Self::LIMIT) => text.as_bytes(),
            // A new value for the call, so that the one from outside need not be in memory.
            TextKind::Plain(text) => {
                if text.len() <= Self::LIMIT {
                    text.as_bytes()
                } else {
                    self.filled(TextKind::Plain(text))
                }
            }
            TextKind::Terminated(text) => {
                let bytes = text.to_bytes();
                &bytes[..bytes.len().min(Self::LIMIT)]
            }
            other => self.filled(other),
        }
    }

    /// The same for a call site that does not know the text's kind. Most texts are of these two: for the others it calls.
    #[cfg(rings)]
    #[doc(hidden)]
    #[inline(always)]
    pub fn bytes_of_any<'t>(&'t mut self, text: Text<'t>) -> &'t [u8] {
        match text.0 {
            TextKind::Utf8(text) if is_plain(text.as_bytes(), Self::LIMIT) => text.as_bytes(),
            TextKind::Plain(text) if text.len() <= Self::LIMIT => text.as_bytes(),
            _ => self.bytes_of_rare(text),
        }
    }

    #[cfg(rings)]
    #[cold]
    #[inline(never)]
    fn bytes_of_rare<'t>(&'t mut self, text: Text<'t>) -> &'t [u8] {
        if let TextKind::Numbered { shape, number } = text.0
            && let Some(name) = Name::new(shape, number)
        {
            return &self.bytes[..16].write_copy_of_slice(&name.text())[..name.size() - 1];
        }
        self.bytes(text)
    }

    #[inline(never)]
    fn filled(&mut self, text: TextKind<'_>) -> &[u8] {
        let length = self.fill(text);
        // SAFETY: `fill` has written `length` bytes.
        unsafe { self.bytes[..length].assume_init_ref() }
    }

    /// The text as rings take it, see [`bytes`](Self::bytes).
    #[cfg(rings)]
    #[doc(hidden)]
    #[inline(always)]
    pub fn recorded<'t>(&'t mut self, text: Text<'t>) -> Recorded<'t> {
        if let TextKind::Numbered { shape, number } = text.0
            && let Some(name) = Name::new(shape, number)
        {
            return Recorded::Name(name);
        }
        Recorded::Bytes(self.bytes(text))
    }

    /// Writes a text into the buffer. Returns its length in bytes.
    #[inline]
    fn fill(&mut self, text: TextKind<'_>) -> usize {
        let mut filling = Filling { bytes: &mut self.bytes[..Self::LIMIT], length: 0 };
        match text {
            TextKind::Null => {}
            TextKind::Terminated(text) => filling.text(text.to_bytes()),
            TextKind::Utf8(text) | TextKind::Plain(text) => filling.text(text.as_bytes()),
            TextKind::Bytes(bytes) => filling.text(bytes),
            TextKind::Numbered { shape, number } => filling.name(shape, number),
            TextKind::SourcePlace(place) => filling.place(place.file(), place.line()),
        }
        filling.length
    }
}

/// A buffer that is being filled.
struct Filling<'b> {
    bytes: &'b mut [MaybeUninit<u8>],
    length: usize,
}

impl Filling<'_> {
    /// Appends `bytes` up to the first NUL, as UTF-8, as far as whole characters fit.
    fn text(&mut self, bytes: &[u8]) {
        // A character has at most four bytes, so the bytes cut off here would not fit. Long inputs are not scanned.
        let bytes = &bytes[..bytes.len().min(self.bytes.len() + 4)];
        let bytes = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
        for chunk in bytes.utf8_chunks() {
            let valid = chunk.valid();
            let fits = valid.floor_char_boundary(self.room());
            self.append(&valid.as_bytes()[..fits]);
            if fits < valid.len() {
                return;
            }
            if !chunk.invalid().is_empty() {
                const REPLACEMENT: &[u8] = "\u{fffd}".as_bytes();
                if self.room() < REPLACEMENT.len() {
                    return;
                }
                self.append(REPLACEMENT);
            }
        }
    }

    /// Writes a name with a number, which contains no NUL, and fits.
    #[inline]
    fn name(&mut self, shape: &Shape, number: u64) {
        self.part(shape.prefix);
        self.number(number);
        self.part(shape.suffix);
    }

    /// Writes `file:line`. If the path is too long, its end is missing.
    #[inline]
    fn place(&mut self, file: &str, line: u32) {
        const LINE: usize = ":4294967295".len();
        let end = file.floor_char_boundary(file.len().min(self.room() - LINE));
        // No NUL is among them: the compiler ends the path with one, for `Location::file_as_c_str`.
        self.append(&file.as_bytes()[..end]);
        self.append(b":");
        self.number(line.into());
    }

    /// Writes a number, which fits.
    #[inline]
    fn number(&mut self, mut number: u64) {
        if let Ok(small) = u32::try_from(number)
            && small < 100_000_000
            && let Some(room) = self.bytes.get_mut(self.length..self.length + 8)
        {
            // All 8 bytes are written, and those after the digits again later.
            let (digits, count) = numbered::digits(small);
            room.write_copy_of_slice(&digits.to_le_bytes());
            self.length += count;
            return;
        }
        let mut digits = [0u8; 20];
        let mut at = digits.len();
        loop {
            at -= 1;
            digits[at] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                break;
            }
        }
        for digit in &digits[at..] {
            self.bytes[self.length].write(*digit);
            self.length += 1;
        }
    }

    /// Writes all 8 bytes, and continues after the used ones.
    #[inline]
    fn part(&mut self, part: Part) {
        self.bytes[self.length..][..Part::LIMIT].write_copy_of_slice(&part.bytes);
        self.length += part.length;
    }

    #[inline]
    fn room(&self) -> usize {
        self.bytes.len() - self.length
    }

    #[inline]
    fn append(&mut self, bytes: &[u8]) {
        self.bytes[self.length..][..bytes.len()].write_copy_of_slice(bytes);
        self.length += bytes.len();
    }
}

impl Default for Buffer {
    fn default() -> Self {
        Self::new()
    }
}

/// Faults in every page of `text`.
fn touch(text: &CStr) {
    let bytes = text.to_bytes_with_nul();
    let last = bytes.len() - 1;
    for at in (0..last).step_by(PAGE).chain([last]) {
        // SAFETY: `at` is an index of `bytes`, whose last one is `last`. Volatile, as the value is not used.
        unsafe { ptr::from_ref(&bytes[at]).read_volatile() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded<'a>(text: impl Into<Text<'a>>) -> Option<String> {
        let mut buffer = Buffer::new();
        let at = buffer.encode(text.into());
        if at.is_null() {
            return None;
        }
        // SAFETY: `encode` returns a terminated text, and the buffer is alive.
        Some(unsafe { CStr::from_ptr(at) }.to_str().expect("valid UTF-8").to_owned())
    }

    #[test]
    fn text_is_terminated_and_absence_is_null() {
        assert_eq!(encoded("some-user-tag").as_deref(), Some("some-user-tag"));
        assert_eq!(encoded("").as_deref(), Some(""));
        assert_eq!(encoded(None::<&str>), None);
        assert_eq!(encoded(Text::NULL), None);
    }

    #[test]
    fn an_embedded_nul_ends_the_text() {
        assert_eq!(encoded("a\0b").as_deref(), Some("a"));
        assert_eq!(encoded("\0").as_deref(), Some(""));
    }

    #[test]
    fn newlines_and_escapes_pass() {
        assert_eq!(encoded("a\nb\x1b[31m").as_deref(), Some("a\nb\x1b[31m"));
    }

    #[test]
    fn invalid_bytes_are_replaced() {
        assert_eq!(encoded(&b"a\xff\xfeb\xe2\x82"[..]).as_deref(), Some("a\u{fffd}\u{fffd}b\u{fffd}"));
    }

    #[test]
    fn long_text_is_cut_at_a_character() {
        let long = "x".repeat(64 << 10);
        assert_eq!(encoded(&long).map(|text| text.len()), Some(Buffer::LIMIT));
        for shift in 0..4 {
            let text = format!("{}{}", "x".repeat(shift), "\u{1f980}".repeat(200));
            let cut = encoded(&text).expect("not null");
            assert!(text.starts_with(&cut) && cut.len() > Buffer::LIMIT - 4, "cut to {} bytes", cut.len());
        }
        let invalid = [b'\xff'; 600];
        assert_eq!(encoded(&invalid[..]), Some("\u{fffd}".repeat(Buffer::LIMIT / 3)));
    }

    static PORT: Shape = Shape::new("#Port<0.", ">");

    #[test]
    fn numbers_are_written_out() {
        static PID: Shape = Shape::new("<0.", ".0>");
        static NONE: Shape = Shape::new("", "");
        assert_eq!(encoded(Text::numbered(&PORT, 1)).as_deref(), Some("#Port<0.1>"));
        assert_eq!(encoded(Text::numbered(&PID, u64::MAX)).as_deref(), Some("<0.18446744073709551615.0>"));
        assert_eq!(encoded(Text::numbered(&NONE, 0)).as_deref(), Some("0"));
    }

    #[test]
    fn a_long_path_leaves_room_for_the_line() {
        for (file, line) in [("src/main.rs", 7), (&*"ä".repeat(300), u32::MAX), (&*"x".repeat(Buffer::LIMIT), 0)] {
            let mut buffer = Buffer::new();
            let mut filling = Filling { bytes: &mut buffer.bytes[..Buffer::LIMIT], length: 0 };
            filling.place(file, line);
            let length = filling.length;
            // SAFETY: `place` has written `length` bytes.
            let text = str::from_utf8(unsafe { buffer.bytes[..length].assume_init_ref() }).expect("valid UTF-8");
            let (path, end) = text.rsplit_once(':').expect("a line");
            assert_eq!(end, line.to_string());
            assert!(file.starts_with(path) && (path == file || length > Buffer::LIMIT - 12), "{length} bytes");
        }
    }

    #[test]
    fn terminated_text_stays_where_it_is() {
        let long = std::ffi::CString::new(vec![b'x'; 64 << 10]).expect("no NUL");
        let mut buffer = Buffer::new();
        assert_eq!(buffer.encode(Text::from(&long)), long.as_ptr());
    }

    #[test]
    fn bytes_are_those_that_a_tracer_sees() {
        fn bytes<'a>(text: impl Into<Text<'a>>) -> Vec<u8> {
            let text = text.into();
            let bytes = Buffer::new().bytes(text).to_vec();
            #[cfg(rings)]
            assert_eq!(Buffer::new().bytes_of_any(text), bytes);
            bytes
        }
        assert_eq!(bytes("some-user-tag"), b"some-user-tag");
        assert_eq!(bytes("a\0b"), b"a");
        assert_eq!(bytes(None::<&str>), b"");
        assert_eq!(bytes(&b"a\xffb"[..]), "a\u{fffd}b".as_bytes());
        assert_eq!(bytes(Text::numbered(&PORT, 12)), b"#Port<0.12>");
        assert_eq!(bytes(Text::numbered(&PORT, u64::MAX)), b"#Port<0.18446744073709551615>");
        assert_eq!(bytes(Text::plain("a function")), b"a function");
        assert_eq!(bytes(c"\xff"), b"\xff");
        let long = "\u{1f980}".repeat(200);
        assert_eq!(bytes(&long), long.as_bytes()[..508]);
        assert_eq!(bytes(&std::ffi::CString::new(vec![b'x'; 64 << 10]).unwrap()).len(), Buffer::LIMIT);
    }

    #[test]
    fn a_buffer_can_be_used_again() {
        let mut buffer = Buffer::new();
        buffer.encode(Text::from("a long text first"));
        let at = buffer.encode(Text::from("short"));
        // SAFETY: `encode` returns a terminated text, and the buffer is alive.
        assert_eq!(unsafe { CStr::from_ptr(at) }, c"short");
    }
}
