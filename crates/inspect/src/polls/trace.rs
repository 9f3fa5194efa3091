//! Runs the script, and watches the program's code for the tracer's breakpoints: they show when all functions have their probes.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use dyntrace_folders::NewFile;
use dyntrace_runs::run::Made;
use dyntrace_runs::tracer::Tracer;
use dyntrace_tasks::memory::Memory;
use dyntrace_tasks::polls::{Function, Functions};
use dyntrace_terminal::exit::{self, Failure};
use dyntrace_terminal::temporary::Temporary;
use rustix::time::{ClockId, clock_gettime};

use super::counts::Counts;
use super::script;
use super::summary::Window;

/// Between two looks at the program's code.
const LOOK: Duration = Duration::from_millis(5);

/// A trace to be made.
pub struct Trace<'a> {
    pub tracer: &'a Tracer,
    pub pid: u32,
    pub script: &'a str,
    pub functions: &'a Functions,
    pub memory: &'a (dyn Memory + Sync),
}

/// The times that the thread that watches the code has noted, by the clock of the script.
#[derive(Default)]
struct ProbeTimes {
    /// When all functions had their probes.
    ready: Option<u64>,
    /// When the first of them was without it again.
    end: Option<u64>,
}

impl Trace<'_> {
    /// Traces until the script's time is over or the user interrupts. Calls `ready` when all probes are set, and then `beside` again and
    /// again.
    pub fn run(&self, ready: impl Fn() + Send, beside: impl FnMut() + Send) -> Result<(Counts, Window), Failure> {
        let temporary = Temporary::new()?;
        let create = || temporary.folder().create_file("counts", NewFile::Plain);
        let output = create().context("cannot make a temporary file for the counts")?;
        let has_ended = AtomicBool::new(false);
        let seen = thread::scope(|scope| {
            let watch = scope.spawn(|| self.watch(&has_ended, ready, beside));
            let made = Made {
                name: "polls",
                tracer: self.tracer,
                text: self.script,
                pid: self.pid,
                options: &script::OPTIONS,
                environment: &script::ENVIRONMENT,
            };
            let outcome = made.run(output);
            has_ended.store(true, Ordering::Relaxed);
            let seen = watch.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            outcome.map(|_| seen)
        })?;
        let text = std::fs::read_to_string(temporary.path().join("counts")).context("cannot read the counts")?;
        let counts = Counts::read(&text).map_err(|error| Failure::new(exit::TRACER_FAILED, error))?;
        let Some(ready) = seen.ready else {
            let why = anyhow!("{} ended before all functions had their probes: nothing was counted", self.tracer.kind);
            return Err(Failure::new(exit::TRACER_FAILED, why));
        };
        // An interrupted script does not know. Nor can a stop before the begin be right: then the clocks differ.
        let end = counts.stop.filter(|stop| *stop > ready).or(seen.end).unwrap_or_else(now);
        Ok((counts, Window { ready, end }))
    }

    fn watch(&self, has_ended: &AtomicBool, ready: impl Fn(), mut beside: impl FnMut()) -> ProbeTimes {
        let mut seen = ProbeTimes::default();
        while !has_ended.load(Ordering::Relaxed) && seen.end.is_none() {
            match (seen.ready, self.is_armed()) {
                (None, true) => {
                    seen.ready = Some(now());
                    ready();
                }
                (Some(_), false) => seen.end = Some(now()),
                (Some(_), true) => beside(),
                (None, false) => {}
            }
            thread::sleep(LOOK);
        }
        seen
    }

    /// Whether each function begins with a breakpoint; the marks show that those at returns are set as well. False if the program has
    /// ended.
    fn is_armed(&self) -> bool {
        let is_armed = |function: &Function| {
            let mut code = [0; BREAKPOINT.len()];
            self.memory.read(function.address, &mut code).is_ok_and(|()| code == BREAKPOINT)
        };
        self.functions.all().all(is_armed)
    }
}

/// The kernel's breakpoint of a uprobe.
#[cfg(target_arch = "x86_64")]
const BREAKPOINT: [u8; 1] = [0xcc];
#[cfg(not(target_arch = "x86_64"))]
const BREAKPOINT: [u8; 4] = [0xa0, 0x00, 0x20, 0xd4];

/// The clock of bpftrace's `nsecs`.
fn now() -> u64 {
    let now = clock_gettime(ClockId::Boottime);
    u64::try_from(now.tv_sec).unwrap_or(0).saturating_mul(1_000_000_000).saturating_add(now.tv_nsec.unsigned_abs())
}
