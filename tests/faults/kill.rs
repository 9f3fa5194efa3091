//! `kill -9` at random instants: all events that the program counted as recorded are in the trace.

use std::fs::{self, File};
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicI32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use dyntrace::recorder::{Format, Mode, Session};

use crate::signals::Timer;
use crate::support::{alone, fire, gap, inside_of, options, program, read, read_by_babeltrace, times};

/// Line 0 is a signal handler, which interrupts line 2; lines 1 and 2 are threads that fire as fast as they can.
const LINES: usize = 3;

/// Number of events recorded by each line, in memory that outlives the program.
struct Page(*const [AtomicI32; LINES]);

// SAFETY: it points to atomics only.
unsafe impl Sync for Page {}
// SAFETY: as above.
unsafe impl Send for Page {}

impl Page {
    fn open(directory: &Path) -> Page {
        use rustix::mm::{MapFlags, ProtFlags, mmap};
        let file = File::options().read(true).write(true).create(true).truncate(false).open(directory.join("page"));
        let file = file.unwrap();
        file.set_len(4096).unwrap();
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping, of a file that keeps its length; it is never unmapped.
        let page = unsafe { mmap(std::ptr::null_mut(), 4096, protection, MapFlags::SHARED, &file, 0) };
        Page(page.unwrap().cast())
    }

    fn counts(&self) -> &[AtomicI32; LINES] {
        // SAFETY: an aligned page, never unmapped.
        unsafe { &*self.0 }
    }

    fn fire(&self, line: usize) {
        let number = self.counts()[line].load(Ordering::Relaxed) + 1;
        fire(line as i32, number);
        self.count(line, number);
    }

    fn count(&self, line: usize, number: i32) {
        self.counts()[line].store(number, Ordering::Release);
    }
}

/// The program to kill.
#[test]
fn victim() {
    let Some(directory) = inside_of() else { return };
    let page: &'static Page = Box::leak(Box::new(Page::open(&directory)));
    let mode = fs::read_to_string(directory.join("mode")).unwrap();
    let _session = Session::start(options(&directory.join("trace"), &mode)).unwrap();
    thread::spawn(move || {
        loop {
            page.fire(1);
        }
    });
    const EVERY: Duration = Duration::from_micros(200);
    static HANDLED: AtomicI32 = AtomicI32::new(0);
    let _timer = Timer::start(EVERY, EVERY, || {
        let number = HANDLED.load(Ordering::Relaxed) + 1;
        fire(0, number);
        HANDLED.store(number, Ordering::Relaxed);
    });
    loop {
        page.fire(2);
        // An event that a handler fires during a firing is committed with that firing.
        page.count(0, HANDLED.load(Ordering::Relaxed));
    }
}

#[test]
fn events_from_before_a_kill_are_in_the_trace() {
    let _alone = alone();
    let mut chance = Chance(Instant::now().elapsed().as_nanos() as u64 ^ u64::from(std::process::id()) << 20 | 1);
    for round in 0..times(8, 200) {
        let directory = tempfile::tempdir().unwrap();
        let directory = directory.path();
        let mode = if round % 4 == 3 { Mode::Overwrite } else { Mode::Stream };
        let format = Format::ALL[round / 4 % 2];
        fs::write(
            directory.join("mode"),
            format!(",mode={mode},format={format}{}", if mode == Mode::Overwrite { ",size=256K" } else { "" }),
        )
        .unwrap();
        let page = Page::open(directory);
        let mut victim = program("kill::victim", directory, &[]).stdout(Stdio::null()).spawn().unwrap();
        // Of ten programs, nine are killed during a recording, and one at any time.
        if round % 10 != 9 {
            let begun = Instant::now();
            while page.counts().iter().any(|count| count.load(Ordering::Acquire) == 0) {
                assert!(begun.elapsed() < Duration::from_secs(60) && victim.try_wait().unwrap().is_none());
                thread::sleep(Duration::from_micros(100));
            }
        }
        thread::sleep(Duration::from_micros(chance.below(15_000)));
        victim.kill().unwrap();
        victim.wait().unwrap();
        check(directory, mode, format, &page);
    }
}

/// Has babeltrace2 read the trace; that of Debian 12 reads only CTF 1.8.
fn read_elsewhere(trace: &Path, format: Format) {
    if format == Format::Ctf1 {
        return read_by_babeltrace(trace);
    }
    let converted = trace.with_extension("converted");
    dyntrace_reader::convert(trace, &converted, Format::Ctf1).unwrap();
    read_by_babeltrace(&converted);
}

fn check(directory: &Path, mode: Mode, format: Format, page: &Page) {
    let counts: Vec<i64> = page.counts().iter().map(|count| count.load(Ordering::Acquire).into()).collect();
    let mut trace = directory.join("trace");
    if dyntrace_reader::Trace::open(&trace).is_err() {
        return assert!(counts.iter().all(|&count| count == 0), "no trace of {counts:?} events");
    }
    read_elsewhere(&trace, format);
    if mode == Mode::Overwrite {
        let recovered = directory.join("recovered");
        dyntrace_reader::recover(&trace, &recovered).unwrap();
        trace = recovered;
        read_elsewhere(&trace, format);
    }
    let lines = read(&trace);
    for (line, &count) in counts.iter().enumerate() {
        let numbers = lines.get(&(line as i64)).map_or(&[][..], Vec::as_slice);
        let last = numbers.last().copied().unwrap_or(0);
        // In overwrite mode the thread's events may overwrite the few events of the handler.
        let may_be_gone = mode == Mode::Overwrite && line == 0;
        assert!(last >= count || may_be_gone, "line {line}: {count} were recorded, the last one found is {last}");
        let first = if mode == Mode::Stream { 1 } else { numbers.first().copied().unwrap_or(1) };
        assert_eq!(gap(numbers, first), None, "line {line} of {counts:?}");
    }
}

/// Marsaglia's xorshift.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}
