//! Signal handlers that fire while they interrupt a firing.

use std::array;
use std::hint::black_box;
use std::ptr;
use std::sync::atomic::{AtomicI32, AtomicPtr, Ordering};
use std::time::{Duration, Instant};

use dyntrace::recorder::Session;
use dyntrace_reader::Trace;

use crate::forked::in_child;
use crate::support::{alone, fire, gap, options, read, read_by_babeltrace, stop, times};

/// The action of the timer's signal handler. One timer at a time.
static HANDLER: AtomicPtr<fn()> = AtomicPtr::new(ptr::null_mut());

/// Has the handler of the signal run `handler`, which is async-signal-safe.
fn handle_by(signal: libc::c_int, handler: fn()) {
    extern "C" fn handle(_: libc::c_int) {
        // SAFETY: null or a leaked box.
        if let Some(handler) = unsafe { HANDLER.load(Ordering::Acquire).as_ref() } {
            handler();
        }
    }
    HANDLER.store(Box::leak(Box::new(handler)), Ordering::Release);
    // SAFETY: such a handler.
    unsafe { libc::signal(signal, handle as extern "C" fn(libc::c_int) as libc::sighandler_t) };
}

/// Interrupts the starting thread, first after `first` and then repeatedly.
pub struct Timer(libc::timer_t);

impl Timer {
    pub fn start(first: Duration, interval: Duration, handler: fn()) -> Timer {
        let signal = libc::SIGRTMIN();
        let spec = |time: Duration| libc::timespec { tv_sec: 0, tv_nsec: time.subsec_nanos() as libc::c_long };
        let times = libc::itimerspec { it_interval: spec(interval), it_value: spec(first) };
        handle_by(signal, handler);
        // SAFETY: plain data as the calls require.
        unsafe {
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

fn fire_p() {
    dyntrace::p!(1, "text");
    HANDLED.fetch_add(1, Ordering::Relaxed);
}

/// Allocates on a new thread until it, or all of them, have handled `signals` since `before`.
fn allocate(begin: impl FnOnce() -> Option<Timer> + Send, signals: i32, at_most: Duration) {
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let (before, began) = (HANDLED.load(Ordering::Relaxed), Instant::now());
            let _timer = begin();
            while HANDLED.load(Ordering::Relaxed) - before < signals && began.elapsed() < at_most {
                // Larger than the blocks that glibc gives without its lock.
                let blocks: [Vec<u8>; 32] = array::from_fn(|number| Vec::with_capacity(1500 + 100 * number));
                black_box(blocks);
            }
        });
    });
}

/// A thread's first firing is a handler's, which interrupts the allocator: the firing must not wait for the allocator's lock.
#[test]
fn a_handler_may_fire_first_while_its_thread_allocates() {
    let _alone = alone();
    in_child(|| {
        // SAFETY: plain system calls. The first ends a child that hangs.
        unsafe { libc::alarm(times(20, 300) as u32) };
        HANDLED.store(0, Ordering::Relaxed);
        let directory = tempfile::tempdir().unwrap();
        let session = Session::start(options(directory.path(), "")).unwrap();
        for number in 1..=times(200, 5_000) as u64 {
            let first = Duration::from_micros(50 + number * 7 % 50);
            allocate(|| Some(Timer::start(first, EVERY, fire_p)), 2, Duration::MAX);
        }
        // As a profiler interrupts: whichever thread runs.
        let profiled = HANDLED.load(Ordering::Relaxed) + times(50, 2_000) as i32;
        let profiler = profile(fire_p);
        while HANDLED.load(Ordering::Relaxed) < profiled {
            allocate(|| None, 2, Duration::from_millis(2));
        }
        drop(profiler);
        let discarded = stop(session).status.discarded;
        let trace = Trace::open(directory.path()).unwrap();
        let found = trace.events().filter(|event| event.class.probe() == "user_trace-i4s4").count() as u64;
        assert_eq!(found + discarded, HANDLED.load(Ordering::Relaxed) as u64);
    });
}

/// Has the kernel interrupt the process by SIGPROF for each millisecond of its processor time, until the result is dropped.
fn profile(handler: fn()) -> impl Drop {
    struct Profiler;
    impl Profiler {
        fn set(every: i64) {
            let time = libc::timeval { tv_sec: 0, tv_usec: every as _ };
            // SAFETY: plain data as the call requires.
            let is_set = unsafe {
                let times = libc::itimerval { it_interval: time, it_value: time };
                libc::setitimer(libc::ITIMER_PROF, &times, ptr::null_mut())
            };
            assert_eq!(is_set, 0);
        }
    }
    impl Drop for Profiler {
        fn drop(&mut self) {
            Profiler::set(0);
        }
    }
    handle_by(libc::SIGPROF, handler);
    Profiler::set(1000);
    Profiler
}
