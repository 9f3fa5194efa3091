//! Looks at a program's tasks, once or again and again, and prints.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use anyhow::Context as _;
use dyntrace_tasks::listing::Listing;
use dyntrace_tasks::locks::Blocker;
use dyntrace_tasks::program::Options;
use serde::Serialize;

use super::choose::Chosen;
use super::read::{self, Target};
use super::stuck::Stuck;
use super::{Common, changes, ps, why};
use crate::exit::{self, Failure, Outcome};
use crate::signals::{self, Notice};
use crate::stdout;

/// Between the two looks that must both find a deadlock.
const BETWEEN: Duration = Duration::from_millis(100);

/// The version of the JSON's shape.
pub const VERSION: u32 = 1;

/// How `ps` and `tree` print a listing.
pub struct View<'a> {
    pub chosen: Option<&'a Chosen>,
    pub text: &'a dyn Fn(&Listing) -> String,
}

/// The fields that `why` adds to the listing in JSON.
#[derive(Serialize)]
struct Waits {
    #[serde(flatten)]
    stuck: Stuck,
    blockers: BTreeMap<u64, Vec<Blocker>>,
}

#[derive(Serialize)]
struct Json<'l> {
    version: u32,
    #[serde(flatten)]
    listing: &'l Listing,
    #[serde(flatten)]
    waits: Option<Waits>,
}

/// Prints the tasks, then their changes if the user watches.
pub fn show(common: &Common, view: &View<'_>) -> Outcome {
    let interrupts = interrupts(common)?;
    let target = target(common);
    read::with(&target, options(common), |look| {
        let kept = |listing: &mut Listing| view.chosen.iter().for_each(|chosen| chosen.keep(listing));
        let mut listing = look()?;
        view.chosen.map_or(Ok(()), |chosen| chosen.check(&target, &listing))?;
        kept(&mut listing);
        print(&if common.json { json(common, &listing, None)? } else { (view.text)(&listing) })?;
        let Some(every) = common.watch else { return Ok(ended(&interrupts)) };
        loop {
            if let Some(status) = wait(&interrupts, every) {
                return Ok(status);
            }
            let mut now = look()?;
            kept(&mut now);
            let changed = changes::text(&listing, &now);
            print(&if common.json { json(common, &now, None)? } else { at(&changed) })?;
            listing = now;
        }
    })
}

/// Prints the waits of tasks, then changes and new deadlocks if the user watches.
pub fn explain(common: &Common, task: Option<u64>, only_deadlocks: bool) -> Outcome {
    let interrupts = interrupts(common)?;
    let target = target(common);
    read::with(&target, options(common), |look| {
        let mut listing = look()?;
        let mut before = Stuck::of(&listing);
        // A core file stays as it is.
        if target.runs() {
            if let Some(status) = wait(&interrupts, BETWEEN) {
                return Ok(status);
            }
            listing = look()?;
        }
        let chosen = task.map(Chosen::Task);
        chosen.as_ref().map_or(Ok(()), |chosen| chosen.check(&target, &listing))?;
        let mut stuck = Stuck::of(&listing).also_in(&before);
        let as_json = |listing: &Listing, stuck: &Stuck| {
            let blockers = why::blockers(listing, task);
            json(common, listing, Some(Waits { stuck: stuck.clone(), blockers }))
        };
        let text = match task {
            _ if common.json => as_json(&listing, &stuck)?,
            Some(task) => why::text_of(&listing, task) + &ps::notes(&listing),
            None if !only_deadlocks => why::text(&listing, &stuck) + &ps::notes(&listing),
            None if stuck.is_empty() => "no deadlock and no futurelock found\n".to_owned() + &ps::notes(&listing),
            None => stuck.text(&listing) + &ps::notes(&listing),
        };
        print(&text)?;
        let Some(every) = common.watch else { return Ok(ended(&interrupts)) };
        loop {
            before = Stuck::of(&listing);
            if let Some(status) = wait(&interrupts, every) {
                return Ok(status);
            }
            let now = look()?;
            let found = Stuck::of(&now).also_in(&before);
            let text = if common.json {
                as_json(&now, &found)?
            } else {
                let mut changed = String::new();
                if !only_deadlocks {
                    let (mut old, mut now) = (listing, now.clone());
                    chosen.iter().for_each(|chosen| chosen.keep(&mut old));
                    chosen.iter().for_each(|chosen| chosen.keep(&mut now));
                    changed = changes::text(&old, &now);
                }
                at(&(changed + &found.without(&stuck).text(&now)))
            };
            print(&text)?;
            (listing, stuck) = (now, found);
        }
    })
}

