//! Linux: a thread's state from procfs, its voluntary context switches from getrusage(2).

use std::fs;
use std::mem::MaybeUninit;

/// A thread of this process.
#[derive(Clone, Copy)]
pub(in super::super) struct ThreadNumber(rustix::thread::Pid);

impl ThreadNumber {
    pub fn current() -> ThreadNumber {
        ThreadNumber(rustix::thread::gettid())
    }

    /// Whether it waits for something else than a processor. Where that is not told, yes.
    pub fn is_asleep(self) -> bool {
        let stat = fs::read(format!("/proc/self/task/{}/stat", self.0.as_raw_pid()));
        // The name stands in parentheses and may hold any byte; the state comes after it.
        let state = stat.ok().and_then(|stat| {
            let end = stat.iter().rposition(|&byte| byte == b')')?;
            stat.get(end + 2).copied()
        });
        state != Some(b'R')
    }
}

/// Counts how often this thread went to sleep of itself.
pub(in super::super) struct Sleeps {
    seen: libc::c_long,
}

impl Sleeps {
    pub fn begin() -> Sleeps {
        Sleeps { seen: voluntary_switches() }
    }

    /// Whether it slept more often, since the last question, than so many times.
    pub fn are_more_than(&mut self, times: libc::c_long) -> bool {
        let before = std::mem::replace(&mut self.seen, voluntary_switches());
        self.seen - before > times
    }
}

fn voluntary_switches() -> libc::c_long {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: it writes a whole rusage; where it fails the zeroes stay, which are one, too.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr());
        usage.assume_init()
    };
    usage.ru_nvcsw
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use super::*;

    #[test]
    fn a_thread_that_waits_is_asleep_and_one_that_asks_is_not() {
        assert!(!ThreadNumber::current().is_asleep());
        let (tell, told) = mpsc::channel();
        let (release, released) = mpsc::channel::<()>();
        let waiting = thread::spawn(move || {
            tell.send(ThreadNumber::current()).unwrap();
            let _ = released.recv();
        });
        let number = told.recv().unwrap();
        while !number.is_asleep() {
            thread::yield_now();
        }
        drop(release);
        waiting.join().unwrap();
    }

    #[test]
    fn sleeps_are_counted() {
        let mut sleeps = Sleeps::begin();
        assert!(!sleeps.are_more_than(1000));
        thread::sleep(std::time::Duration::from_millis(1));
        assert!(sleeps.are_more_than(0));
    }
}
