//! The answer as a page for a browser: the verdict, all causes, and a tree of the functions in which the time went.

use std::collections::BTreeMap;
use std::time::Duration;

use dyntrace_analysis::report::page::shell;
use dyntrace_terminal::escape;
use maud::{Markup, PreEscaped, html};

use super::stacks::{Stacks, State};
use super::tables::tables;
use super::text::{lines, percent, seconds, title, unseen, verdict, watched};
use super::watch::Watched;

const STYLE: &str = include_str!("page.css");

/// A function with a smaller share of its caller's time has no line.
const LEAST: f64 = 0.005;

/// Functions are shown at first down to this share of all time.
const OPEN: f64 = 0.02;

const STATES: [(State, &str, &str); 4] = [
    (State::Runs, "runs", "runs"),
    (State::Blocks, "blocks", "blocks a thread"),
    (State::Ready, "ready", "is ready, and no thread polls it"),
    (State::Waits, "waits", "waits"),
];

/// The page. `unknown`: the gaps.
pub fn page(pid: u32, seen: &Watched, unknown: Option<&str>) -> String {
    let ranked = seen.causes.ranked(seen.time);
    let tree = Node::of(&seen.stacks);
    let body = html! {
        style { (PreEscaped(STYLE)) }
        h1 { (verdict(&ranked, unknown.is_some())) }
        p { (watched(pid, seen)) }
        @if let Some(unseen) = unseen(seen) { p { (unseen) } }
        @if let Some(unknown) = unknown { p .bad { "Unknown: " (escape::name(unknown)) } }
        @for (number, (cause, evidence, share)) in ranked.iter().enumerate() {
            h2 { (number + 1) ". " (title(cause)) ": " (percent(*share)) }
            ul { @for line in lines(pid, cause, evidence, &seen.causes.pool) { li { (line) } } }
        }
        h2 { "Where the time of tasks went" }
        p { "From the outermost function of a task to what it does. Of other crates' functions only a task's outermost is here. Idle tasks "
            "wait, too." }
        p .key { @for (_, class, told) in STATES { span .{(class)} {} (told) " " } }
        (below(&tree, tree.time()))
        (tables(&seen.causes))
    };
    shell(&format!("diagnosis of process {pid}"), body)
}

/// The time of a function, by what it or those below it do.
#[derive(Default)]
struct Node<'s> {
    times: [Duration; STATES.len()],
    inner: BTreeMap<&'s str, Node<'s>>,
}

impl Node<'_> {
    fn of(stacks: &Stacks) -> Node<'_> {
        let mut all = Node::default();
        for (stack, time) in stacks.iter() {
            let state = STATES.iter().position(|(state, ..)| *state == stack.state).unwrap_or_default();
            let mut node = &mut all;
            node.times[state] += time;
            for frame in stack.frames() {
                node = node.inner.entry(frame).or_default();
                node.times[state] += time;
            }
        }
        all
    }

    fn time(&self) -> Duration {
        self.times.iter().sum()
    }

    /// The part of this time, up to 1.
    fn share(&self, of: Duration) -> f64 {
        if of.is_zero() { 0.0 } else { self.time().as_secs_f64() / of.as_secs_f64() }
    }
}

/// The functions that a function calls or awaits, those with the most time first.
fn below(node: &Node<'_>, all: Duration) -> Markup {
    let mut inner: Vec<_> = node.inner.iter().collect();
    inner.sort_by_key(|(name, inner)| (std::cmp::Reverse(inner.time()), *name));
    let shown = inner.iter().take_while(|(_, inner)| inner.share(node.time()) >= LEAST).count();
    html! {
        ul .tree {
            @for (name, inner) in &inner[..shown] { li { (function(name, inner, all)) } }
            @if shown < inner.len() { li { "and " (inner.len() - shown) " more" } }
        }
    }
}

fn function(name: &str, node: &Node<'_>, all: Duration) -> Markup {
    let width =
        |time: Duration| format!("width:{:.2}%", time.as_secs_f64() / all.as_secs_f64().max(f64::MIN_POSITIVE) * 100.0);
    let line = html! {
        b { (percent(node.share(all))) } " " (seconds(node.time())) " " code { (name) }
        span .bar { @for ((_, class, _), time) in STATES.iter().zip(node.times) { span .{(class)} style=(width(time)) {} } }
    };
    html! {
        @if node.inner.is_empty() { (line) } @else {
            details open[node.share(all) >= OPEN] { summary { (line) } (below(node, all)) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::stacks::Stack;
    use super::super::tests::sample;
    use super::*;

    #[test]
    fn the_page_has_the_causes_and_the_tree() {
        let mut seen = Watched { stacks: Stacks::new(true), ..sample() };
        let second = Duration::from_secs(1);
        let stack = |functions: &[&str], state, end| Stack::new(functions.iter().copied(), state, end);
        seen.stacks.add(&stack(&["shop::serve", "shop::<lock>"], State::Waits, "waits for Mutex"), second * 3);
        seen.stacks.add(&stack(&["shop::serve"], State::Blocks, "write"), second);
        seen.stacks.add(&stack(&["shop::idle"], State::Runs, "on a CPU"), Duration::from_millis(1));
        let page = page(7, &seen, Some("1 of 7 tasks without types"));
        let text = page.replace("&lt;", "<").replace("&gt;", ">");
        for told in
            ["1. a Mutex held across an await: 43 %", "1 of 7 tasks", "<b>100 %</b> 4.0 s <code>shop::serve</code>"]
        {
            assert!(text.contains(told), "{told}: {text}");
        }
        assert!(page.contains("shop::&lt;lock&gt;") && !page.contains("<lock>"), "names are text");
        assert!(page.contains(r#"class="waits" style="width:74.98%""#), "{page}");
        // The idle function has a fortieth of a percent.
        assert!(!page.contains("shop::idle") && page.contains("and 1 more"));
    }
}
