//! The clocks for people.

use dyntrace_analysis::report::format::duration;
use dyntrace_analysis::view::time::Time;
use dyntrace_fleet::clocks::Message;
use dyntrace_terminal::{columns, escape};

use super::read::{ClockInputs, Ntp};
use super::seconds::seconds;
use super::solve::Solved;
use super::state::{Host, State, hosts};

/// The most messages of a contradiction that are shown.
const SHOWN: usize = 4;

/// A line for each host.
pub fn table(found: &ClockInputs, solved: &Solved) -> String {
    let titles = ["HOST", "AHEAD", "ERROR", "MESSAGES", ""].map(str::to_owned);
    let rows: Vec<[String; 5]> =
        std::iter::once(titles).chain(hosts(found, solved).map(|host| row(&host, found, solved))).collect();
    let lines = columns::aligned(&rows, |column| (1..=3).contains(&column));
    lines.iter().map(|line| format!("{}\n", line.trim_end())).collect()
}

fn row(host: &Host<'_>, found: &ClockInputs, solved: &Solved) -> [String; 5] {
    let none = || "-".to_owned();
    let remark = match host.state {
        State::Reference => "the reference".to_owned(),
        State::Aligned => String::new(),
        State::OneSided => "its messages go one way only, so the error is unknown".to_owned(),
        State::LeftOut => "not aligned: its messages contradict each other".to_owned(),
        State::Unconnected if host.messages == 0 => "not aligned: it has no messages with other hosts".to_owned(),
        State::Unconnected => {
            format!("not aligned: no messages connect it with {}", escape::name(&found.hosts[solved.reference]))
        }
    };
    [
        escape::name(host.name),
        host.ahead.map_or_else(none, seconds),
        host.error.map_or_else(none, duration),
        host.messages.to_string(),
        remark,
    ]
}

/// A line about all messages, and one about all estimates of NTP.
pub fn summary(found: &ClockInputs) -> Vec<String> {
    let messages = format!("messages between hosts: {} joined, {}", found.messages.len(), counts(found));
    let estimates = found.ntp.as_ref().map(|ntp| {
        let (taken, Ntp { skipped, unknown, .. }) = (ntp.estimates(), ntp);
        format!("estimates of NTP: {taken} taken, {unknown} of hosts that are not in the data set, {skipped} lines without one")
    });
    [messages].into_iter().chain(estimates).collect()
}

/// The messages that could not be joined.
pub fn counts(found: &ClockInputs) -> String {
    format!("{} skipped as their label and counts occur twice, {} not received", found.ambiguous, found.unreceived)
}

/// A line for each host that was left out.
pub fn contradictions(found: &ClockInputs, solved: &Solved) -> Vec<String> {
    let left_out = solved.left_out.iter().map(|out| {
        let shown: Vec<String> = out.messages.iter().take(SHOWN).map(|each| message(each, found)).collect();
        let more = match out.messages.len().saturating_sub(SHOWN) {
            0 => String::new(),
            more => format!("; and {more} more"),
        };
        let why = match out.messages.iter().any(|each| found.estimated(each).is_some()) {
            true => "or an estimate of NTP is wrong, since these contradict each other",
            false => "since not all of these messages can have been received after they were sent",
        };
        format!(
            "{} is not aligned: a clock was set, or drifts by more than the limit, {why}: {}{more}",
            escape::name(&found.hosts[out.host]),
            shown.join("; ")
        )
    });
    left_out.collect()
}

/// A message with both of its times, each by its host's clock.
fn message(message: &Message, found: &ClockInputs) -> String {
    let name = |host: usize| escape::name(&found.hosts[host]);
    if let Some(host) = found.estimated(message) {
        return format!("NTP's estimate of {} at {}", name(host), time(message.sent));
    }
    let [from, to] = [message.from, message.to].map(name);
    format!("from {from} at {} to {to} at {}", time(message.sent), time(message.received))
}

fn time(time: i64) -> String {
    let mut text = Vec::new();
    Time::default().append(time, &mut text);
    String::from_utf8_lossy(&text).into_owned()
}
