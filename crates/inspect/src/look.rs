//! Looks at a program's tasks, once or again and again, and prints.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use dyntrace_tasks::coverage::{Answer, Coverage};
use dyntrace_tasks::program::Options;
use dyntrace_tasks::stuck::Stuck;
use dyntrace_terminal::exit::{self, Failure, Outcome};
use dyntrace_terminal::signals::Interrupts;
use dyntrace_terminal::stdout;
use signal_hook::consts::SIGTSTP;

use super::answer::{self, of_chosen};
use super::arguments::Common;
use super::blocked::Blockers;
use super::choose::Chosen;
use super::object::{Json, Waits};
use super::read::{self, Look, Opened, Target};
use super::{changes, ps, stuck, why};

/// The number of the interrupt that does not wait for the end of a look: the kernel lets the program go on then, too.
const LAST: u32 = 3;
/// Between the two looks that must both find a deadlock.
const BETWEEN: Duration = Duration::from_millis(100);

pub use super::object::VERSION;

/// Prints the text of one look.
pub fn once(common: &Common, text: impl FnOnce(&Opened<'_, '_>) -> Result<(String, Answer), Failure>) -> Outcome {
    let interrupts = interrupts(common.stop)?;
    read::open(&target(common), options(common), |opened| {
        let (text, answer) = text(opened)?;
        print(&text)?;
        Ok(ended(&interrupts, answer))
    })
}

/// Prints the tasks, then their changes if the user watches.
pub fn show(common: &Common, chosen: Option<&Chosen>, text: impl Fn(&Look) -> String) -> Outcome {
    let interrupts = interrupts(common.stop)?;
    let target = target(common);
    read::with(&target, options(common), |look| {
        let keep = |look: &mut Look| chosen.iter().for_each(|chosen| chosen.keep(look));
        let mut before = look()?;
        chosen.map_or(Ok(()), |chosen| chosen.check(&target, &before))?;
        keep(&mut before);
        let print_look = |look: &Look| json(common, look, &look.told(), None);
        if common.json {
            print_look(&before)?
        } else {
            print(&text(&before))?
        }
        let Some(every) = common.watch else { return Ok(ended(&interrupts, before.told().answer(false))) };
        loop {
            if let Some(status) = wait(&interrupts, every) {
                return Ok(status);
            }
            let mut now = look()?;
            keep(&mut now);
            if common.json {
                print_look(&now)?
            } else {
                print(&at(&changes::text(&before, &now)))?
            }
            before = now;
        }
    })
}

/// Prints the waits of tasks, then changes and new deadlocks if the user watches.
pub fn explain(common: &Common, dead: Option<&Path>, chosen: Option<&Chosen>, only_deadlocks: bool) -> Outcome {
    let interrupts = interrupts(common.stop)?;
    let target = dead.map_or_else(|| target(common), Target::Dead);
    read::with(&target, options(common), |look| {
        let mut shown = look()?;
        let mut before = shown.stuck();
        let mut searched = shown.searched();
        // A file stays as it is.
        if target.runs() {
            // Each has all tasks.
            drop(shown);
            if let Some(status) = wait(&interrupts, BETWEEN) {
                return Ok(status);
            }
            shown = look()?;
            searched = shown.searched().also_in(&searched);
        }
        chosen.map_or(Ok(()), |chosen| chosen.check(&target, &shown))?;
        let mut stuck = shown.stuck().also_in(&before);
        let as_json = |look: &Look, stuck: &Stuck, searched: &Coverage| {
            let blockers = Blockers::of(look, chosen);
            let answer = searched.answer(!stuck.is_empty());
            json(common, look, searched, Some(Waits { answer, stuck, blockers }))
        };
        match chosen {
            _ if common.json => as_json(&shown, &stuck, &searched)?,
            Some(chosen) => {
                let answer = answer::line(&of_chosen(&shown, chosen));
                print(&(why::text_of(&shown, chosen) + &answer + &ps::notes(&shown)))?;
            }
            None if !only_deadlocks => print(&(why::text(&shown, &stuck, &searched) + &ps::notes(&shown)))?,
            None => print(&(answer::text(&stuck, &shown, &searched) + &ps::notes(&shown)))?,
        }
        let Some(every) = common.watch else {
            let answer = match chosen {
                Some(chosen) => of_chosen(&shown, chosen).answer(false),
                None => searched.answer(!stuck.is_empty()),
            };
            return Ok(ended(&interrupts, answer));
        };
        loop {
            before = shown.stuck();
            searched = shown.searched();
            if let Some(status) = wait(&interrupts, every) {
                return Ok(status);
            }
            let mut now = look()?;
            let found = now.stuck().also_in(&before);
            if common.json {
                as_json(&now, &found, &now.searched().also_in(&searched))?;
            } else {
                let new = stuck::text(&found.without(&stuck), &now);
                // Deadlocks are searched in all tasks, changes shown of the chosen ones.
                let all = now.listing.clone();
                for look in [&mut shown, &mut now] {
                    chosen.iter().for_each(|chosen| chosen.keep(look));
                }
                let changed = if only_deadlocks { String::new() } else { changes::text(&shown, &now) };
                print(&at(&(changed + &new)))?;
                now.listing = all;
            }
            (shown, stuck) = (now, found);
        }
    })
}

