//! `dyntrace diagnose`: the causes for which requests of a running tokio program wait.

mod causes;
mod listeners;
mod netlink;
mod page;
mod stacks;
mod tables;
mod text;
mod waits;
mod watch;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use dyntrace_analysis::view::time;
use dyntrace_tasks::coverage::Coverage;
use dyntrace_tasks::program::{Options, Program};
use dyntrace_tasks::reading::{DebugInformation, Described};
use dyntrace_terminal::exit::{Outcome, UNKNOWN};
use dyntrace_terminal::signals::Interrupts;
use dyntrace_terminal::{escape, private, say};
use serde::Serialize;

use super::look::{VERSION, print};
use super::own::Own;
use super::read::failure;
use causes::{Cause, CauseKind, Evidence, by_time};
use stacks::Stacks;
use watch::Watched;

const HELP: &str = "\
Examples:
  dyntrace diagnose -p 4711
  dyntrace diagnose -p 4711 --for 30s
  dyntrace diagnose -p 4711 -o slow.html
  dyntrace diagnose -p 4711 --folded slow.folded
  dyntrace diagnose -p 4711 --json | jq '.causes[] | {kind, share, function}'

The program needs no change, and no dyntrace. Its threads are looked at a hundred times a second,
and its tasks as often as that takes less than 2 % of one CPU. A thread that is found in a
system call while it polls a task is held once, for less than a millisecond, to read its stack.
The time of requests is that in which tasks wait for something that is late, are ready and find
no thread, or run. Waits of idle connections, and of timers, channels and sockets outside of a
server's requests, are none of it: they may be as they should.

Names and lines of functions come from debug information. Without types (`debug = 2`), the waits of
tasks are not known, only what blocks threads.

Exit status:
   0  causes were found, or there are none
   1  the program cannot be read
   2  wrong use
   5  no cause was found, and not all was seen: a line says what
  65  there is no such process, or it is no tokio program";

/// Name the causes for which requests of a running tokio program wait: the worst, each with its function and evidence
///
/// The program needs no change, and no dyntrace: its threads and tasks are looked at for some seconds, while it runs.
#[derive(clap::Args)]
#[command(after_long_help = HELP)]
pub struct Arguments {
    /// The process
    #[arg(short, long)]
    pid: u32,
    /// How long to watch; an interrupt ends it earlier
    #[arg(long = "for", value_name = "DURATION", default_value = "10s", value_parser = time::at_least::<100>)]
    time: Duration,
    /// Print JSON
    ///
    /// An object: version (1), pid, time, requests (their time), running, woken, holding and changed (parts of it that are no causes; all times are in nanoseconds), without_types (the time in which tasks without types waited, no part of it), looks (at threads, at tasks), causes, pool (call
    /// and time: where threads of the blocking pool were), unknown (the gaps, or null), notes. A cause has kind (blocking_call, long_poll, lock, permits, full_channel, blocking_job, file_operation,
    /// peer, timer, event, no_thread), share (of the time of requests, up to 1), waited, seen, most (tasks at once), longest (of a thread's
    /// stay), resource, function, place (file and line), holder_waits (waits_for and waited, of a lock's
    /// holders) and victims (function, place and waited).
    #[arg(long)]
    json: bool,
    /// Write a page for a browser, too (- is standard output, which then has nothing else): all causes, and a tree of the functions in which
    /// the time of tasks went, waiting and running
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write that tree, too, as tools for flame graphs read it: a line for each stack, with microseconds
    #[arg(long, value_name = "FILE")]
    folded: Option<PathBuf>,
    /// The file with the program's debug information, or with its split units (.dwp), if it is not where debuggers look
    #[arg(long, value_name = "FILE")]
    debug: Option<PathBuf>,
}

