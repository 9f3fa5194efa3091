//! A summary in words. Names of functions are escaped already; those of threads are escaped here.

use dyntrace_analysis::report::format::duration;
use dyntrace_terminal::{columns, escape};

use super::summary::{Function, Poll, Summary, Wakes};
use crate::words::{counted, cut};

/// Characters of a function's name in a table: JSON has all of it.
const NAME: usize = 100;

pub fn text(summary: &Summary) -> String {
    let polls = summary.functions.iter().fold(0_u64, |sum, row| sum.saturating_add(row.polls));
    let time = shown(summary.time);
    let mut blocks = vec![match polls {
        0 if summary.is_unknown() => format!("not known whether a poll ended in {time}\n"),
        0 => format!("no poll ended in {time}\n"),
        _ => {
            let functions = counted(summary.functions.len(), "function");
            let polls = if polls == 1 { "1 poll".to_owned() } else { format!("{polls} polls") };
            format!("{polls} of {functions} in {time}\n{}", functions_table(summary))
        }
    }];
    if !summary.wakes.is_empty() {
        blocks.push(wakes_table(summary));
    }
    blocks.push(summary.slow.iter().map(|poll| format!("slow: {}\n", line(poll))).collect());
    blocks.push(summary.running.iter().map(|poll| format!("not ended: {}\n", line(poll))).collect());
    blocks.extend(summary.unknown.iter().map(|unknown| format!("unknown: {}\n", escape::name(unknown))));
    blocks.push(summary.notes.iter().map(|note| format!("note: {}\n", escape::name(note))).collect());
    blocks.retain(|block| !block.is_empty());
    blocks.join("\n")
}

fn functions_table(summary: &Summary) -> String {
    let titles = ["POLLS", "BUSY", "MEAN", "P50", "P99", "MAX", "WOKEN", "WAIT P50", "P99", "MAX", "FUNCTION"];
    let row = |function: &Function| {
        let Function { poll, wait, .. } = function;
        let job = if function.job { "job " } else { "" };
        let of = |count: u64, times: &[Option<u64>]| -> Vec<String> {
            times.iter().map(|time| time.filter(|_| count > 0).map_or("-".to_owned(), shown)).collect()
        };
        let times = of(function.polls, &[Some(poll.total), Some(poll.mean), poll.p50, poll.p99, Some(poll.max)]);
        let waits = of(function.woken, &[wait.p50, wait.p99, Some(wait.max)]);
        let name = cut(format!("{job}{}", summary.own.before(&function.function)), NAME);
        [vec![function.polls.to_string()], times, vec![function.woken.to_string()], waits, vec![name]].concat()
    };
    table(&titles, summary.functions.iter().map(row))
}

fn wakes_table(summary: &Summary) -> String {
    let row = |wakes: &Wakes| {
        let by = wakes.by.as_ref().map_or_else(|| "(outside of tasks)".to_owned(), |by| summary.own.before(by));
        vec![wakes.count.to_string(), cut(by, NAME), cut(summary.own.before(&wakes.woken), NAME)]
    };
    table(&["WAKES", "BY", "WOKEN"], summary.wakes.iter().map(row))
}

fn table(titles: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let titles: Vec<String> = titles.iter().map(|title| (*title).to_owned()).collect();
    let numbers = if titles.len() > 3 { titles.len() - 1 } else { 1 };
    let rows: Vec<Vec<String>> = std::iter::once(titles).chain(rows).collect();
    columns::aligned(&rows, |column| column < numbers).join("\n") + "\n"
}

/// A poll, without the program's own functions: those of its future are not known to be of this poll.
fn line(poll: &Poll) -> String {
    let Poll { task, function, job, tid, thread, time } = poll;
    let noun = if *job { "job" } else { "task" };
    let thread = thread.as_ref().map_or_else(String::new, |name| format!(" ({})", escape::name(name)));
    format!("{noun} {task}, {} in one poll on thread {tid}{thread}: {function}", shown(*time))
}

fn shown(nanoseconds: u64) -> String {
    duration(i64::try_from(nanoseconds).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::super::counts::Counts;
    use super::super::summary::tests::{counts, sample};
    use super::*;

    #[test]
    fn tables_and_lines() {
        assert_eq!(text(&sample(&counts())), include_str!("../golden/polls.txt"));
    }

    #[test]
    fn no_polls() {
        let mut none = sample(&Counts::default());
        assert_eq!(text(&none), "no poll ended in 2.00 s\n\nnote: a\\x1bnote\n");
        none.unknown = Some("1 function".to_owned());
        let unknown = "not known whether a poll ended in 2.00 s\n\nunknown: 1 function\n\nnote: a\\x1bnote\n";
        assert_eq!(text(&none), unknown);
        let found = Summary { unknown: none.unknown, ..sample(&counts()) };
        assert!(text(&found).contains("15 polls of 3 functions") && text(&found).contains("\nunknown: 1 function\n"));
    }
}
