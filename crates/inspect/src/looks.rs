//! Looks at the tasks of a program while it runs: as often as that stays cheap.

use std::time::{Duration, Instant};

use dyntrace_tasks::listing::{Listing, Runtime};
use dyntrace_tasks::program::Program;
use dyntrace_tasks::reading::Described;
use dyntrace_terminal::exit::Failure;
use rustix::time::{ClockId, clock_gettime};

use crate::read::failure;

/// Between two looks, at least.
const PAUSE: Duration = Duration::from_millis(100);

/// The part of one CPU that looks may take, and searches of the heap for tasks: one of so many.
const LOOKS: u32 = 64;
const SEARCHES: u32 = 256;

/// Looks follow the lists of known runtimes. A search of the whole heap, which finds further runtimes, is rarer.
pub struct Looks<'p, 'd> {
    program: &'p Program,
    described: &'p Described<'d>,
    /// As the last search found them.
    runtimes: Vec<Runtime>,
    /// The addresses of the tasks of the last look.
    known: Vec<u64>,
    next_search: Instant,
    last: Instant,
    pause: Duration,
}

impl<'p, 'd> Looks<'p, 'd> {
    /// Looks once, which prepares the names of types.
    pub fn new(program: &'p Program, described: &'p Described<'d>) -> Result<Looks<'p, 'd>, Failure> {
        let now = Instant::now();
        let (runtimes, known) = (Vec::new(), Vec::new());
        let mut looks = Looks { program, described, runtimes, known, next_search: now, last: now, pause: PAUSE };
        looks.look(|_, _| ())?;
        looks.pause = PAUSE;
        Ok(looks)
    }

    pub fn is_due(&self) -> bool {
        self.last.elapsed() >= self.pause
    }

    /// Hands all tasks to `take`, with the time since the look before.
    pub fn look(&mut self, take: impl FnOnce(Listing, Duration)) -> Result<(), Failure> {
        let begun = cpu_time();
        let listing = self.listing()?;
        self.known = listing.tasks.iter().map(|task| task.address).collect();
        take(listing, self.last.elapsed());
        self.last = Instant::now();
        self.pause = PAUSE.max((cpu_time() - begun) * LOOKS);
        Ok(())
    }

    fn listing(&mut self) -> Result<Listing, Failure> {
        if Instant::now() < self.next_search
            && let Some(listing) =
                self.program.listing_again(self.described, &self.runtimes, &self.known).map_err(failure)?
        {
            return Ok(listing);
        }
        let begun = cpu_time();
        let listing = self.program.listing(self.described).map_err(failure)?;
        self.next_search = Instant::now() + (cpu_time() - begun) * SEARCHES;
        self.runtimes.clone_from(&listing.runtimes);
        Ok(listing)
    }
}

/// The CPU time of this process.
pub fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}
