//! The page: one HTML file that loads nothing.

use dyntrace_reader::{FileOperation, Losses, Process};
use dyntrace_terminal::escape;
use dyntrace_terminal::page::{fact, page as whole};
use indicatif::{HumanBytes, HumanCount};
use jiff::Timestamp;
use maud::{Markup, html};

use super::chart;
use super::flows::{Flow, Flows};
use super::format::duration;
use super::requests::Requests;
use super::summary::Summary;
use crate::figures::{Row, Spread};
use crate::losses;
use crate::operation::{self, bytes, error_of, name_of};

const STYLE: &str = include_str!("page.css");

/// How many sequential traces are drawn.
const DRAWN: usize = 3;

/// How many unanswered operations are listed.
const IN_FLIGHT: usize = 40;

/// The most lines of a list.
const LISTED: usize = 100;

/// The whole page; `None` is a trace without events.
pub fn page(processes: &[Process], summary: Option<Summary<'_>>, losses: &Losses) -> String {
    let title = match processes {
        [process] => format!("{} ({})", escape::name(&process.name), process.pid),
        _ => format!("{} processes", processes.len()),
    };
    let body = html! {
        h1 { (title) }
        @match summary {
            Some(summary) => (figures(processes, summary, losses)),
            None => { (lost(losses)) p { "The trace has no events." } }
        }
    };
    shell(&title, body)
}

/// A page with this body, in the style that all pages have.
pub fn shell(title: &str, body: Markup) -> String {
    whole(title, STYLE, &body)
}

fn figures(processes: &[Process], mut summary: Summary<'_>, losses: &Losses) -> Markup {
    // Both charts have the axis of the whole recording.
    summary.latency.at(summary.last);
    summary.queue.at(summary.last);
    let are_requests = summary.requests.finish(summary.last.saturating_sub(summary.first));
    let (answered, first) = (&summary.all, summary.first);
    let in_flight = summary.operations.in_flight().count();
    let (unmatched, given_up) = (summary.operations.unmatched(), summary.operations.given_up());
    let charts = html! {
        h2 { "Latency over time" }
        (chart::latency(&summary.latency))
        h2 { "Queue length over time" }
        (chart::queue(&summary.queue))
    };
    let lists = html! {
        h2 { "Slowest operations" }
        (operations(summary.slowest.0.iter().map(|(_, operation)| operation), first))
        @if in_flight > 0 {
            h2 { "Not answered" }
            p { "In flight when the trace ended: " (HumanCount(in_flight as u64)) "." }
            (operations(summary.operations.in_flight().take(IN_FLIGHT), first))
        }
    };
    html! {
        ul .facts {
            (fact("begin", moment(first)))
            (fact("length", duration(summary.last.saturating_sub(first))))
            (fact("events", HumanCount(summary.events)))
            (fact("operations", HumanCount(answered.count)))
            (fact("failed", HumanCount(answered.errors)))
            (fact("moved", HumanBytes(answered.bytes)))
        }
        (lost(losses))
        @if unmatched + given_up > 0 {
            p { (HumanCount(unmatched)) " events belong to operations whose begin is missing; the end of "
                (HumanCount(given_up)) " operations is missing." }
        }
        (charts)
        (traces(summary.flows, first))
        (summary.tasks.section(first))
        h2 { "Commands" }
        (table("command", summary.commands.finish(), |&(driver, command)| html! { (operation::name(driver, command)) }))
        h2 { "User tags" }
        @if are_requests {
            p { "Tags that differ in numbers and ids only are one row." }
            (table("user tag", summary.patterns.finish(), |tag| user_tag(tag)))
            (requests(&summary.requests, first))
        } @else {
            (table("user tag", summary.tags.finish(), |tag| user_tag(tag)))
        }
        (lists)
        h2 { "Processes" }
        ul {
            @for process in processes.iter().take(LISTED) {
                li { (escape::name(&process.name)) ", pid " (process.pid) ", on " (escape::name(&process.hostname)) }
            }
            (more(processes.len()))
        }
    }
}

/// The requests: how long they take, and where the time of the slowest went.
fn requests(requests: &Requests<'_>, first: i64) -> Markup {
    let time =
        |name: &str, time: Option<u64>| html! { @if let Some(time) = time { (fact(name, duration(time as i64))) } };
    html! {
        h2 { "Slowest requests" }
        p { "A request is a user tag, from its first entry to its last return."
            @if requests.is_cut { " There were more at once than can be followed: a request that was idle for long may be counted as two." } }
        ul .facts {
            (fact("requests", HumanCount(requests.durations.len())))
            @for (name, part) in [("p50", 0.5), ("p90", 0.9), ("p99", 0.99)] { (time(name, requests.durations.percentile(part))) }
            (time("longest", requests.durations.longest()))
        }
        (chart::durations(&requests.steps))
        p { "Outside is the time in which none of its operations was in flight. Queue wait, service and delivery are sums over its "
            "operations; where these overlap, the sums exceed the time that the request took." }
        div .wide { table {
            thead { tr { th { "user tag" } th { "took" } th { "outside" } th { "queue wait" } th { "service" } th { "delivery" }
                th { "operations" } th { "errors" } th { "at" } } }
            tbody {
                @for request in &requests.slowest {
                    tr {
                        th scope="row" { (user_tag(request.tag)) }
                        @for time in [request.duration(), request.outside, request.queue_wait, request.service, request.delivery] {
                            td { (duration(time)) }
                        }
                        td { (HumanCount(request.operations)) }
                        td .bad[request.errors > 0] { (HumanCount(request.errors)) }
                        td { (duration(request.first.saturating_sub(first))) }
                    }
                }
            }
        } }
    }
}

