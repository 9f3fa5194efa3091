//! The charts, as SVG.

use dyntrace_terminal::escape;
use indicatif::HumanCount;
use maud::{Markup, html};

use super::flows::{Flow, Step};
use super::format::duration;
use super::heat::{self, Latencies, ROWS, ROWS_OF_A_DECADE};
use super::queue_length::QueueLength;
use super::timeline::{Bucket, Timeline};
use crate::operation;

/// The area of the data; labels are around it.
const LEFT: f64 = 60.0;
const WIDTH: f64 = 1100.0;
/// Half of the last label of an axis is here.
const RIGHT: f64 = 28.0;
const TOP: f64 = 10.0;
const BELOW: f64 = 24.0;

/// The shades of the heat map.
const SHADES: usize = 7;

/// The heat map: numbers of operations by latency, over time.
pub fn latency(timeline: &Timeline<Latencies>) -> Markup {
    let most = timeline.buckets.iter().flat_map(|bucket| &bucket.0).copied().max().unwrap_or(0);
    let used = |row: &usize| timeline.buckets.iter().any(|bucket| bucket.0[*row] > 0);
    let lowest = (0..ROWS).find(used).unwrap_or(0) / ROWS_OF_A_DECADE * ROWS_OF_A_DECADE;
    let highest = (0..ROWS).rfind(used).map_or(ROWS, |row| (row + 1).next_multiple_of(ROWS_OF_A_DECADE).min(ROWS));
    let field = 11.0;
    let height = (highest - lowest) as f64 * field;
    let y = |row: usize| TOP + (highest - row) as f64 * field;
    let body = html! {
        @for row in (lowest..=highest).step_by(ROWS_OF_A_DECADE) {
            (grid(y(row), &duration(heat::floor(row))))
        }
        @for (index, bucket) in timeline.buckets.iter().enumerate() {
            @let (x, width) = column(index, timeline.buckets.len());
            @for (row, &count) in bucket.0.iter().enumerate().filter(|(_, count)| **count > 0) {
                rect class={ "heat" (shade(count, most)) } x=(x) y=(round(y(row + 1))) width=(width) height=(field) {
                    title { (count) " × " (duration(heat::floor(row))) " to " (duration(heat::floor(row + 1))) " at " (at(timeline, index)) }
                }
            }
        }
    };
    let picture = chart("latency", "Latency over time", length_of(timeline), height, body);
    html! { p { "Latency is from request to answer, and time is that of the request. A stronger colour means more operations, at most "
    (HumanCount(most)) "." } (picture) }
}

/// The lengths of the pool's queues over time.
pub fn queue(timeline: &Timeline<QueueLength>) -> Markup {
    let longest = timeline.buckets.iter().map(|bucket| bucket.longest).max().unwrap_or(0).max(1);
    let height = 140.0;
    let y = |length: f64| TOP + height * (1.0 - length / longest as f64);
    let bar = |index: usize, class: &str, length: f64| {
        let (x, width) = column(index, timeline.buckets.len());
        html! { rect class=(class) x=(x) y=(round(y(length))) width=(width) height=(round(TOP + height - y(length))) {} }
    };
    let body = html! {
        @for length in ticks(longest) {
            (grid(y(length as f64), &length.to_string()))
        }
        @for (index, bucket) in timeline.buckets.iter().enumerate().filter(|(_, bucket)| bucket.steps > 0) {
            g {
                title { "longest " (bucket.longest) ", mean " (format!("{:.1}", bucket.mean())) " at " (at(timeline, index)) }
                (bar(index, "longest", bucket.longest as f64)) (bar(index, "mean", bucket.mean()))
            }
        }
    };
    let picture = chart("queue", "Queue length over time", length_of(timeline), height, body);
    html! { p { "Jobs in a queue of the pool, after each job that was added or taken: the longest queue, and within it the mean." } (picture) }
}

/// How many requests took how long.
pub fn durations(steps: &Latencies) -> Markup {
    let Latencies(counts) = steps;
    let most = counts.iter().copied().max().unwrap_or(0).max(1);
    let lowest = counts.iter().position(|count| *count > 0).unwrap_or(0);
    let end = counts.iter().rposition(|count| *count > 0).unwrap_or(0) + 1;
    let height = 140.0;
    let column = WIDTH / (end - lowest) as f64;
    let x = |step: usize| round(LEFT + (step - lowest) as f64 * column);
    let y = |count: u64| round(TOP + height * (1.0 - count as f64 / most as f64));
    let body = html! {
        @for count in ticks(i64::try_from(most).unwrap_or(i64::MAX)) { (grid(y(count as u64), &count.to_string())) }
        @for (step, &count) in counts.iter().enumerate().take(end).skip(lowest).filter(|(_, count)| **count > 0) {
            rect .mean x=(x(step)) y=(y(count)) width=(round(column * 0.9)) height=(round(TOP + height - y(count))) {
                title { (count) " × " (duration(heat::floor(step))) " to " (duration(heat::floor(step + 1))) }
            }
        }
        @for step in lowest..=end {
            text x=(x(step)) y=(TOP + height + 16.0) text-anchor="middle" { (duration(heat::floor(step))) }
        }
    };
    frame("requests", "Durations of requests", height, body)
}

