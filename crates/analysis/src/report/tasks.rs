//! Tasks: how many were spawned, how they ended, and their polls by function.

use std::collections::{BTreeMap, HashMap};

use dyntrace_reader::Event;
use dyntrace_terminal::escape;
use dyntrace_terminal::page::fact;
use indicatif::HumanCount;
use maud::{Markup, html};

use super::format::duration;
use crate::figures::Spread;
use crate::recorded_tasks::{Poll, Task, TaskStep, Tasks};
use crate::render::Settings;

/// The most functions with a row of their own, and the rows on the page.
const FUNCTIONS: usize = 1024;
const ROWS: usize = 100;
/// How many of the longest polls, and how many kinds of panics, are kept.
const POLLS: usize = 40;
const PANICS: usize = 100;

/// The figures of the tasks in a trace.
#[derive(Default)]
pub struct Figures<'t> {
    tasks: Tasks<'t>,
    spawned: u64,
    /// By reason.
    ended: BTreeMap<&'t [u8], u64>,
    functions: HashMap<&'t [u8], Function>,
    /// Of the functions beyond the limit.
    others: Function,
    /// By function and text.
    panics: HashMap<(&'t [u8], &'t [u8]), Panic>,
    panics_left_out: u64,
    /// The longest first.
    longest: Vec<(i64, Poll<'t>)>,
    slow: u64,
}

#[derive(Default)]
struct Function {
    spawned: u64,
    polls: Spread,
    /// When the longest poll began.
    longest_at: i64,
}

struct Panic {
    count: u64,
    first: i64,
}

impl<'t> Figures<'t> {
    pub fn add(&mut self, event: &Event<'t>) {
        match self.tasks.push(event) {
            Some(TaskStep::Spawned(function)) => {
                self.spawned += 1;
                self.function(function).spawned += 1;
            }
            Some(TaskStep::Polled(poll)) => self.polled(poll),
            Some(TaskStep::Ended(task)) => self.ended(&task),
            None => {}
        }
    }

    fn function(&mut self, function: &'t [u8]) -> &mut Function {
        if self.functions.len() >= FUNCTIONS && !self.functions.contains_key(function) {
            return &mut self.others;
        }
        self.functions.entry(function).or_default()
    }

    fn polled(&mut self, poll: Poll<'t>) {
        let Some(end) = poll.end else { return };
        let function = self.function(poll.function);
        if function.polls.longest().is_none_or(|longest| longest < end.polled.unsigned_abs()) {
            function.longest_at = poll.begun;
        }
        function.polls.count(end.polled);
        self.slow += u64::from(end.polled >= Settings::default().slow);
        let place = self.longest.partition_point(|(other, _)| *other >= end.polled);
        if place < POLLS {
            self.longest.truncate(POLLS - 1);
            self.longest.insert(place, (end.polled, poll));
        }
    }

    fn ended(&mut self, task: &Task<'t>) {
        let Some((time, reason)) = task.exit else { return };
        let text = reason.strip_prefix(b"panic: ");
        *self.ended.entry(if text.is_some() { b"panic" } else { reason }).or_default() += 1;
        let Some(text) = text.or((reason == b"panic").then_some(b"")) else { return };
        let (many, key) = (self.panics.len() >= PANICS, (task.function, text));
        match self.panics.get_mut(&key) {
            Some(panic) => panic.count += 1,
            None if many => self.panics_left_out += 1,
            None => {
                self.panics.insert(key, Panic { count: 1, first: time });
            }
        }
    }

    /// The section of the page; nothing for a trace without tasks. `first` is the time of the trace's first event.
    pub fn section(self, first: i64) -> Markup {
        let ended: u64 = self.ended.values().sum();
        if self.spawned == 0 && ended == 0 && self.longest.is_empty() {
            return html! {};
        }
        let alive = self.tasks.alive().count();
        html! {
            h2 { "Tasks" }
            ul .facts {
                (fact("spawned", HumanCount(self.spawned)))
                @for (reason, count) in &self.ended { (fact(&escape::name(reason), HumanCount(*count))) }
                (fact("not ended", HumanCount(alive as u64)))
                @if !self.longest.is_empty() { (fact("polls of 10 ms or more", HumanCount(self.slow))) }
            }
            @if self.longest.is_empty() {
                p { "The trace has no polls: record them with --probes '*'." }
            }
            @if self.tasks.left_out > 0 {
                p { (HumanCount(self.tasks.left_out)) " tasks are beyond the limit and were not followed." }
            }
            (functions(self.functions, &self.others, first))
            (panics(self.panics, self.panics_left_out, first))
            (longest(&self.longest, first))
        }
    }
}

