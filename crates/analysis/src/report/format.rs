//! Durations for people.

use dyntrace_terminal::page;

/// A duration with three digits and its unit: `1.23 ms`.
pub fn duration(nanoseconds: i64) -> String {
    page::duration(nanoseconds as f64)
}

#[cfg(test)]
mod tests {
    use super::duration;

    #[test]
    fn three_digits_and_a_unit() {
        let shown = [0, 999, 1_000, 12_345, 999_499, 999_999, 1_234_567_890, 90_000_000_000, -1_500].map(duration);
        assert_eq!(
            shown,
            ["0 ns", "999 ns", "1.00 µs", "12.3 µs", "999 µs", "1.00 ms", "1.23 s", "90.0 s", "-1.50 µs"]
        );
    }
}
