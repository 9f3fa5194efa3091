//! The pictures, as SVG. Places across are in percent and text has the size of the page's text, so a picture fits a phone.

use maud::{Markup, html};

use super::format::{self, duration};

/// The height of a row: its name, and the bar below.
const ROW: usize = 38;
/// Where in a row the baseline of the name and the middle of the bar are.
const NAME: usize = 14;
const MIDDLE: usize = 25;
/// The height of an axis below the rows.
const AXIS: usize = 22;
/// The axis ends before the picture does, for its labels are wider than a point.
const MARGIN: f64 = 4.0;
/// The most characters of a name.
const LENGTH: usize = 60;

/// A row of bars: the name, the value, and its text.
pub struct Bar {
    pub name: String,
    pub value: f64,
    pub shown: String,
}

/// A bar for each value, the longest for `most`.
pub fn bars(label: &str, rows: &[Bar], most: f64) -> Markup {
    let part = |value: f64| if most > 0.0 { (100.0 * value / most).clamp(0.0, 100.0) } else { 0.0 };
    let body = html! {
        @for (index, row) in rows.iter().enumerate() {
            (names(index, &row.name, &row.shown))
            rect .bar x="0" y=(index * ROW + MIDDLE - 5) width=(percent(part(row.value).max(0.2))) height="10" {}
        }
    };
    picture(label, rows.len() * ROW, body)
}

/// A row of dots: the name, and two times in nanoseconds.
pub struct Dots {
    pub name: String,
    pub times: [Option<f64>; 2],
}

/// Two marks a row on a logarithmic axis of times: a circle for the first time, and a diamond for the second. A logarithm needs times
/// above 0: rows without one are counted below the picture.
pub fn dots(label: &str, [first, second]: [&str; 2], rows: &[Dots]) -> Markup {
    let seen = |row: &Dots| row.times.map(|time| time.filter(|time| *time > 0.0));
    let drawn = rows.iter().map(|row| (&*row.name, seen(row))).filter(|(_, times)| times.iter().any(Option::is_some));
    let drawn: Vec<_> = drawn.collect();
    let undrawn = rows.len() - drawn.len();
    html! {
        @if !drawn.is_empty() {
            p { "● " (first) ", ◆ " (second) ". The axis is logarithmic." }
            (marks(label, &drawn))
        }
        @if undrawn > 0 { p { "Rows that are not drawn, as they have no time above 0: " (undrawn) "." } }
    }
}

fn marks(label: &str, rows: &[(&str, [Option<f64>; 2])]) -> Markup {
    let times = || rows.iter().flat_map(|(_, times)| times).flatten();
    let lowest = times().copied().fold(f64::INFINITY, f64::min).log10().floor();
    let highest = times().copied().fold(0.0, f64::max).log10().ceil().max(lowest + 1.0);
    let x = |time: f64| percent(MARGIN + (100.0 - 2.0 * MARGIN) * (time.log10() - lowest) / (highest - lowest));
    let height = rows.len() * ROW;
    let body = html! {
        @for decade in decades(lowest, highest).map(|decade| 10_f64.powi(decade)) {
            line .grid x1=(x(decade)) x2=(x(decade)) y1="0" y2=(height + 4) {}
            text .axis x=(x(decade)) y=(height + AXIS - 4) text-anchor="middle" { (duration(decade).replace(".00 ", " ").replace(".0 ", " ")) }
        }
        @for (index, &(name, [near, far])) in rows.iter().enumerate() {
            @let y = index * ROW + MIDDLE;
            (names(index, name, &[near, far].map(|time| time.map_or("–".to_owned(), duration)).join(", ")))
            @if let (Some(near), Some(far)) = (near, far) {
                line .between x1=(x(near)) x2=(x(far)) y1=(y) y2=(y) {}
            }
            @if let Some(near) = near { circle .near cx=(x(near)) cy=(y) r="4.5" {} }
            @if let Some(far) = far {
                svg x=(x(far)) y=(y) overflow="visible" { path .far d="M0-6 6 0 0 6-6 0z" {} }
            }
        }
    };
    picture(label, height + AXIS, body)
}

