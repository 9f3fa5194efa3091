//! The header `traceparent` of W3C's Trace Context.

/// Returns the trace id in a `traceparent`, if that is valid.
///
/// Later versions may have further parts, which begin with a `-`.
pub(crate) fn trace_id(header: &str) -> Option<&str> {
    let mut parts = header.trim_ascii().splitn(5, '-');
    let [version, trace, parent, flags] = [(); 4].map(|()| parts.next().unwrap_or_default());
    let more = parts.next().is_some();
    let valid = is_hex(version, 2)
        && version != "ff"
        && (version != "00" || !more)
        && is_id(trace, 32)
        && is_id(parent, 16)
        && is_hex(flags, 2);
    valid.then_some(trace)
}

/// Whether `text` is a number of so many digits that is not 0.
fn is_id(text: &str, digits: usize) -> bool {
    is_hex(text, digits) && text.bytes().any(|digit| digit != b'0')
}

fn is_hex(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
    const PARENT: &str = "00f067aa0ba902b7";

    #[test]
    fn valid_headers() {
        for header in [
            format!("00-{TRACE}-{PARENT}-01"),
            format!(" 00-{TRACE}-{PARENT}-00 "),
            format!("cc-{TRACE}-{PARENT}-01-what-the-future-will-be"),
            format!("cc-{TRACE}-{PARENT}-01"),
        ] {
            assert_eq!(trace_id(&header), Some(TRACE), "{header}");
        }
    }

    #[test]
    fn invalid_headers() {
        let (zeros, upper) = ("0".repeat(32), TRACE.to_uppercase());
        for header in [
            String::new(),
            TRACE.to_owned(),
            format!("00-{TRACE}-{PARENT}"),
            format!("00-{TRACE}-{PARENT}-01-more"),
            format!("00-{TRACE}-{PARENT}-01-"),
            format!("ff-{TRACE}-{PARENT}-01"),
            format!("0-{TRACE}-{PARENT}-01"),
            format!("cc-{TRACE}-{PARENT}-01.more"),
            format!("00-{zeros}-{PARENT}-01"),
            format!("00-{TRACE}-{}-01", &zeros[..16]),
            format!("00-{upper}-{PARENT}-01"),
            format!("00-{}-{PARENT}-01", &TRACE[1..]),
            format!("00-{TRACE}-{PARENT}-0x"),
            format!("00--{PARENT}-01"),
        ] {
            assert_eq!(trace_id(&header), None, "{header}");
        }
    }
}
