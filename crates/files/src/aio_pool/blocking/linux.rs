//! Linux: a thread's state from procfs, the reason of its waits from getrusage(2), its processors by sched_setaffinity(2).

use std::fs;
use std::mem::MaybeUninit;

use rustix::thread::{CpuSet, Pid, gettid, sched_getaffinity, sched_getcpu, sched_setaffinity};

/// A thread of this process.
#[derive(Clone, Copy)]
pub struct KernelThread(Pid);

impl KernelThread {
    pub fn current() -> KernelThread {
        KernelThread(gettid())
    }

    /// Returns whether the thread waits for something other than a processor; true if procfs does not say.
    pub fn is_blocked(self) -> bool {
        let stat = fs::read(format!("/proc/self/task/{}/stat", self.0.as_raw_pid()));
        // The name stands in parentheses and may hold any byte; the state comes after it.
        let state = stat.ok().and_then(|stat| {
            let end = stat.iter().rposition(|&byte| byte == b')')?;
            stat.get(end + 2).copied()
        });
        state != Some(b'R')
    }

    /// Binds the thread to a processor, if `free` may run there. Returns whether it is bound.
    pub fn bind(self, processor: u16, free: KernelThread) -> bool {
        let processor = usize::from(processor);
        let Ok(allowed) = sched_getaffinity(Some(free.0)) else { return false };
        if processor >= CpuSet::MAX_CPU || !allowed.is_set(processor) {
            return false;
        }
        let mut only = CpuSet::new();
        only.set(processor);
        sched_setaffinity(Some(self.0), &only).is_ok()
    }

    /// Has the thread run wherever `free` may.
    pub fn release(self, free: KernelThread) {
        if let Ok(allowed) = sched_getaffinity(Some(free.0)) {
            // Fails if the thread has ended.
            let _ = sched_setaffinity(Some(self.0), &allowed);
        }
    }
}

/// Returns the processor that runs the current thread.
pub fn processor() -> Option<u16> {
    u16::try_from(sched_getcpu()).ok()
}

/// Tells whether the current thread waited for a disk or for something else between two calls.
pub struct BlockMeter {
    seen: libc::rusage,
}

impl BlockMeter {
    pub fn start() -> BlockMeter {
        BlockMeter { seen: usage_of_this_thread() }
    }

    /// Returns whether the thread read from a disk since the last call or, if its job took long, slept more than `idle` times.
    pub fn has_blocked(&mut self, is_long: bool, idle: libc::c_long) -> bool {
        let before = std::mem::replace(&mut self.seen, usage_of_this_thread());
        self.seen.ru_inblock > before.ru_inblock || is_long && self.seen.ru_nvcsw - before.ru_nvcsw > idle
    }
}

fn usage_of_this_thread() -> libc::rusage {
    let mut usage = MaybeUninit::zeroed();
    // SAFETY: getrusage writes a whole rusage; if it fails, the zeroes stay, which are a valid rusage.
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
    fn a_waiting_thread_is_blocked_and_the_current_one_is_not() {
        assert!(!KernelThread::current().is_blocked());
        let (tell, told) = mpsc::channel();
        let (release, released) = mpsc::channel::<()>();
        let waiting = thread::spawn(move || {
            tell.send(KernelThread::current()).unwrap();
            let _ = released.recv();
        });
        let number = told.recv().unwrap();
        while !number.is_blocked() {
            thread::yield_now();
        }
        drop(release);
        waiting.join().unwrap();
    }

    #[test]
    fn sleeps_are_counted() {
        let mut meter = BlockMeter::start();
        assert!(!meter.has_blocked(true, 1000));
        thread::sleep(std::time::Duration::from_millis(1));
        assert!(meter.has_blocked(true, 0));
        thread::sleep(std::time::Duration::from_millis(1));
        assert!(!meter.has_blocked(false, 0));
    }
}
