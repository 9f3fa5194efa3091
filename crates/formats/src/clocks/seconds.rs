//! Differences of clocks in seconds, to the nanosecond.

/// A difference as `-0.000001500 s`.
pub fn seconds(nanoseconds: i64) -> String {
    const SECOND: u64 = 1_000_000_000;
    let sign = if nanoseconds < 0 { "-" } else { "" };
    let size = nanoseconds.unsigned_abs();
    format!("{sign}{}.{:09} s", size / SECOND, size % SECOND)
}

#[cfg(test)]
mod tests {
    use super::seconds;

    #[test]
    fn all_digits() {
        let shown = [0, 1, -1_500, 12_000_000_345].map(seconds);
        assert_eq!(shown, ["0.000000000 s", "0.000000001 s", "-0.000001500 s", "12.000000345 s"]);
        assert_eq!(seconds(i64::MIN), "-9223372036.854775808 s");
    }
}
