//! `dyntrace leaks`: tasks that nothing can wake any more, each with the proof.

use std::collections::BTreeMap;
use std::path::PathBuf;

use dyntrace_tasks::coverage;
use dyntrace_tasks::leaks::{Answer, Leak, Leaks};
use dyntrace_tasks::listing::{Chain, Runtime, SourceLine};
use dyntrace_tasks::program::{Options, Program};
use dyntrace_tasks::reading::{DebugInformation, Described};
use dyntrace_terminal::exit::Outcome;
use dyntrace_terminal::{escape, stdout};
use serde::Serialize;

use super::look::{VERSION, ended, interrupts, print};
use super::read::failure;
use super::words;

const HELP: &str = "\
Examples:
  dyntrace leaks -p 4711
  dyntrace leaks -p 4711 --stop
  dyntrace leaks -p 4711 --json | jq '.leaked[] | .future'

A task is woken through its address, which wakers, join handles, channels, locks and timers have. A waiting task is leaked
if no memory that the program can reach leads to it: from its registers, stacks and statics, from tasks that run or are
scheduled, and from what its epoll watches. A channel's other end that was forgotten, or that only leaked tasks have, is out of
reach. An old copy of an address keeps a task alive, so that a leak may be missed; types (debug = 2) leave fewer of them. Memory
of other allocators than glibc's cannot be followed: there only tasks without any waker or handle are leaked, others are unknown.
The memory of a running program changes while it is read: a task is leaked if three looks say so. With --stop one look does.
Each thread is held as by dyntrace threads, and the heap is copied: the command takes as much memory.

Exit status:
   0  leaked tasks were found, or all tasks that wait are alive
   1  the program cannot be read
   2  wrong use
   5  none was found, and of some tasks it is not known: a line says how many, and why
  65  there is no such process, or the program is no tokio program
With --stop a signal ends the command after its look, with 128 plus the signal's number; a stop by the terminal is ignored.";

/// Find tasks of a running tokio program that nothing can wake any more
///
/// They wait for ever and keep their memory: for a message that no sender in reach can send, for each other, or for nothing.
#[derive(clap::Args)]
#[command(after_long_help = HELP)]
pub struct Arguments {
    /// The process
    #[arg(short, long)]
    pid: u32,
    /// Print JSON
    ///
    /// An object: version (1), answer (yes, no, unknown), leaked, counts (of tasks that are leaked, alive, unknown and scheduled), gaps (why
    /// tasks are unknown), runtimes, notes. A leaked task has id, address, future, place (file and line), waits_for (in words), references
    /// (that it counts) and held_by (ids of leaked tasks whose memory leads to it).
    #[arg(long)]
    json: bool,
    /// The file with the program's debug information, or with its split units (.dwp), if it is not where debuggers look
    #[arg(long, value_name = "FILE")]
    debug: Option<PathBuf>,
    /// Stop the program for the look, as long as its heap is copied and followed. A shell that has the program in the foreground puts it into
    /// the background
    #[arg(long)]
    stop: bool,
}

pub fn leaks(arguments: &Arguments) -> Outcome {
    let interrupts = interrupts(arguments.stop)?;
    let options = Options { debug_file: arguments.debug.clone(), stop: arguments.stop };
    let program = Program::attach(arguments.pid, options).map_err(failure)?;
    let information = DebugInformation::of(&program);
    let described = Described::without_spawns(&program, &information);
    let found = program.leaks(&described).map_err(failure)?;
    if arguments.json {
        stdout::write_json(&Json::of(&found), false)?
    } else {
        print(&text(&found))?
    }
    Ok(ended(&interrupts, answer(&found)))
}

fn answer(found: &Leaks) -> coverage::Answer {
    match (found.leaked.is_empty(), found.count(Answer::Unknown)) {
        (false, _) => coverage::Answer::Yes,
        (true, 0) => coverage::Answer::No,
        (true, _) => coverage::Answer::Unknown,
    }
}

