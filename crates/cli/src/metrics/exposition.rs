//! Prometheus's text format, version 0.0.4.

use std::fmt::Write as _;
use std::time::Duration;

use dyntrace_metrics::{FAMILIES, Figures, Kind, Times, Value};
use dyntrace_terminal::escape;

/// The content type of [`text`].
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The powers of two nanoseconds that bound buckets: from 1 us to 34 s. The same at all times, so that no series begins late.
const BOUNDS: std::ops::RangeInclusive<u32> = 10..=35;

/// All metrics. Families without series are left out.
pub fn text(figures: &Figures) -> String {
    let mut page = String::new();
    for family in FAMILIES {
        let name = family.name;
        let mut lines = String::new();
        family.series(figures, &mut |labels, value| {
            let labels: Vec<String> = labels.iter().map(|(name, value)| label(name, value)).collect();
            match value {
                Value::Number(number) => line(&mut lines, name, &labels, &number.to_string()),
                Value::Time(time) => line(&mut lines, name, &labels, &seconds(time)),
                Value::Times(times) => histogram(&mut lines, name, &labels, times),
                _ => {}
            }
        });
        if lines.is_empty() {
            continue;
        }
        let kind = match family.kind {
            Kind::Counter => "counter",
            Kind::Histogram => "histogram",
            _ => "gauge",
        };
        // Texts of the table have nothing to be escaped.
        page += &format!("# HELP {name} {}\n# TYPE {name} {kind}\n{lines}", family.help);
    }
    page
}

fn histogram(lines: &mut String, name: &str, labels: &[String], times: &Times) {
    let bucket = format!("{name}_bucket");
    let with = |bound: &str| [labels, &[label("le", bound)]].concat();
    for bound in BOUNDS.map(|bits| Duration::from_nanos(1 << bits)) {
        line(lines, &bucket, &with(&seconds(bound)), &times.below(bound).to_string());
    }
    let count = times.count().to_string();
    line(lines, &bucket, &with("+Inf"), &count);
    line(lines, &format!("{name}_sum"), labels, &seconds(times.sum));
    line(lines, &format!("{name}_count"), labels, &count);
}

fn line(lines: &mut String, name: &str, labels: &[String], value: &str) {
    let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
    let _ = writeln!(lines, "{name}{labels} {value}");
}

fn label(name: &str, value: &str) -> String {
    // The page may be shown on a terminal: control characters first.
    let value = escape::name(value).replace('\\', "\\\\").replace('"', "\\\"");
    format!("{name}=\"{value}\"")
}

/// Exact, without trailing zeros.
fn seconds(time: Duration) -> String {
    let text = format!("{}.{:09}", time.as_secs(), time.subsec_nanos());
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use dyntrace_metrics::{CommandFigures, LaneFigures};

    use super::*;

    #[test]
    fn labels_are_escaped() {
        let mut command = CommandFigures::default();
        (command.driver, command.command, command.operations) = ("a\"b\\c".into(), "d\ne\u{1b}".into(), 3);
        let mut figures = Figures::default();
        figures.commands.push(command);
        let page = text(&figures);
        let line = r#"dyntrace_operations_total{driver="a\"b\\c",command="d\\x0ae\\x1b"} 3"#;
        assert!(page.lines().any(|shown| shown == line), "{page}");
    }

    #[test]
    fn buckets_add_up() {
        let mut lane = LaneFigures::default();
        lane.lane = "fast".into();
        lane.wait.sum = Duration::from_millis(1500);
        lane.wait.buckets =
            [(1 << 9, 1), (1 << 11, 2), (1 << 38, 4)].map(|(bound, count)| (Duration::from_nanos(bound), count)).into();
        lane.wait.buckets.push((Duration::MAX, 8));
        let mut figures = Figures::default();
        figures.lanes.push(lane);
        let page = text(&figures);
        for line in [
            "# TYPE dyntrace_pool_wait_seconds histogram",
            r#"dyntrace_pool_wait_seconds_bucket{lane="fast",le="0.000001024"} 1"#,
            r#"dyntrace_pool_wait_seconds_bucket{lane="fast",le="0.000002048"} 3"#,
            r#"dyntrace_pool_wait_seconds_bucket{lane="fast",le="34.359738368"} 3"#,
            r#"dyntrace_pool_wait_seconds_bucket{lane="fast",le="+Inf"} 15"#,
            r#"dyntrace_pool_wait_seconds_sum{lane="fast"} 1.5"#,
            r#"dyntrace_pool_wait_seconds_count{lane="fast"} 15"#,
            r#"dyntrace_pool_service_seconds_sum{lane="fast"} 0"#,
        ] {
            assert!(page.lines().any(|shown| shown == line), "{line}: {page}");
        }
    }
}
