//! Patterns of names that differ in numbers and ids only: `req-17` and `req-18` are `req-*`.

/// A word of hexadecimal digits of this length is an id, if it has a decimal digit.
const HEX: usize = 8;
/// A word of letters and digits of this length is an id, if it has a digit.
const WORD: usize = 16;
/// The lengths of the words of a UUID.
const UUID: [usize; 5] = [8, 4, 4, 4, 12];

/// Writes the pattern of `name` to `out`, which is cleared: ids and runs of digits become `*`.
pub fn pattern(name: &[u8], out: &mut Vec<u8>) {
    out.clear();
    let mut rest = name;
    while let Some(first) = rest.first() {
        let word = rest.iter().position(|byte| !byte.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let taken = if let Some(length) = uuid(rest) {
            out.push(b'*');
            length
        } else if word == 0 {
            out.push(*first);
            1
        } else {
            fold(&rest[..word], out);
            word
        };
        rest = &rest[taken..];
    }
}

fn fold(word: &[u8], out: &mut Vec<u8>) {
    let has_digit = word.iter().any(u8::is_ascii_digit);
    let is_hex = word.len() >= HEX && word.iter().all(u8::is_ascii_hexdigit);
    if has_digit && (is_hex || word.len() >= WORD) {
        out.push(b'*');
        return;
    }
    let mut in_digits = false;
    for byte in word {
        if !byte.is_ascii_digit() {
            out.push(*byte);
        } else if !in_digits {
            out.push(b'*');
        }
        in_digits = byte.is_ascii_digit();
    }
}

/// The length of the UUID that `text` begins with.
fn uuid(text: &[u8]) -> Option<usize> {
    let mut at = 0;
    for (index, length) in UUID.into_iter().enumerate() {
        if index > 0 {
            (text.get(at) == Some(&b'-')).then_some(())?;
            at += 1;
        }
        text.get(at..at + length).filter(|word| word.iter().all(u8::is_ascii_hexdigit))?;
        at += length;
    }
    text.get(at).is_none_or(|next| !next.is_ascii_alphanumeric()).then_some(at)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(name: impl AsRef<[u8]>) -> String {
        let mut out = vec![b'x'];
        pattern(name.as_ref(), &mut out);
        String::from_utf8_lossy(&out).into_owned()
    }

    #[test]
    fn numbers_and_ids() {
        for (name, expected) in [
            ("req-17", "req-*"),
            ("", ""),
            ("checkout", "checkout"),
            ("/srv/a1/2026-11-24/b.log", "/srv/a*/*-*-*/b.log"),
            ("trace 4bf92f3577b34da6a3ce929d0e0e4736", "trace *"),
            ("deadbeef", "deadbeef"),
            ("deadbee5", "*"),
            ("123e4567-e89b-12d3-a456-426614174000", "*"),
            ("id=abcdefab-cdef-abcd-efab-cdefabcdefab;", "id=*;"),
            ("123e4567-e89b-12d3-a456-4266141740000", "*-e*b-*d*-a*-*"),
            ("01ARZ3NDEKTSV4RRFFQ69G5FAV", "*"),
            ("internationalization", "internationalization"),
            ("k\u{e4}se7", "k\u{e4}se*"),
        ] {
            assert_eq!(of(name), expected, "{name}");
        }
    }

    proptest! {
        #[test]
        fn any_name_has_a_pattern_without_digits(name: Vec<u8>) {
            let mut out = Vec::new();
            pattern(&name, &mut out);
            prop_assert!(!out.iter().any(u8::is_ascii_digit));
        }

        #[test]
        fn names_that_differ_in_a_number_are_alike(before in "[a-z/ -]{0,7}", a: u32, b: u32, after in "[/ -][a-z/ -]{0,9}") {
            prop_assert_eq!(of(format!("{before} {a}{after}")), of(format!("{before} {b}{after}")));
        }
    }
}