/// A paragraph for leaked tasks that are alike, then the counts.
fn text(found: &Leaks) -> String {
    let mut alike: Vec<(String, Vec<&Leak>)> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for leak in &found.leaked {
        let kinds: Vec<String> = leak.task.leaves().into_iter().map(words::kind).collect();
        let key = format!("{} {} {kinds:?} {}", words::future(&leak.task), words::at(&leak.task), proof(leak));
        let place = *places.entry(key).or_insert(alike.len());
        if place == alike.len() {
            alike.push((paragraph(leak), Vec::new()));
        }
        alike[place].1.push(leak);
    }
    let mut text = String::new();
    for (paragraph, leaks) in &alike {
        let future = words::future(&leaks[0].task);
        text += &match &leaks[..] {
            [only] => format!("task {}: {future}\n", words::id(&only.task)),
            all => format!("{} tasks ({}): {future}\n", all.len(), some(all.iter().map(|leak| words::id(&leak.task)))),
        };
        text += paragraph;
    }
    let count = |answer| found.count(answer);
    let leaked = match count(Answer::Leaked) {
        0 => "no task is leaked".to_owned(),
        count => format!("{} that nothing can wake", words::counted(count, "task")),
    };
    text += &format!(
        "{leaked}; {} alive, {} running, scheduled or ended\n",
        count(Answer::Alive),
        count(Answer::Scheduled)
    );
    if count(Answer::Unknown) > 0 {
        let gaps: Vec<String> = found.gaps.iter().map(escape::name).collect();
        text += &format!("unknown: {} ({})\n", words::counted(count(Answer::Unknown), "task"), gaps.join("; "));
    }
    found.notes.iter().for_each(|note| text += &format!("note: {}\n", escape::name(note)));
    text
}

fn paragraph(leak: &Leak) -> String {
    let waits = match &leak.task.leaves()[..] {
        [] => words::without_leaves(&leak.task).to_owned(),
        leaves => some(leaves.iter().map(|leaf| words::leaf(leaf))),
    };
    let at = match words::at(&leak.task).as_str() {
        "-" => String::new(),
        at => format!(" at {at}"),
    };
    format!("  waits{at} for {waits}\n  {}\n\n", proof(leak))
}

/// The references of a leaked task, and the leaked tasks that have them.
fn proof(leak: &Leak) -> String {
    let others = leak.references.saturating_sub(1);
    if others == 0 {
        return "no waker and no handle of it exists: its only reference is that of its runtime".to_owned();
    }
    let place = match (leak.held_by.contains(&leak.task.id), leak.held_by.len()) {
        (true, _) => ", in its own memory".to_owned(),
        (false, 0) => String::new(),
        (false, _) => format!(", in memory of leaked tasks: {}", some(leak.held_by.iter().map(u64::to_string))),
    };
    let verb = if others == 1 { "is" } else { "are" };
    format!("{} of wakers and handles {verb} out of reach{place}", words::counted(others as usize, "reference"))
}

/// The first of several words.
fn some(words: impl ExactSizeIterator<Item = String>) -> String {
    const MOST: usize = 10;
    let more = words.len().saturating_sub(MOST);
    let shown: Vec<String> = words.take(MOST).collect();
    shown.join(", ") + &if more > 0 { format!(" and {more} more") } else { String::new() }
}

#[derive(Serialize)]
struct Json<'l> {
    version: u32,
    answer: coverage::Answer,
    leaked: Vec<Leaked<'l>>,
    counts: Counts,
    gaps: &'l [String],
    runtimes: &'l [Runtime],
    notes: &'l [String],
}

#[derive(Serialize)]
struct Leaked<'l> {
    id: u64,
    address: u64,
    future: String,
    place: Option<&'l SourceLine>,
    waits_for: Vec<String>,
    references: u64,
    held_by: Vec<u64>,
}

#[derive(Serialize)]
struct Counts {
    leaked: usize,
    alive: usize,
    unknown: usize,
    scheduled: usize,
}