pub fn diagnose(arguments: &Arguments) -> Outcome {
    let pid = arguments.pid;
    let interrupts = Interrupts::receive(2)?;
    let program =
        Program::attach(pid, Options { debug_file: arguments.debug.clone(), stop: false }).map_err(failure)?;
    let information = DebugInformation::of(&program);
    let described = Described::without_spawns(&program, &information);
    say!("dyntrace: watching process {pid}; an interrupt ends it");
    let stacks = Stacks::new(arguments.output.is_some() || arguments.folded.is_some());
    let seen = watch::watch(&program, &information, &described, (pid, arguments.time), &interrupts, stacks)?;
    let unknown = unknown(&seen);
    let text = if arguments.json {
        escape::json(
            serde_json::to_string_pretty(&Json::of(pid, &seen, unknown.as_deref())).context("cannot make JSON")?,
        ) + "\n"
    } else {
        let notes = seen.listing.notes.iter().map(|note| format!("note: {}\n", escape::name(note)));
        text::text(pid, &seen, unknown.as_deref()) + &notes.collect::<String>()
    };
    let files = [&arguments.output, &arguments.folded];
    if !files.into_iter().flatten().any(|file| private::is_stdout(file)) {
        print(&text)?;
    }
    let page = || page::page(pid, &seen, unknown.as_deref());
    let texts: [&dyn Fn() -> String; 2] = [&page, &|| seen.stacks.folded()];
    for (path, text) in files.into_iter().zip(texts) {
        path.as_ref().map_or(Ok(()), |path| write(path, &text()))?;
    }
    let is_unknown = unknown.is_some() && seen.causes.ranked(seen.time).is_empty();
    Ok(if is_unknown { UNKNOWN.into() } else { ExitCode::SUCCESS })
}

/// Only the user may read it, as it tells of another program.
fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    let write = || {
        let mut file = private::replace(path, 0o600)?;
        file.write_all(text.as_bytes())?;
        file.finish()
    };
    write().with_context(|| format!("cannot write {}", escape::path(path)))
}

/// The gaps of the watch, in words.
fn unknown(seen: &Watched) -> Option<String> {
    let blind = "the kernel does not tell where threads are".to_owned();
    let tasks = Coverage::of(&seen.listing).unknown();
    let told: Vec<String> = seen.is_blind.then_some(blind).into_iter().chain(tasks).collect();
    (!told.is_empty()).then(|| told.join("; "))
}

#[derive(Serialize)]
struct Json<'s> {
    version: u32,
    pid: u32,
    time: u64,
    requests: u64,
    running: u64,
    woken: u64,
    holding: u64,
    changed: u64,
    without_types: u64,
    looks: Looks,
    causes: Vec<CauseJson<'s>>,
    pool: Vec<Call<'s>>,
    unknown: Option<&'s str>,
    notes: &'s [String],
}

#[derive(Serialize)]
struct Looks {
    threads: u32,
    tasks: u32,
}

#[derive(Serialize)]
struct Call<'s> {
    call: &'s str,
    time: u64,
}

#[derive(Serialize)]
struct CauseJson<'s> {
    kind: CauseKind,
    share: f64,
    waited: u64,
    seen: u32,
    most: usize,
    longest: u64,
    resource: &'s str,
    #[serde(flatten)]
    own: Where<'s>,
    holder_waits: Vec<HolderWait<'s>>,
    victims: Vec<Victim<'s>>,
}

#[derive(Serialize)]
struct Where<'s> {
    function: Option<&'s str>,
    place: Option<&'s dyntrace_tasks::listing::SourceLine>,
}

#[derive(Serialize)]
struct Victim<'s> {
    #[serde(flatten)]
    own: Where<'s>,
    waited: u64,
}

#[derive(Serialize)]
struct HolderWait<'s> {
    waits_for: &'s str,
    waited: u64,
}

impl<'s> HolderWait<'s> {
    fn of((waits_for, waited): (&'s String, Duration)) -> HolderWait<'s> {
        HolderWait { waits_for, waited: nanoseconds(waited) }
    }
}

impl<'s> Json<'s> {
    fn of(pid: u32, seen: &'s Watched, unknown: Option<&'s str>) -> Json<'s> {
        let [threads, tasks] = seen.looks;
        let causes = seen.causes.ranked(seen.time).into_iter().map(CauseJson::of).collect();
        let of = &seen.causes;
        let [time, requests] = [seen.time, of.requests()].map(nanoseconds);
        let [running, woken, holding] = [of.running(), of.woken, of.holding].map(nanoseconds);
        let [changed, without_types] = [of.changed(), of.without_types].map(nanoseconds);
        let looks = Looks { threads, tasks };
        let pool = by_time(&seen.causes.pool).into_iter();
        let pool = pool.map(|(call, time)| Call { call, time: nanoseconds(time) }).collect();
        let notes = &seen.listing.notes;
        Json {
            version: VERSION,
            pid,
            time,
            requests,
            running,
            woken,
            holding,
            changed,
            without_types,
            looks,
            causes,
            pool,
            unknown,
            notes,
        }
    }
}

impl<'s> CauseJson<'s> {
    fn of((cause, evidence, share): (&'s Cause, &'s Evidence, f64)) -> CauseJson<'s> {
        let victim = |(own, waited): (&'s Own, Duration)| Victim {
            own: Where { function: Some(&own.function), place: own.place.as_ref() },
            waited: nanoseconds(waited),
        };
        CauseJson {
            kind: cause.kind,
            share,
            waited: nanoseconds(evidence.time),
            seen: evidence.seen,
            most: evidence.most,
            longest: nanoseconds(evidence.longest),
            resource: &cause.resource,
            own: Where {
                function: evidence.own(cause).map(|own| own.function.as_str()),
                place: evidence.own(cause).and_then(|own| own.place.as_ref()),
            },
            holder_waits: by_time(&evidence.holder_waits).into_iter().map(HolderWait::of).collect(),
            victims: by_time(&evidence.victims).into_iter().map(victim).collect(),
        }
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use dyntrace_tasks::listing::{Listing, SourceLine};