/// The functions, those whose polls took the most time first.
fn functions(functions: HashMap<&[u8], Function>, others: &Function, first: i64) -> Markup {
    let mut rows: Vec<_> = functions.into_iter().collect();
    rows.sort_by(|(a, one), (b, two)| {
        let key = |function: &Function| (function.polls.sum(), function.spawned);
        key(two).cmp(&key(one)).then(a.cmp(b))
    });
    let row = |name: Markup, Function { spawned, polls, longest_at }: &Function| {
        let time = |time: Option<u64>| html! { td { @if let Some(time) = time { (nanoseconds(time)) } } };
        html! {
            tr {
                th scope="row" { (name) }
                td { (HumanCount(*spawned)) }
                td { (HumanCount(polls.len())) }
                td { @if polls.len() > 0 { (nanoseconds(u64::try_from(polls.sum()).unwrap_or(u64::MAX))) } }
                (time(polls.percentile(0.5))) (time(polls.percentile(0.99))) (time(polls.longest()))
                td { @if polls.len() > 0 { (duration(longest_at.saturating_sub(first))) } }
            }
        }
    };
    html! {
        div .wide { table {
            thead { tr { th { "function" } th { "spawned" } th { "polls" } th { "in polls" } th { "p50" } th { "p99" } th { "longest" }
                th { "at" } } }
            tbody {
                @for (name, function) in rows.iter().take(ROWS) { (row(shown(name), function)) }
                @if others.spawned + others.polls.len() > 0 { (row(html! { i { "others" } }, others)) }
            }
        } }
        @if rows.len() > ROWS { p { "and " (rows.len() - ROWS) " more functions" } }
    }
}

/// The panics, the most frequent first.
fn panics(panics: HashMap<(&[u8], &[u8]), Panic>, left_out: u64, first: i64) -> Markup {
    let mut rows: Vec<_> = panics.into_iter().collect();
    rows.sort_by(|(a, one), (b, two)| two.count.cmp(&one.count).then(a.cmp(b)));
    html! {
        @if !rows.is_empty() {
            h3 { "Panics" }
            div .wide { table {
                thead { tr { th { "function" } th { "count" } th { "first at" } th .name { "text" } } }
                tbody {
                    @for ((function, text), Panic { count, first: time }) in &rows {
                        tr {
                            th scope="row" { (shown(function)) }
                            td .bad { (HumanCount(*count)) }
                            td { (duration(time.saturating_sub(first))) }
                            td .text { @if text.is_empty() { i { "recorded without polls" } } @else { (escape::name(text)) } }
                        }
                    }
                }
            } }
            @if left_out > 0 { p { "and " (HumanCount(left_out)) " more panics" } }
        }
    }
}

fn longest(polls: &[(i64, Poll<'_>)], first: i64) -> Markup {
    html! {
        @if !polls.is_empty() {
            h3 { "Longest polls" }
            div .wide { table {
                thead { tr { th { "function" } th { "took" } th { "at" } th { "outcome" } th { "thread" } th .name { "user tag" }
                    th .name { "task" } } }
                tbody {
                    @for (polled, poll) in polls {
                        tr {
                            th scope="row" { (shown(poll.function)) }
                            td .bad[*polled >= Settings::default().slow] { (duration(*polled)) }
                            td { (duration(poll.begun.saturating_sub(first))) }
                            td { @if let Some(end) = &poll.end { (escape::name(end.outcome)) } }
                            td { (poll.tid) }
                            td .text { (escape::name(poll.tag)) }
                            td .name { (poll.process.pid) " " (escape::name(poll.proc)) }
                        }
                    }
                }
            } }
        }
    }
}

fn shown(function: &[u8]) -> Markup {
    html! { @if function.is_empty() { i { "unknown" } } @else { (escape::name(function)) } }
}

fn nanoseconds(time: u64) -> String {
    duration(i64::try_from(time).unwrap_or(i64::MAX))
}
