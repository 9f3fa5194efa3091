//! The header `traceparent` of W3C Trace Context, `VERSION-TRACE_ID-PARENT_ID-FLAGS`, in lower-case hexadecimal.

/// Returns the trace id of a header value. `None` if the value is not valid, by the rules of version 00; of a higher version, the part
/// that version 00 has is read, as the standard asks.
pub fn trace_id(value: &[u8]) -> Option<&str> {
    const LENGTH: usize = 55;
    let (known, rest) = value.split_at_checked(LENGTH)?;
    let known = str::from_utf8(known).ok()?;
    let mut parts = known.split('-');
    let mut part = |digits: usize| parts.next().filter(|part| part.len() == digits && is_hex(part));
    let (version, trace_id, parent_id) = (part(2)?, part(32)?, part(16)?);
    part(2)?;
    let fits = match version {
        "ff" => false,
        "00" => rest.is_empty(),
        _ => rest.first().is_none_or(|&next| next == b'-'),
    };
    (fits && !is_zero(trace_id) && !is_zero(parent_id)).then_some(trace_id)
}

fn is_hex(part: &str) -> bool {
    part.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
}

fn is_zero(id: &str) -> bool {
    id.bytes().all(|digit| digit == b'0')
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

    #[test]
    fn a_valid_value_has_a_trace_id() {
        for value in [
            format!("00-{ID}-00f067aa0ba902b7-01"),
            format!("00-{ID}-00f067aa0ba902b7-ff"),
            format!("cc-{ID}-00f067aa0ba902b7-01"),
            format!("cc-{ID}-00f067aa0ba902b7-01-what-the-future-holds"),
        ] {
            assert_eq!(trace_id(value.as_bytes()), Some(ID), "{value}");
        }
    }

    #[test]
    fn any_other_value_has_none() {
        let zeros = "0".repeat(32);
        for value in [
            String::new(),
            ID.to_owned(),
            "-".repeat(55),
            format!("ff-{ID}-00f067aa0ba902b7-01"),
            format!("00-{ID}-00f067aa0ba902b7-01-more"),
            format!("00-{ID}-00f067aa0ba902b7-0"),
            format!("cc-{ID}-00f067aa0ba902b7-01.more"),
            format!("00-{zeros}-00f067aa0ba902b7-01"),
            format!("00-{ID}-0000000000000000-01"),
            format!("00-{}-00f067aa0ba902b7-01", ID.to_uppercase()),
            format!("00_{ID}-00f067aa0ba902b7-01"),
            format!("00-{}-0-00f067aa0ba902b7-01", &ID[2..]),
            format!("00-{}-00f067aa0ba902b7-01", ID.replace('4', " ")),
        ] {
            assert_eq!(trace_id(value.as_bytes()), None, "{value}");
        }
        assert_eq!(trace_id(&[0xff; 55]), None);
        assert_eq!(trace_id("é".repeat(40).as_bytes()), None);
    }
}