impl<'l> Json<'l> {
    fn of(found: &'l Leaks) -> Json<'l> {
        let count = |answer| found.count(answer);
        let leaked = found.leaked.iter().map(|leak| Leaked {
            id: leak.task.id,
            address: leak.task.address,
            future: words::future(&leak.task),
            place: match &leak.task.chain {
                Chain::Read { root } => words::outermost(root),
                _ => None,
            },
            waits_for: leak.task.leaves().into_iter().map(words::leaf).collect(),
            references: leak.references,
            held_by: leak.held_by.iter().copied().collect(),
        });
        Json {
            version: VERSION,
            answer: answer(found),
            leaked: leaked.collect(),
            counts: Counts {
                leaked: count(Answer::Leaked),
                alive: count(Answer::Alive),
                unknown: count(Answer::Unknown),
                scheduled: count(Answer::Scheduled),
            },
            gaps: &found.gaps,
            runtimes: &found.runtimes,
            notes: &found.notes,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use dyntrace_tasks::listing::WaitsFor;

    use super::*;
    use crate::page::Fields;
    use crate::sample;

    fn leak(id: u64, waits_for: WaitsFor, references: u64, held_by: &[u64]) -> Leak {
        Leak {
            task: sample::leaf_task(id, waits_for),
            references,
            held_by: BTreeSet::from_iter(held_by.iter().copied()),
        }
    }

    fn found(leaked: Vec<Leak>, unknown: usize) -> Leaks {
        let answers = leaked.iter().map(|_| Answer::Leaked).chain([Answer::Alive; 3]).chain([Answer::Scheduled]);
        let answers = answers.chain(std::iter::repeat_n(Answer::Unknown, unknown)).map(|answer| (0, answer)).collect();
        let gaps = if unknown > 0 { vec!["thread 7 could not be held".to_owned()] } else { Vec::new() };
        Leaks { leaked, answers, gaps, runtimes: sample::listing().runtimes, notes: vec!["A note.".to_owned()] }
    }

    fn oneshot() -> WaitsFor {
        WaitsFor::Channel { channel: "oneshot", address: Some(0xa0) }
    }

    #[test]
    fn leaks_that_are_alike_share_a_paragraph() {
        let leaked = vec![
            leak(3, WaitsFor::Forever, 1, &[]),
            leak(4, oneshot(), 2, &[4]),
            leak(5, oneshot(), 2, &[5]),
            leak(6, oneshot(), 3, &[3, 7]),
            leak(7, oneshot(), 2, &[]),
        ];
        let told = text(&found(leaked, 2));
        assert!(told.contains("task 3: "), "{told}");
        assert!(told.contains("no waker and no handle of it exists"), "{told}");
        assert!(told.contains("2 tasks (4, 5): "), "{told}");
        assert!(told.contains("1 reference of wakers and handles is out of reach, in its own memory\n"), "{told}");
        assert!(
            told.contains("2 references of wakers and handles are out of reach, in memory of leaked tasks: 3, 7\n"),
            "{told}"
        );
        assert!(told.contains("1 reference of wakers and handles is out of reach\n"), "{told}");
        let end = "5 tasks that nothing can wake; 3 alive, 1 running, scheduled or ended\n\
                   unknown: 2 tasks (thread 7 could not be held)\nnote: A note.\n";
        assert!(told.ends_with(end), "{told}");
    }

    #[test]
    fn without_a_leak_unknown_tasks_leave_the_answer_open() {
        assert_eq!(answer(&found(Vec::new(), 0)), coverage::Answer::No);
        assert_eq!(answer(&found(Vec::new(), 1)), coverage::Answer::Unknown);
        assert_eq!(answer(&found(vec![leak(1, oneshot(), 2, &[])], 1)), coverage::Answer::Yes);
        assert!(text(&found(Vec::new(), 0)).starts_with("no task is leaked; 3 alive"));
    }

    #[test]
    fn the_page_has_the_fields() {
        let mut fields = Fields::new(&[]);
        let mut first = leak(3, oneshot(), 2, &[4]);
        if let Chain::Read { root } = &mut first.task.chain {
            root.place = Some(SourceLine { file: "src/main.rs".into(), line: 7 });
        }
        let all = found(vec![first, Leak { task: sample::task(4, Chain::NoTypes), ..leak(4, oneshot(), 1, &[]) }], 1);
        fields.add(&serde_json::to_value(Json::of(&all)).unwrap());
        fields.are_those_below("dyntrace leaks --json");
    }
}
