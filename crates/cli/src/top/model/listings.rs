//! The tabs' rows.

use dyntrace_analysis::figures::{Row as Operations, Spread};
use dyntrace_terminal::escape;

use super::Model;
use super::figures::{Jobs, Messages, Polled, Waited};
use super::sliding::Sum;
use super::table::{Line, Table};
use crate::top::listing::{Listing, Row};
use crate::top::tab::Tab;

type Numbers = Vec<Option<u64>>;

impl Model {
    pub fn listing(&self, tab: Tab) -> Listing {
        let now = self.now;
        match tab {
            Tab::Operations => listing(tab, now, &self.operations, |_, _, row| operations(row)),
            Tab::Tags => listing(tab, now, &self.tags, |_, _, row| operations(row)),
            Tab::Tasks => {
                let still = self.tasks.still(now);
                listing(tab, now, &self.tasks.by_function, |key, line, of| {
                    polled(line, of, key.map(|key| still.get(key).copied().unwrap_or(0)))
                })
            }
            Tab::Waits => listing(tab, now, &self.waits.by_place, |_, line, of| waited(line, of)),
            Tab::Messages => listing(tab, now, &self.messages, |_, line, of| messages(line, of)),
            Tab::Pools => {
                let mut pools = listing(tab, now, &self.pools.by_lane, |_, line, of| jobs(line, of));
                self.count_lanes(&mut pools);
                pools
            }
        }
    }

    /// Tasks, waits and jobs that were not followed, since too many were at once.
    pub fn not_followed(&self) -> u64 {
        self.tasks.left_out + self.waits.left_out + self.pools.left_out + self.given_up
    }

    /// Puts the process's own counts in the place of those from events.
    fn count_lanes(&self, pools: &mut Listing) {
        for (lane, counted) in &self.pools.counted {
            let keys = vec!["I/O".to_owned(), lane.clone()];
            let place = pools.rows.iter().position(|row| row.keys == keys).unwrap_or_else(|| {
                let none = jobs(&Line::default(), &Jobs::default());
                pools.rows.push(Row { keys, all: none.clone(), recent: none });
                pools.rows.len() - 1
            });
            let Row { all, recent, .. } = &mut pools.rows[place];
            for numbers in [all, recent] {
                numbers[..3].copy_from_slice(&[Some(counted.queued), Some(counted.busy), Some(counted.threads)]);
            }
        }
    }
}

/// The rows of a table. `numbers` is given the key, or `None` for the others.
fn listing<S: Sum>(
    tab: Tab,
    now: i64,
    table: &Table<S>,
    numbers: impl Fn(Option<&[u8]>, &Line<S>, &S) -> Numbers,
) -> Listing {
    let row = |key: Option<&[u8]>, line: &Line<S>| {
        let mut keys: Vec<String> =
            key.into_iter().flat_map(|key| key.split(|byte| *byte == 0)).map(escape::name).collect();
        keys.resize(tab.keys().len(), String::new());
        Row { keys, all: numbers(key, line, &line.all), recent: numbers(key, line, &line.recent.sum(now)) }
    };
    let rows = table.lines().map(|(key, line)| row(Some(key), line)).collect();
    let others = (table.left_out > 0).then(|| row(None, &table.others));
    Listing { tab, rows, others, left_out: table.left_out }
}

fn operations(row: &Operations) -> Numbers {
    let [p50, p99, max] = times(&row.total);
    vec![Some(row.count), Some(row.count), sum(&row.total), Some(row.errors), Some(row.bytes), p50, p99, max]
}

fn polled(line: &Line<Polled>, of: &Polled, still: Option<u64>) -> Numbers {
    let [_, p99, max] = times(&of.polls);
    let (spawned, ended, panics) = (Some(of.spawned), Some(of.ended), Some(of.panics));
    vec![now(line), still, spawned, ended, panics, Some(of.polls.len()), sum(&of.polls), p99, max]
}

fn waited(line: &Line<Waited>, of: &Waited) -> Numbers {
    let [_, p99, max] = times(&of.times);
    vec![now(line), Some(of.begun), Some(of.begun), sum(&of.times), p99, max]
}

fn messages(line: &Line<Messages>, of: &Messages) -> Numbers {
    vec![Some(line.gauge), Some(of.sent), Some(of.sent), Some(of.received), Some(of.received), Some(of.queue_max)]
}

fn jobs(line: &Line<Jobs>, of: &Jobs) -> Numbers {
    let [p50, p99, max] = times(&of.service);
    vec![Some(line.gauge), now(line), None, Some(of.jobs), Some(of.jobs), Some(of.queue_max), p50, p99, max]
}

/// The number that is there now. Things that began before the recording may end in it.
fn now<S>(line: &Line<S>) -> Option<u64> {
    Some(line.now.try_into().unwrap_or(0))
}

fn sum(spread: &Spread) -> Option<u64> {
    Some(u64::try_from(spread.sum()).unwrap_or(u64::MAX))
}

fn times(spread: &Spread) -> [Option<u64>; 3] {
    [spread.percentile(0.5), spread.percentile(0.99), spread.longest()]
}
