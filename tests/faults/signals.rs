//! Signal handlers that fire while they interrupt a firing.

use std::ptr;
use std::sync::atomic::{AtomicI32, AtomicPtr, Ordering};
use std::time::Duration;

use dyntrace::recorder::Session;

use crate::support::{alone, fire, gap, options, read, read_by_babeltrace, stop, times};

/// The action of the timer's signal handler. One timer at a time.
static HANDLER: AtomicPtr<fn()> = AtomicPtr::new(ptr::null_mut());

/// Interrupts the starting thread, first after `first` and then repeatedly.
pub struct Timer(libc::timer_t);

impl Timer {
    pub fn start(first: Duration, interval: Duration, handler: fn()) -> Timer {
        extern "C" fn handle(_: libc::c_int) {
            // SAFETY: null or a leaked box.
            if let Some(handler) = unsafe { HANDLER.load(Ordering::Acquire).as_ref() } {
                handler();
            }
        }
        HANDLER.store(Box::leak(Box::new(handler)), Ordering::Release);
        let signal = libc::SIGRTMIN();
        let spec = |time: Duration| libc::timespec { tv_sec: 0, tv_nsec: time.subsec_nanos() as libc::c_long };
        let times = libc::itimerspec { it_interval: spec(interval), it_value: spec(first) };
        // SAFETY: plain data as the calls require; the handler is async-signal-safe.
        unsafe {
            let handle: extern "C" fn(libc::c_int) = handle;
            libc::signal(signal, handle as libc::sighandler_t);
            let mut event: libc::sigevent = std::mem::zeroed();
            event.sigev_notify = libc::SIGEV_THREAD_ID;
            event.sigev_signo = signal;
            event.sigev_notify_thread_id = libc::gettid();
            let mut timer = ptr::null_mut();
            assert_eq!(libc::timer_create(libc::CLOCK_MONOTONIC, &mut event, &mut timer), 0);
            assert_eq!(libc::timer_settime(timer, 0, &times, ptr::null_mut()), 0);
            Timer(timer)
        }
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        // SAFETY: made by `start`. The handler stays for pending signals.
        unsafe { libc::timer_delete(self.0) };
    }
}

/// 10 kHz.
const EVERY: Duration = Duration::from_micros(100);

static HANDLED: AtomicI32 = AtomicI32::new(0);

fn fire_handled() {
    let number = HANDLED.load(Ordering::Relaxed) + 1;
    fire(0, number);
    HANDLED.store(number, Ordering::Relaxed);
}

#[test]
fn a_handler_that_fires_at_10_khz_loses_nothing() {
    let _alone = alone();
    let directory = tempfile::tempdir().unwrap();
    let session = Session::start(options(directory.path(), "")).unwrap();
    let (fired, handled) = std::thread::spawn(|| {
        HANDLED.store(0, Ordering::Relaxed);
        let timer = Timer::start(EVERY, EVERY, fire_handled);
        let mut fired = 0;
        while HANDLED.load(Ordering::Relaxed) < times(2_000, 5_000) as i32 {
            fired += 1;
            fire(1, fired);
        }
        drop(timer);
        (fired, HANDLED.load(Ordering::Relaxed))
    })
    .join()
    .unwrap();
    assert_eq!(stop(session).status.discarded, 0);
    read_by_babeltrace(directory.path());
    let lines = read(directory.path());
    assert_eq!((lines[&0].len(), lines[&1].len()), (handled as usize, fired as usize));
    lines.values().for_each(|numbers| assert_eq!(gap(numbers, 1), None));
}

/// Signals during the first firing of a thread, which gets its ring.
#[test]
fn a_handler_may_come_into_the_first_event_of_a_thread() {
    let _alone = alone();
    let directory = tempfile::tempdir().unwrap();
    let session = Session::start(options(directory.path(), "")).unwrap();
    HANDLED.store(0, Ordering::Relaxed);
    let threads = times(200, 5_000) as i32;
    for number in 1..=threads {
        let thread = std::thread::spawn(move || {
            let first = Duration::from_nanos(number as u64 * 137 % 40_000 + 1);
            let _timer = Timer::start(first, EVERY, fire_handled);
            (1..=3).for_each(|event| fire(number, event));
        });
        thread.join().unwrap();
    }
    // Threads may start faster than rings are created.
    let discarded = stop(session).status.discarded as usize;
    let handled = HANDLED.load(Ordering::Relaxed) as usize;
    let lines = read(directory.path());
    let found: usize = lines.values().map(Vec::len).sum();
    assert_eq!(found + discarded, handled + 3 * threads as usize, "what is lost is counted");
    for numbers in lines.values() {
        assert!(numbers.is_sorted_by(|before, next| before < next), "{numbers:?}");
    }
}
