//! The verdict, and the causes with their evidence, in lines.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::time::Duration;

use dyntrace_terminal::escape;

use super::causes::{Cause, CauseKind, Causes, Evidence, by_time};
use super::watch::Watched;
use crate::own::Own;
use crate::words;

/// Causes that are told.
const CAUSES: usize = 3;

/// Functions that are told of those that waited, and waits of holders.
const NAMED: usize = 3;

/// The whole answer. `unknown`: the gaps.
pub fn text(pid: u32, seen: &Watched, unknown: Option<&str>) -> String {
    let ranked = seen.causes.ranked(seen.time);
    let bold = anstyle::Style::new().bold();
    let mut text = format!("{bold}{}{bold:#}\n", verdict(&ranked, unknown.is_some()));
    for (number, (cause, evidence, share)) in ranked.iter().take(CAUSES).enumerate() {
        text += &format!("\n{bold}{}. {}: {}{bold:#}\n", number + 1, title(cause), percent(*share));
        for line in lines(pid, cause, evidence, &seen.causes.pool) {
            text += &format!("   {line}\n");
        }
    }
    if ranked.len() > CAUSES {
        let rest: f64 = ranked[CAUSES..].iter().map(|(.., share)| share).sum();
        text += &format!("\nand {} more, {} together\n", words::counted(ranked.len() - CAUSES, "cause"), percent(rest));
    }
    let rest = seen.causes.rest().into_iter().filter(|(_, share)| *share >= 0.005);
    let rest: Vec<String> = rest.map(|(name, share)| format!("{name} {}", percent(share))).collect();
    if !rest.is_empty() {
        text += &format!("\nno cause: {}\n", rest.join(", "));
    }
    text += &format!("\n{}\n", watched(pid, seen));
    text += &unseen(seen).map(|unseen| format!("{unseen}\n")).unwrap_or_default();
    text + &unknown.map(|unknown| format!("unknown: {}\n", escape::name(unknown))).unwrap_or_default()
}

/// How much was looked at.
pub fn watched(pid: u32, seen: &Watched) -> String {
    let [threads, tasks] = seen.looks;
    let poll = if seen.workers == 1 { "polls" } else { "poll" };
    format!(
        "watched process {pid} for {}: {} that {poll} tasks, {} at threads and {} at tasks",
        seconds(seen.time),
        words::counted(seen.workers, "thread"),
        words::counted(threads as usize, "look"),
        words::counted(tasks as usize, "look"),
    )
}

/// How much time the answer leaves out; `None` if all tasks have types.
pub fn unseen(seen: &Watched) -> Option<String> {
    let Causes { without_types, .. } = seen.causes;
    let told = || {
        let [without_types, requests] = [without_types, seen.causes.requests()].map(seconds);
        format!("seen: {requests} of requests; not seen: tasks without types waited for {without_types}, idle ones too")
    };
    (!without_types.is_zero()).then(told)
}

pub fn verdict(ranked: &[(&Cause, &Evidence, f64)], is_unknown: bool) -> String {
    match ranked {
        [] if is_unknown => "No cause was found in what could be seen".to_owned(),
        [] => "No cause: nothing kept requests waiting for long".to_owned(),
        [(cause, evidence, share), ..] => {
            let seen = if is_unknown { " that could be seen" } else { "" };
            format!("{} of the time of requests{seen} went to {}", percent(*share), phrase(cause, evidence))
        }
    }
}

/// A cause as the end of a sentence.
fn phrase(cause: &Cause, evidence: &Evidence) -> String {
    let own = own(evidence.own(cause));
    let resource = escape::name(&cause.resource);
    match cause.kind {
        CauseKind::BlockingCall => format!("{own}, which blocks a thread of the runtime in {resource}"),
        CauseKind::LongPoll => format!("{own}, which computes for long without an await"),
        CauseKind::Lock => format!("a {resource} that {own} holds across an await"),
        CauseKind::Permits => format!("permits of a {resource} that {own} has"),
        CauseKind::FullChannel => "full channels".to_owned(),
        CauseKind::BlockingJob => format!("jobs of the blocking pool, from {own}"),
        CauseKind::FileOperation => format!("{resource}, from {own}"),
        CauseKind::Peer => format!("answers of {resource}, in {own}"),
        CauseKind::Timer => format!("timers in {own}"),
        CauseKind::Event => format!("{resource} in {own}"),
        CauseKind::NoThread => "waits for a free thread".to_owned(),
    }
}

pub fn title(cause: &Cause) -> String {
    let resource = escape::name(&cause.resource);
    match cause.kind {
        CauseKind::BlockingCall => "a call that blocks a thread of the runtime".to_owned(),
        CauseKind::LongPoll => "a poll that computes for long".to_owned(),
        CauseKind::Lock => format!("a {resource} held across an await"),
        CauseKind::Permits => format!("waiting for permits of a {resource}"),
        CauseKind::FullChannel => "a full channel".to_owned(),
        CauseKind::BlockingJob => "jobs of the blocking pool".to_owned(),
        CauseKind::FileOperation => "file operations".to_owned(),
        CauseKind::Peer => format!("waiting for {resource}"),
        CauseKind::Timer => "timers in requests".to_owned(),
        CauseKind::Event => format!("waiting for {resource}"),
        CauseKind::NoThread => "woken tasks find no thread".to_owned(),
    }
}