/// The waits of a process's tasks with futures of this name, or part of one: of at most this many.
pub fn waits_of(pid: u32, name: &str, most: usize) -> Result<String, Failure> {
    let mut text = String::new();
    let target = Target::Process(pid);
    read::with(&target, Options { debug_file: None, stop: false }, |look| {
        let listing = look()?;
        let chosen = Chosen::Named(name.to_owned(), None);
        chosen.check(&target, &listing)?;
        let mut kept = listing.clone();
        chosen.keep(&mut kept);
        text = kept.tasks.iter().take(most).map(|task| why::text_of(&listing, task.id)).collect();
        if kept.tasks.len() > most {
            text += &format!("and {} more tasks\n", kept.tasks.len() - most);
        }
        text += &ps::notes(&listing);
        Ok(ExitCode::SUCCESS)
    })?;
    Ok(text)
}

fn target(common: &Common) -> Target<'_> {
    match (&common.core, &common.exe) {
        (Some(core), Some(exe)) => Target::Core { core, exe },
        // One of both is required.
        _ => Target::Process(common.pid.unwrap_or_default()),
    }
}

fn options(common: &Common) -> Options {
    Options { debug_file: common.debug.clone(), stop: common.stop }
}

/// `changed`, under the time of the look; nothing if it is empty.
fn at(changed: &str) -> String {
    if changed.is_empty() { String::new() } else { format!("{}\n{changed}", jiff::Zoned::now().strftime("%H:%M:%S")) }
}

fn json(common: &Common, listing: &Listing, waits: Option<Waits>) -> anyhow::Result<String> {
    let object = Json { version: VERSION, listing, waits };
    let text =
        if common.watch.is_some() { serde_json::to_string(&object) } else { serde_json::to_string_pretty(&object) };
    Ok(text.context("cannot make JSON")? + "\n")
}

pub fn print(text: &str) -> Result<(), Failure> {
    Ok(stdout::write_coloured(text)?)
}

/// Interrupts of this command. With `--stop` it must not die of one: the program would stay stopped.
fn interrupts(common: &Common) -> anyhow::Result<Option<Receiver<i32>>> {
    if !common.stop {
        return Ok(None);
    }
    let (sender, receiver) = channel();
    let tell = move |notice| match notice {
        Notice::Signal(signal) => sender.send(signal.number).is_ok(),
        Notice::ChildChanged => true,
    };
    signals::receive(tell).context("cannot receive signals")?;
    Ok(Some(receiver))
}

/// Sleeps. Returns the exit status if an interrupt ends the command.
fn wait(interrupts: &Option<Receiver<i32>>, time: Duration) -> Option<ExitCode> {
    match interrupts.as_ref().map(|interrupts| interrupts.recv_timeout(time)) {
        None => std::thread::sleep(time),
        Some(Ok(number)) => return Some(exit::by_signal(number)),
        Some(Err(RecvTimeoutError::Timeout)) => {}
        // Every signal that could end this command is ignored.
        Some(Err(RecvTimeoutError::Disconnected)) => std::thread::sleep(time),
    }
    None
}

fn ended(interrupts: &Option<Receiver<i32>>) -> ExitCode {
    interrupts.as_ref().and_then(|interrupts| interrupts.try_recv().ok()).map_or(ExitCode::SUCCESS, exit::by_signal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::Fields;
    use crate::tasks::sample;

    #[test]
    fn the_page_has_the_fields() {
        let listing = sample::listing();
        let mut fields = Fields::new(&[
            ("tasks[]", "task"),
            ("task.spawned.places", "place"),
            ("task.spawned.places[]", "place"),
            ("task.chain.root", "future"),
            ("future.place", "place"),
            ("future.waits_for", "wait"),
            ("future.holds[]", "guard"),
            ("future.awaits[]", "future"),
            ("guard.unpolled.place", "place"),
            ("blockers", "*"),
            ("blockers.*[]", "blocker"),
            ("deadlocks[].steps[].blocker", "blocker"),
            ("blocker.through.place", "place"),
            ("blocker.through.guard", "guard"),
            ("futurelocks[].guard", "guard"),
        ]);
        let waits = Waits { stuck: Stuck::of(&listing), blockers: why::blockers(&listing, None) };
        for waits in [None, Some(waits)] {
            let object = Json { version: VERSION, listing: &listing, waits };
            fields.add(&serde_json::to_value(object).unwrap());
        }
        fields.are_those_below("dyntrace ps --json, tree --json and why --json");
    }
}
