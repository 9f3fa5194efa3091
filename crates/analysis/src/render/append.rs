//! Appends values to a buffer. Traces have millions of them, so plain ASCII is copied without an allocation.

use dyntrace_terminal::escape;

pub fn signed(out: &mut Vec<u8>, number: i64) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

pub fn unsigned(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// Text of unknown origin on one line, with control characters escaped.
pub fn text(out: &mut Vec<u8>, text: &[u8]) {
    if text.iter().all(|byte| matches!(byte, b' '..=b'~')) {
        out.extend_from_slice(text);
    } else {
        out.extend_from_slice(escape::name(text).as_bytes());
    }
}

/// A JSON string. Bytes that are not UTF-8 become U+FFFD; control characters are escaped.
pub fn json_string(out: &mut Vec<u8>, text: &[u8]) {
    out.push(b'"');
    if text.iter().all(|&byte| matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\') {
        out.extend_from_slice(text);
    } else {
        String::from_utf8_lossy(text).chars().for_each(|c| json_character(out, c));
    }
    out.push(b'"');
}

fn json_character(out: &mut Vec<u8>, c: char) {
    match c {
        '"' | '\\' => out.extend([b'\\', c as u8]),
        // Unsafe characters are below 0x10000: one escape each.
        _ if escape::is_unsafe(c) => out.extend_from_slice(format!("\\u{:04x}", u32::from(c)).as_bytes()),
        _ => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
    }
}

/// A field of CSV (RFC 4180), on one line like [`text()`].
pub fn csv_field(out: &mut Vec<u8>, field: &[u8]) {
    if !field.iter().any(|byte| matches!(byte, b',' | b'"')) {
        return text(out, field);
    }
    out.push(b'"');
    for part in field.split_inclusive(|&byte| byte == b'"') {
        text(out, part);
        if part.ends_with(b"\"") {
            out.push(b'"');
        }
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn made(append: impl Fn(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        append(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn numbers_to_their_ends() {
        assert_eq!(made(|out| signed(out, i64::MIN)), "-9223372036854775808");
        assert_eq!(made(|out| unsigned(out, u64::MAX)), "18446744073709551615");
    }

    #[test]
    fn text_keeps_to_its_line() {
        assert_eq!(made(|out| text(out, b"a\n\x1b[2J \xff")), r"a\x0a\x1b[2J \xff");
        assert_eq!(made(|out| csv_field(out, b"a, \"b\"\n")), r#""a, ""b""\x0a""#);
        assert_eq!(made(|out| csv_field(out, "ä".as_bytes())), "ä");
    }

    #[test]
    fn terminal_sequences_are_escaped_in_json() {
        assert_eq!(
            made(|out| json_string(out, b"\x1b\x7f\xc2\x9b\\\xff\"")),
            "\"\\u001b\\u007f\\u009b\\\\\u{fffd}\\\"\""
        );
    }

    proptest! {
        #[test]
        fn json_reads_back(text: String) {
            let json = made(|out| json_string(out, text.as_bytes()));
            prop_assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
            prop_assert!(!json.chars().any(escape::is_unsafe));
        }
    }
}