pub fn lines(pid: u32, cause: &Cause, evidence: &Evidence, pool: &BTreeMap<String, Duration>) -> Vec<String> {
    let own = own(evidence.own(cause));
    let resource = escape::name(&cause.resource);
    let mut lines = Vec::new();
    lines.push(match cause.kind {
        CauseKind::BlockingCall => {
            let longest = words::duration(u64::try_from(evidence.longest.as_nanos()).unwrap_or(u64::MAX));
            format!("{own} stays in {resource}, up to {longest} at a time ({})", times(evidence))
        }
        CauseKind::LongPoll => {
            format!("{} ({})", functions(&evidence.victims), times(evidence))
        }
        CauseKind::Lock | CauseKind::Permits if cause.own.is_none() => "no task is seen to hold it".to_owned(),
        CauseKind::Lock | CauseKind::Permits => {
            format!("held in {own}, which waits for {}", first(&evidence.holder_waits, escape::name))
        }
        CauseKind::NoThread => "no thread that polls tasks was free".to_owned(),
        _ => format!("in {}", functions(&evidence.victims)),
    });
    let waited = format!("{} of waiting in all", seconds(evidence.time));
    let at_once = words::counted(evidence.most, "task");
    lines.push(match cause.kind {
        CauseKind::BlockingCall | CauseKind::LongPoll => {
            format!("{waited}, that of tasks which were woken meanwhile included")
        }
        CauseKind::Lock | CauseKind::Permits => {
            format!("up to {at_once} at once wait in {}: {waited}", functions(&evidence.victims))
        }
        _ => format!("up to {at_once} at once, {waited}"),
    });
    if cause.kind == CauseKind::BlockingJob && !pool.is_empty() {
        lines.push(format!("the pool's threads were in {}", shares(pool)));
    }
    lines.push(format!("do: {}", advice(cause.kind)));
    lines.push(format!("see: dyntrace {} -p {pid}", command(cause.kind)));
    lines
}

/// The first of them, those with the most time.
pub fn first<'t, K: Ord>(times: &'t BTreeMap<K, Duration>, told: impl Fn(&'t K) -> String) -> String {
    let all = by_time(times);
    let shown: Vec<String> = all.iter().take(NAMED).map(|(key, _)| told(key)).collect();
    let more = all.len() - shown.len();
    shown.join(", ") + &if more > 0 { format!(" and {more} more") } else { String::new() }
}

/// The first functions. Further lines of the one before are told by their numbers.
pub fn functions(times: &BTreeMap<Own, Duration>) -> String {
    let last = Cell::new(None);
    first(times, |at| match (last.replace(Some((&at.function, &at.place))), &at.place) {
        (Some((function, Some(before))), Some(place)) if (function, &before.file) == (&at.function, &place.file) => {
            format!(":{}", place.line)
        }
        _ => own(Some(at)),
    })
}

/// The first calls, each with its share.
fn shares(calls: &BTreeMap<String, Duration>) -> String {
    let all = calls.values().sum::<Duration>().as_secs_f64();
    let shares = by_time(calls).into_iter().take(NAMED).map(|(call, time)| {
        let share = if all > 0.0 { time.as_secs_f64() / all } else { 0.0 };
        format!("{} ({})", escape::name(call), percent(share))
    });
    shares.collect::<Vec<_>>().join(", ")
}

fn times(evidence: &Evidence) -> String {
    match evidence.seen {
        1 => "seen once".to_owned(),
        seen => format!("seen {seen} times"),
    }
}

fn advice(kind: CauseKind) -> &'static str {
    match kind {
        CauseKind::BlockingCall => "call the asynchronous form, or move it to spawn_blocking",
        CauseKind::LongPoll => "move it to spawn_blocking, or yield in between",
        CauseKind::Lock => "drop the guard before the await, or do the slow part before the lock",
        CauseKind::Permits => "give the permits back earlier, or allow more",
        CauseKind::FullChannel => "make the receiver faster, or shed load before the channel",
        CauseKind::BlockingJob | CauseKind::FileOperation => "do it less often, batch it, or use a faster disk",
        CauseKind::Peer => "ask it fewer times, at once, or with a timeout",
        CauseKind::Timer => "wait for the event in place of a time",
        CauseKind::Event => "look at the task that must send it",
        CauseKind::NoThread => "give the runtime more threads, or the process more CPUs",
    }
}

fn command(kind: CauseKind) -> &'static str {
    match kind {
        CauseKind::BlockingCall | CauseKind::LongPoll | CauseKind::BlockingJob => "threads",
        CauseKind::NoThread => "polls",
        _ => "why",
    }
}

pub fn own(own: Option<&Own>) -> String {
    let Some(own) = own else { return "a function without a name".to_owned() };
    let function = words::type_name(&own.function);
    match &own.place {
        Some(place) => format!("{function} at {}", words::place(place)),
        None => function,
    }
}

pub fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

pub fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}
