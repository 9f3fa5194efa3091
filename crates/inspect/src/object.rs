//! The JSON object of a program's tasks. Its tasks are made one after another: a program may have a million.

use dyntrace_tasks::coverage::{Answer, Coverage};
use dyntrace_tasks::listing::{Runtime, Task};
use dyntrace_tasks::stuck::Stuck;
use serde::{Serialize, Serializer};

use super::blocked::Blockers;
use super::read::Look;
use super::table::{self, JoinedTable, Summary};

/// The version of the JSON's shape.
pub const VERSION: u32 = 1;

/// The fields that `why` adds in JSON.
#[derive(Serialize)]
pub struct Waits<'l> {
    /// Whether tasks are stuck.
    pub answer: Answer,
    #[serde(flatten)]
    pub stuck: &'l Stuck,
    pub blockers: Blockers<'l>,
}

#[derive(Serialize)]
pub struct Json<'l> {
    version: u32,
    #[serde(serialize_with = "tasks")]
    tasks: &'l Look,
    table: Option<Summary<'l>>,
    coverage: Covered<'l>,
    runtimes: &'l [Runtime],
    notes: Vec<String>,
    #[serde(flatten)]
    waits: Option<Waits<'l>>,
}

impl<'l> Json<'l> {
    pub fn of(look: &'l Look, coverage: &'l Coverage, waits: Option<Waits<'l>>) -> Json<'l> {
        let table = look.kept.as_ref().map(Summary::of);
        let (runtimes, notes) = (&look.listing.runtimes[..], look.notes());
        let coverage = Covered { coverage, seen: coverage.seen(), unknown: coverage.unknown() };
        Json { version: VERSION, tasks: look, table, coverage, runtimes, notes, waits }
    }
}

#[derive(Serialize)]
struct Covered<'l> {
    #[serde(flatten)]
    coverage: &'l Coverage,
    seen: u64,
    unknown: Option<String>,
}

/// A task in memory, and as the table has it.
#[derive(Serialize)]
struct Joined<'l> {
    #[serde(flatten)]
    task: Option<&'l Task>,
    table: Option<table::Task<'l>>,
}

/// The tasks in memory, then those that are in the table only.
fn tasks<S: Serializer>(look: &&Look, serializer: S) -> Result<S::Ok, S::Error> {
    let clock = look.kept.as_ref().and_then(|kept| kept.times().clock);
    let in_memory = look.listing.tasks.iter().map(|task| (Some(task), look.row(task)));
    let others = look.kept.iter().flat_map(JoinedTable::others).map(|seen| (None, Some(seen)));
    serializer.collect_seq(
        in_memory
            .chain(others)
            .map(|(task, seen)| Joined { task, table: seen.map(|seen| table::Task::of(seen, clock)) }),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::Fields;
    use crate::sample;

    #[test]
    fn the_page_has_the_fields() {
        let look = sample::look();
        let mut fields = Fields::new(&[
            ("tasks[]", "task"),
            ("table", "table"),
            ("task.table", "row"),
            ("task.spawned.places", "place"),
            ("task.spawned.places[]", "place"),
            ("task.chain.root", "future"),
            ("future.place", "place"),
            ("future.waits_for", "wait"),
            ("wait.holder.place", "place"),
            ("future.holds[]", "guard"),
            ("future.awaits[]", "future"),
            ("guard.taken", "place"),
            ("guard.unpolled.place", "place"),
            ("blockers", "*"),
            ("blockers.*[]", "blocker"),
            ("deadlocks[].steps[].blocker", "blocker"),
            ("blocker.through.place", "place"),
            ("blocker.through.guard", "guard"),
            ("futurelocks[].guard", "guard"),
        ]);
        let answer = Answer::Yes;
        let chain = sample::look_at_chain();
        let (of_memory, of_chain) = (Stuck::of(&look.listing), chain.stuck());
        let waits = Waits { answer, stuck: &of_memory, blockers: Blockers::of(&look, None) };
        let memory = Look::of_memory(sample::listing());
        let of_table = Waits { answer, stuck: &of_chain, blockers: Blockers::of(&chain, None) };
        for (look, waits) in [(&memory, None), (&look, None), (&look, Some(waits)), (&chain, Some(of_table))] {
            let gaps = if waits.is_some() { vec![String::new()] } else { Vec::new() };
            let coverage = Coverage::with_gaps(gaps);
            fields.add(&serde_json::to_value(Json::of(look, &coverage, waits)).unwrap());
        }
        fields.are_those_below("dyntrace ps --json, tree --json and why --json");
    }
}