/// A sequential trace: a line for each process, their messages and operations.
pub fn flow(flow: &Flow<'_>) -> Markup {
    let length = flow.last.saturating_sub(flow.first).max(1);
    let lane = 26.0;
    let height = lane * flow.processes.len() as f64;
    let y = |process: usize| TOP + lane * (process as f64 + 0.5);
    let x = |time: i64| round(LEFT + WIDTH * time.saturating_sub(flow.first) as f64 / length as f64);
    let took = |begin: i64, end: i64| duration(end.saturating_sub(begin));
    let body = html! {
        @for (at, (_, process)) in flow.processes.iter().enumerate() {
            (grid(y(at), &escape::name(process)))
        }
        @for step in &flow.steps {
            @match *step {
                Step::Message { from, to, sent, received } => {
                    line .hop x1=(x(sent)) y1=(y(from.unwrap_or(to))) x2=(x(received)) y2=(y(to)) {
                        title { "message, " (took(sent, received)) " on its way" }
                    }
                    circle .hop cx=(x(received)) cy=(y(to)) r="3" {}
                }
                Step::Operation { of, kind: (driver, command), begin, end } => {
                    rect .mean x=(x(begin)) y=(y(of) - 5.0) width=((x(end) - x(begin)).max(1.0)) height="10" {
                        title { (operation::name(driver, command)) ", " (took(begin, end)) }
                    }
                }
            }
        }
    };
    chart(&format!("flow{}", flow.label), &format!("Trace {}", flow.label), length as u64, height, body)
}

/// A line across the chart, with a label on its left.
fn grid(y: f64, label: &str) -> Markup {
    html! {
        line .grid x1=(LEFT) x2=(LEFT + WIDTH) y1=(y) y2=(y) {}
        text x=(LEFT - 6.0) y=(y + 4.0) text-anchor="end" { (label) }
    }
}

fn length_of<B: Bucket>(timeline: &Timeline<B>) -> u64 {
    timeline.width.saturating_mul(timeline.buckets.len() as u64)
}

/// `body` above an axis of time that is `length` nanoseconds long.
fn chart(id: &str, label: &str, length: u64, height: f64, body: Markup) -> Markup {
    let x = |time: i64| round(LEFT + WIDTH * time as f64 / length.max(1) as f64);
    let bottom = TOP + height;
    let body = html! {
        (body)
        @for time in ticks(i64::try_from(length).unwrap_or(i64::MAX)) {
            line .grid x1=(x(time)) x2=(x(time)) y1=(bottom) y2=(bottom + 4.0) {}
            text x=(x(time)) y=(bottom + 16.0) text-anchor="middle" { (duration(time)) }
        }
    };
    frame(id, label, height, body)
}

/// `body` above a line.
fn frame(id: &str, label: &str, height: f64, body: Markup) -> Markup {
    let bottom = TOP + height;
    html! {
        svg #(id) role="img" aria-label=(label) viewBox={ "0 0 " (LEFT + WIDTH + RIGHT) " " (bottom + BELOW) } {
            (body)
            line .grid x1=(LEFT) x2=(LEFT + WIDTH) y1=(bottom) y2=(bottom) {}
        }
    }
}

/// Where a bucket of so many is, and its width. Neighbours have the same edge, which no hairline parts.
fn column(index: usize, buckets: usize) -> (f64, f64) {
    let edge = |index: usize| round(LEFT + WIDTH * index as f64 / buckets.max(1) as f64);
    (edge(index), round(edge(index + 1) - edge(index)))
}

/// The begin of a bucket, from the begin of the trace.
fn at<B: Bucket>(timeline: &Timeline<B>, index: usize) -> String {
    duration(timeline.width.saturating_mul(index as u64) as i64)
}

/// Shades are logarithmic: one slow operation must be visible beside a million fast ones.
fn shade(count: u64, most: u64) -> usize {
    let part = if most > 1 { (count as f64).ln() / (most as f64).ln() } else { 1.0 };
    (part * SHADES as f64).min(SHADES as f64 - 1.0) as usize
}

/// Round numbers from 0 to `most`, at most nine.
fn ticks(most: i64) -> impl Iterator<Item = i64> {
    let decade = 10_i64.pow((most / 8).max(1).ilog10());
    let step = [1, 2, 5, 10].map(|factor| decade.saturating_mul(factor)).into_iter().find(|step| most / step <= 8);
    (0..=8).map(move |tick| step.unwrap_or(most).saturating_mul(tick)).take_while(move |tick| *tick <= most)
}

/// Rounds to a tenth of a pixel, which keeps the page short.
fn round(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_in_a_million_has_a_shade_of_its_own() {
        assert_eq!(shade(1, 1_000_000), 0);
        assert_eq!(shade(1_000_000, 1_000_000), SHADES - 1);
        assert_eq!(shade(1, 1), SHADES - 1);
        assert!((1..100).map(|count| shade(count, 100)).is_sorted());
    }

    #[test]
    fn neighbours_have_the_same_edge() {
        for buckets in 1..=240 {
            for index in 1..buckets {
                let ((before, width), (x, _)) = (column(index - 1, buckets), column(index, buckets));
                assert_eq!(round(before + width), x, "{index} of {buckets}");
            }
            let (last, width) = column(buckets - 1, buckets);
            assert_eq!(round(last + width), LEFT + WIDTH);
        }
    }

    #[test]
    fn ticks_are_few_and_round() {
        assert_eq!(ticks(1).collect::<Vec<_>>(), [0, 1]);
        assert_eq!(ticks(7).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(ticks(930).collect::<Vec<_>>(), [0, 200, 400, 600, 800]);
        assert!(ticks(i64::MAX).count() > 1);
    }
}