    use super::causes::Wait;
    use super::*;
    use crate::page::Fields;

    fn own(function: &str, line: u32) -> Own {
        Own { function: function.into(), place: Some(SourceLine { file: "src/main.rs".into(), line }) }
    }

    /// A watch of ten seconds with a cause of each form.
    pub(super) fn sample() -> Watched {
        let second = Duration::from_secs(1);
        let mut seen = Watched { time: second * 10, looks: [990, 50], workers: 4, ..Watched::default() };
        let lock = Cause::new(CauseKind::Lock, "Mutex", Some(own("shop::priced", 28)));
        let print = own("shop::print\x1b[2J", 9);
        let blocks = Cause::new(CauseKind::BlockingCall, "clock_nanosleep", Some(Own { place: None, ..print.clone() }));
        let job = Cause::new(
            CauseKind::BlockingJob,
            "a job of the blocking pool",
            Some(Own { place: None, ..own("shop::placed", 17) }),
        );
        let unheld = Cause::new(CauseKind::Permits, "Semaphore", None);
        let wait = |cause: &Cause, line, holder_waits: Option<&str>| Wait {
            cause: cause.clone(),
            victim: Some(own("shop::placed", line)),
            holder: None,
            holder_waits: holder_waits.map(str::to_owned),
        };
        for _ in 0..5 {
            let waits =
                [wait(&lock, 27, Some("127.0.0.1:5432")), wait(&lock, 60, Some("a timer")), wait(&job, 17, None)];
            seen.causes.add_look(waits.into(), second);
            seen.causes.add_look(vec![wait(&unheld, 80, None)], second / 2);
            seen.causes.add_stay(&blocks, Some(&print), second, Duration::from_millis(30), true);
        }
        seen.causes.polled = second * 6;
        seen.causes.without_types = second * 40;
        seen.causes.add_pool("fsync", second * 4);
        seen.causes.add_pool("a CPU", second);
        seen.listing = Listing { notes: vec!["a gap".to_owned()], ..Listing::default() };
        seen
    }

    #[test]
    fn the_verdict_then_the_worst_three_causes() {
        let told = text::text(7, &sample(), Some("1 of 7 tasks without types"));
        let told = anstream::adapter::strip_str(&told).to_string();
        assert_eq!(told, include_str!("../golden/diagnose.txt"));
        let quiet = text::text(7, &Watched { time: Duration::from_secs(10), ..Watched::default() }, None);
        let quiet = anstream::adapter::strip_str(&quiet).to_string();
        assert!(quiet.starts_with("No cause: nothing kept requests waiting for long\n"), "{quiet}");
    }

    #[test]
    fn the_page_has_the_fields() {
        let mut fields = Fields::new(&[]);
        let mut seen = sample();
        let nowhere = Own { place: None, ..own("shop::placed", 0) };
        let cause = Cause::new(CauseKind::Peer, "127.0.0.1:5432", Some(nowhere.clone()));
        for _ in 0..9 {
            let wait = Wait { cause: cause.clone(), victim: Some(nowhere.clone()), holder: None, holder_waits: None };
            seen.causes.add_look(vec![wait], Duration::from_secs(1));
        }
        for unknown in [None, Some("a gap")] {
            fields.add(&serde_json::to_value(Json::of(7, &seen, unknown)).unwrap());
        }
        fields.are_those_below("dyntrace diagnose --json");
    }
}