/// The longest sequential traces, the first of them as pictures.
fn traces(flows: Flows<'_>, first: i64) -> Markup {
    let left_out = flows.left_out;
    let (longest, count) = flows.longest();
    let row = |flow: &Flow<'_>| {
        html! {
            tr {
                th scope="row" { (flow.label) }
                td { (duration(flow.last.saturating_sub(flow.first))) }
                td { (duration(flow.first.saturating_sub(first))) }
                td { (HumanCount(flow.messages)) } td { (HumanCount(flow.operations)) } td { (flow.processes.len()) }
            }
        }
    };
    html! {
        @if count > 0 {
            h2 { "Sequential traces" }
            p { (HumanCount(count as u64)) " tokens went through this program" @if count > longest.len() { "; these took longest" } "." }
            div .wide { table {
                thead { tr { th { "token" } th { "took" } th { "at" } th { "messages" } th { "operations" } th { "processes" } } }
                tbody { @for flow in &longest { (row(flow)) } }
            } }
            @if left_out > 0 { p { (HumanCount(left_out)) " events had tokens beyond the limit." } }
            @for flow in longest.iter().take(DRAWN) {
                p { "Token " (flow.label) ": messages between processes, and their operations." }
                (chart::flow(flow))
            }
        }
    }
}

fn user_tag(tag: &[u8]) -> Markup {
    html! { @if tag.is_empty() { i { "no tag" } } @else { (escape::name(tag)) } }
}

fn table<K>(what: &str, (rows, others): (Vec<(K, Row)>, Option<Row>), name: impl Fn(&K) -> Markup) -> Markup {
    let times = |spread: &Spread| {
        html! {
            @for part in [0.5, 0.99, 0.999] {
                td { @if let Some(time) = spread.percentile(part) { (duration(time as i64)) } }
            }
        }
    };
    let line = |name: Markup, row: &Row| {
        html! {
            tr {
                th scope="row" { (name) }
                td { (HumanCount(row.count)) }
                td { @if row.bytes > 0 { (HumanBytes(row.bytes)) } }
                td .bad[row.errors > 0] { (HumanCount(row.errors)) }
                (times(&row.queue_wait)) (times(&row.service)) (times(&row.delivery))
            }
        }
    };
    html! {
        div .wide { table {
            thead {
                tr { th rowspan="2" { (what) } th rowspan="2" { "count" } th rowspan="2" { "bytes" } th rowspan="2" { "errors" }
                    th colspan="3" { "queue wait" } th colspan="3" { "service" } th colspan="3" { "delivery" } }
                tr { @for _ in 0..3 { th { "p50" } th { "p99" } th { "p99.9" } } }
            }
            tbody {
                @for (key, row) in &rows { (line(name(key), row)) }
                @if let Some(row) = &others { (line(html! { i { "others" } }, row)) }
            }
        } }
        @if others.is_some() {
            p { "While the trace was read, rows with few operations were merged into “others”: another row may lack its first operations." }
        }
    }
}

fn operations<'o, 't: 'o>(operations: impl Iterator<Item = &'o FileOperation<'t>>, first: i64) -> Markup {
    let time = |time: Option<i64>| html! { td { @if let Some(time) = time { (duration(time)) } } };
    html! {
        div .wide { table {
            thead { tr { th { "command" } th { "took" } th { "queue wait" } th { "service" } th { "delivery" } th { "at" } th { "bytes" }
                th { "error" } th .name { "user tag" } th .name { "path" } th .name { "operation" } } }
            tbody {
                @for operation in operations {
                    tr {
                        th scope="row" { (name_of(operation)) }
                        (time(operation.duration())) (time(operation.queue_wait())) (time(operation.service())) (time(operation.delivery()))
                        (time(Some(operation.entered.saturating_sub(first))))
                        td { @if let Some(bytes) = bytes(operation) { (HumanBytes(bytes)) } }
                        td .bad { (escape::name(error_of(operation).as_bytes())) }
                        td .text { (user_tag(operation.request.user_tag)) }
                        td .text { (escape::name(operation.path)) @if !operation.request.strings[1].is_empty() { " → " (escape::name(operation.request.strings[1])) } }
                        td .name { (operation.process.pid) " {" (operation.id.thread) "," (operation.id.tag) "}" }
                    }
                }
            }
        } }
    }
}

/// The losses of the trace.
pub fn lost(losses: &Losses) -> Markup {
    html! {
        section #lost .bad[!losses.is_empty()] {
            @if losses.is_empty() { "Nothing was lost." } @else {
                h2 { "Losses" }
                p { (HumanCount(losses.events())) " events were lost; " (losses.damaged.len()) " places are damaged." }
                ul {
                    @for line in losses::empty(losses) { li { (line) } }
                    @for lines in losses::lines(losses) {
                        @for line in lines.iter().take(LISTED) { li { (line) } }
                        (more(lines.len()))
                    }
                }
            }
        }
    }
}

fn moment(time: i64) -> String {
    // Timestamp holds every i64 of nanoseconds.
    Timestamp::from_nanosecond(time.into()).unwrap_or_default().strftime("%F %T%.3f UTC").to_string()
}

/// The end of a list that was cut.
fn more(length: usize) -> Markup {
    html! { @if length > LISTED { li { "and " (length - LISTED) " more" } } }
}
