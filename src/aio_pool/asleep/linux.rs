//! Linux: a thread's state from procfs, what it waited for from getrusage(2).

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

/// What this thread waited for, from one question to the next.
pub(in super::super) struct Waits {
    seen: libc::rusage,
}

impl Waits {
    pub fn begin() -> Waits {
        Waits { seen: usage_of_this_thread() }
    }

    /// Whether it read from a disk; or, where its work took long, slept more than so many times.
    pub fn were_for_others(&mut self, is_long: bool, times: libc::c_long) -> bool {
        let before = std::mem::replace(&mut self.seen, usage_of_this_thread());
        self.seen.ru_inblock > before.ru_inblock || is_long && self.seen.ru_nvcsw - before.ru_nvcsw > times
    }
}

fn usage_of_this_thread() -> libc::rusage {
    let mut usage = MaybeUninit::zeroed();
    // SAFETY: it writes a whole rusage; where it fails the zeroes stay, which are one, too.
    unsafe {
        libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr());
        usage.assume_init()
    }
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
        let mut waits = Waits::begin();
        assert!(!waits.were_for_others(true, 1000));
        thread::sleep(std::time::Duration::from_millis(1));
        assert!(waits.were_for_others(true, 0));
        thread::sleep(std::time::Duration::from_millis(1));
        assert!(!waits.were_for_others(false, 0));
    }
}
