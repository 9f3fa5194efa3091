//! Reads the tasks of a process some times, and prints how long it took, for `ci/bench tasks`.
//!
//! `tasks_measure PID LOOKS [MILLISECONDS]` waits that long before each look.

use std::error::Error;
use std::time::{Duration, Instant};

use dyntrace_tasks::listing::Chain;
use dyntrace_tasks::program::{Options, Program};
use dyntrace_tasks::reading::{DebugInformation, Described};
use dyntrace_tasks::scan::{self, ByAddress, Elsewhere};

fn main() -> Result<(), Box<dyn Error>> {
    let mut numbers = std::env::args().skip(1).map(|word| word.parse::<u64>());
    let mut number = || numbers.next().transpose();
    let (Some(pid), Some(looks)) = (number()?, number()?) else {
        return Err("usage: tasks_measure PID LOOKS [MILLISECONDS]".into());
    };
    let pause = Duration::from_millis(number()?.unwrap_or(0));

    let begun = Instant::now();
    let program = Program::attach(u32::try_from(pid)?, Options::default())?;
    let information = DebugInformation::of(&program);
    let described = Described::of(&program, &information);
    let prepared = begun.elapsed();

    let mut seconds = Vec::new();
    let (mut tasks, mut chains, mut counted) = (0, 0, None);
    for _ in 0..looks {
        std::thread::sleep(pause);
        let begun = Instant::now();
        let listing = program.listing(&described)?;
        seconds.push(begun.elapsed().as_secs_f64());
        tasks = listing.runtimes.iter().map(|runtime| runtime.found).sum();
        counted = listing.runtimes.iter().map(|runtime| runtime.counted).sum::<Option<u64>>();
        chains = listing.tasks.iter().filter(|task| matches!(task.chain, Chain::Read { .. })).count();
    }
    let scan = scan(&program)?;
    let counted = counted.map_or("null".to_owned(), |counted| counted.to_string());
    let peak = peak()?;
    println!(
        "{{\"prepared\": {}, \"seconds\": {seconds:?}, \"found\": {tasks}, \"counted\": {counted}, \"chains\": {chains}, \
         \"peak_kib\": {peak}, \"scan\": {scan}}}",
        prepared.as_secs_f64()
    );
    Ok(())
}

/// Searches the heap for candidates for tasks, ten times, and returns the bytes of each nanosecond of one core: gigabytes a second.
fn scan(program: &Program) -> Result<f64, Box<dyn Error>> {
    let vtables = ByAddress::new(program.vtables());
    let cpu = || {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        now.tv_sec as f64 * 1e9 + now.tv_nsec as f64
    };
    let mut found = 0_u64;
    let mut fastest = 0_f64;
    for _ in 0..10 {
        let (begun, mut bytes) = (cpu(), 0);
        let mut present = program.memory().present()?;
        for heap in program.memory().mappings()?.iter().filter(|map| map.is_heap()) {
            bytes += present.read(&heap.range, |address, bytes| {
                scan::scan(&vtables, address, bytes, &mut Elsewhere::default(), |_| found += 1)
            })?;
        }
        fastest = fastest.max(bytes as f64 / (cpu() - begun));
    }
    std::hint::black_box(found);
    Ok(fastest)
}

/// Returns the most memory that this process has had, in KiB.
fn peak() -> Result<u64, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no VmHWM")?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}
