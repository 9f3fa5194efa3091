//! Durations and figures for people.

use maud::{Markup, html};

/// A duration with three digits and its unit: `1.23 ms`.
pub fn duration(nanoseconds: i64) -> String {
    const UNITS: [(f64, &str); 4] = [(1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")];
    let value = nanoseconds as f64;
    // A value that would round up to the next unit uses that unit.
    let (size, unit) = UNITS.into_iter().find(|(size, _)| value.abs() >= size * 0.9995).unwrap_or(UNITS[3]);
    let value = value / size;
    let digits = match value.abs() {
        _ if unit == "ns" => 0,
        ..9.995 => 2,
        ..99.95 => 1,
        _ => 0,
    };
    format!("{value:.digits$} {unit}")
}

/// A figure with its name.
pub fn fact(name: &str, value: impl std::fmt::Display) -> Markup {
    html! { li { b { (value) } " " (name) } }
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
