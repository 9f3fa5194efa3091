//! Pages: one HTML file that loads nothing and runs nothing.

use std::fmt::Display;

use maud::{DOCTYPE, Markup, PreEscaped, html};

/// Nothing is loaded or run, even if a name in the data got into the page as markup.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";

/// A page with this title, style and body.
pub fn page(title: &str, style: &str, body: &Markup) -> String {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { "dyntrace: " (title) }
                style { (PreEscaped(style)) }
            }
            body { (body) }
        }
    }
    .into_string()
}

/// A figure with its name.
pub fn fact(name: &str, value: impl Display) -> Markup {
    html! { li { b { (value) } " " (name) } }
}

/// Units of time, with their nanoseconds.
const UNITS: [(f64, &str); 6] = [(86400e9, "d"), (3600e9, "h"), (1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")];

/// A duration with three digits and its unit, at most seconds: `1.23 ms`.
pub fn duration(nanoseconds: f64) -> String {
    with_unit(nanoseconds, &UNITS[2..])
}

/// A duration with three digits and its unit, also hours and days.
pub fn long_duration(nanoseconds: f64) -> String {
    with_unit(nanoseconds, &UNITS)
}

fn with_unit(nanoseconds: f64, units: &[(f64, &str)]) -> String {
    // A value that would round up to the next unit uses that unit.
    match units.iter().find(|(size, _)| nanoseconds.abs() >= size * 0.9995) {
        Some(&(size, unit)) if size > 1.0 => format!("{} {unit}", digits(nanoseconds / size)),
        _ => format!("{nanoseconds:.0} ns"),
    }
}

/// A number with three digits, or all before the point.
pub fn digits(value: f64) -> String {
    let places = match value.abs() {
        0.0 => 0,
        ..9.995 => 2,
        ..99.95 => 1,
        _ => 0,
    };
    format!("{value:.places$}")
}
