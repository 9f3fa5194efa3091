//! Values for people. The ends of the columns' names tell the units.

use datafusion::arrow::temporal_conversions::timestamp_ns_to_datetime;
use dyntrace_terminal::escape;
use dyntrace_terminal::page::digits;
pub use dyntrace_terminal::page::long_duration as duration;

use super::rows::Cell;

/// The most characters of a text: a tag or a path can have any length, and the page must stay small.
const LENGTH: usize = 160;

/// Returns the heading of a column: its name without the unit, which the values have.
pub fn heading(column: &str) -> String {
    let name = ["_ms", "_ns"].iter().find_map(|unit| column.strip_suffix(unit)).unwrap_or(column);
    escape::name(name.replace('_', " "))
}

/// Returns the text of a value in the column of this name. Null is a dash.
pub fn cell(column: &str, cell: &Cell) -> String {
    match cell {
        Cell::Null => "–".to_owned(),
        Cell::Integer(value) if column.ends_with("_ns") => moment(*value),
        Cell::Integer(value) => count(*value),
        Cell::Number(value) if column.ends_with("_ms") => duration(value * 1e6),
        Cell::Number(value) if column.ends_with("_ratio") => format!("× {}", digits(*value)),
        Cell::Number(value) => digits(*value),
        Cell::Text(value) => text(value),
    }
}

/// Returns a text on one line, cut where it is too long.
pub fn text(text: &str) -> String {
    let mut shown: String = text.chars().take(LENGTH).collect();
    let left = text.chars().count() - shown.chars().count();
    shown = escape::name(&shown);
    if left > 0 {
        shown.push_str(&format!("… ({left} more characters)"));
    }
    shown
}

/// Returns a count with its digits in groups: `12,345`.
pub fn count(value: i128) -> String {
    let digits = value.unsigned_abs().to_string();
    let mut grouped = if value < 0 { "-".to_owned() } else { String::new() };
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Returns a time, which is in nanoseconds since 1970, as UTC.
pub fn moment(time: i128) -> String {
    let known = i64::try_from(time).ok().and_then(timestamp_ns_to_datetime);
    known.map_or_else(|| count(time), |time| time.format("%F %T%.3f").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_come_from_the_names_of_columns() {
        assert_eq!(heading("queue_wait_ms"), "queue wait");
        assert_eq!(cell("took_ms", &Cell::Number(1.234567)), "1.23 ms");
        assert_eq!(cell("took_ms", &Cell::Number(90_000.0)), "90.0 s");
        assert_eq!(cell("since_last_ms", &Cell::Number(-0.0015)), "-1.50 µs");
        assert_eq!(cell("took_ms", &Cell::Number(0.000012)), "12 ns");
        assert_eq!(cell("begin_ns", &Cell::Integer(1_764_123_456_789_000_000)), "2025-11-26 02:17:36.789");
        assert_eq!(cell("lost", &Cell::Integer(1_234_567)), "1,234,567");
        assert_eq!(cell("lost", &Cell::Integer(-123)), "-123");
        assert_eq!(cell("p99_ratio", &Cell::Number(2.0)), "× 2.00");
        assert_eq!(cell("distance", &Cell::Number(0.875)), "0.88");
        assert_eq!(cell("prefix", &Cell::Null), "–");
    }

    #[test]
    fn texts_stay_on_one_line_and_short() {
        assert_eq!(text("a\nb\u{202e}"), r"a\x0ab\u{202e}");
        let long = text(&"é".repeat(1000));
        assert!(long.starts_with("éé") && long.ends_with("… (840 more characters)"), "{long}");
    }
}