/// The waits of a process's tasks with futures of this name, or part of one: of at most this many.
pub fn waits_of(pid: u32, name: &str, most: usize) -> Result<String, Failure> {
    let mut text = String::new();
    let target = Target::Process(pid);
    read::with(&target, Options { debug_file: None, stop: false }, |look| {
        let shown = look()?;
        let chosen = Chosen::Named(name.to_owned(), None);
        chosen.check(&target, &shown)?;
        let tasks = shown.listing.tasks.iter().filter(|task| chosen.has(task, shown.row(task)));
        let ids: Vec<u64> = tasks.map(|task| task.id).collect();
        text = ids.iter().take(most).map(|id| why::text_of(&shown, &Chosen::Task(*id))).collect();
        if ids.len() > most {
            text += &format!("and {} more tasks\n", ids.len() - most);
        }
        text += &ps::notes(&shown);
        Ok(ExitCode::SUCCESS)
    })?;
    Ok(text)
}

fn target(common: &Common) -> Target<'_> {
    // A process or a core file is required.
    let pid = common.pid.unwrap_or_default();
    match (&common.core, &common.exe) {
        (Some(core), Some(exe)) => Target::Core { core, exe },
        _ if common.table => Target::Table(pid),
        _ => Target::Process(pid),
    }
}

fn options(common: &Common) -> Options {
    Options { debug_file: common.debug.clone(), stop: common.stop }
}

/// `changed`, under the time of the look; nothing if it is empty.
fn at(changed: &str) -> String {
    if changed.is_empty() { String::new() } else { format!("{}\n{changed}", jiff::Zoned::now().strftime("%H:%M:%S")) }
}

fn json(common: &Common, look: &Look, coverage: &Coverage, waits: Option<Waits<'_>>) -> Result<(), Failure> {
    Ok(stdout::write_json(&Json::of(look, coverage, waits), common.watch.is_some())?)
}

pub fn print(text: &str) -> Result<(), Failure> {
    Ok(stdout::write_coloured(text)?)
}

/// Interrupts of this command. With `--stop` it must not die of one, nor be stopped itself: the program would stay stopped.
pub fn interrupts(stop: bool) -> anyhow::Result<Option<Interrupts>> {
    if !stop {
        return Ok(None);
    }
    let interrupts = Interrupts::receive(LAST)?;
    // Nobody reads the flag.
    signal_hook::flag::register(SIGTSTP, Arc::default()).context("cannot receive signals")?;
    Ok(Some(interrupts))
}

/// Sleeps. Returns the exit status if an interrupt ends the command.
fn wait(interrupts: &Option<Interrupts>, time: Duration) -> Option<ExitCode> {
    match interrupts {
        None => {
            std::thread::sleep(time);
            None
        }
        Some(interrupts) => interrupts.wait(time).map(|signal| exit::by_signal(signal.number)),
    }
}

pub fn ended(interrupts: &Option<Interrupts>, answer: Answer) -> ExitCode {
    wait(interrupts, Duration::ZERO).unwrap_or_else(|| answer::status(answer))
}