/// A piece of time: the name, where it begins and how long it is, both in nanoseconds, and its text.
pub struct Span {
    pub name: String,
    pub begin: f64,
    pub length: f64,
    pub shown: String,
}

/// A bar for each piece of time, on a common axis that begins with the first.
pub fn spans(label: &str, rows: &[Span]) -> Markup {
    let first = rows.iter().map(|row| row.begin).fold(f64::INFINITY, f64::min);
    let last = rows.iter().map(|row| row.begin + row.length).fold(f64::NEG_INFINITY, f64::max);
    let all = (last - first).max(1.0);
    let height = rows.len() * ROW;
    let body = html! {
        @for (index, row) in rows.iter().enumerate() {
            (names(index, &row.name, &row.shown))
            @let width = (100.0 * row.length / all).clamp(0.4, 100.0);
            @let x = (100.0 * (row.begin - first) / all).min(100.0 - width);
            line .grid x1="0" x2="100%" y1=(index * ROW + MIDDLE) y2=(index * ROW + MIDDLE) {}
            rect .bar x=(percent(x)) y=(index * ROW + MIDDLE - 5) width=(percent(width)) height="10" {}
        }
        text .axis x="0" y=(height + AXIS - 6) { "0" }
        text .axis x="100%" y=(height + AXIS - 6) text-anchor="end" { (duration(all)) }
    };
    picture(label, height + AXIS, body)
}

fn picture(label: &str, height: usize, body: Markup) -> Markup {
    html! { svg .picture role="img" aria-label=(label) width="100%" height=(height) { (body) } }
}

/// The name of a row on the left, and the text of its value on the right.
fn names(index: usize, name: &str, shown: &str) -> Markup {
    let mut cut: String = name.chars().take(LENGTH).collect();
    if cut.len() < name.len() {
        cut.push('…');
    }
    html! {
        text x="0" y=(index * ROW + NAME) { (cut) }
        text .value x="100%" y=(index * ROW + NAME) text-anchor="end" { (shown) }
    }
}

/// Returns powers of ten between both, at most seven.
fn decades(lowest: f64, highest: f64) -> impl Iterator<Item = i32> {
    let step = ((highest - lowest) / 6.0).ceil().max(1.0);
    (lowest as i32..=highest as i32).step_by(step as usize)
}

/// A tenth of a percent is finer than a pixel on a phone, and a hundredth on a screen.
fn percent(value: f64) -> String {
    format!("{}%", (value * 100.0).round() / 100.0)
}

/// Returns the name of a row from several values, without those that are null.
pub fn name(parts: &[Option<&str>]) -> String {
    parts.iter().flatten().map(|part| format::text(part)).collect::<Vec<_>>().join(" · ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_have_few_labels() {
        assert_eq!(decades(3.0, 6.0).collect::<Vec<_>>(), [3, 4, 5, 6]);
        assert_eq!(decades(0.0, 12.0).collect::<Vec<_>>(), [0, 2, 4, 6, 8, 10, 12]);
    }

    #[test]
    fn times_without_a_logarithm_are_told() {
        let row = |times| Dots { name: "a".to_owned(), times };
        let drawn =
            dots("Times", ["p50", "p99"], &[row([Some(-1.0), Some(0.0)]), row([None, Some(1e6)])]).into_string();
        assert!(drawn.contains("no time above 0: 1.") && drawn.contains("–, 1.00 ms"), "{drawn}");
        assert!(!drawn.contains("NaN") && !drawn.contains("inf"), "{drawn}");
        assert!(!dots("Times", ["p50", "p99"], &[row([None, None])]).into_string().contains("<svg"));
    }
}
