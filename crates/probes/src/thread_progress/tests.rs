use std::cell::Cell;
use std::future::Future;
use std::io::{Read, Write};
use std::pin::{Pin as Pinning, pin as pinning};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use super::grace_period::{GracePeriod, Late, NOTABLE};
use super::maintenance::{complete, give};
use super::nap::nap;
use super::os;
use super::pending::late;
use super::pin::{OWN, REGISTRY, claim, pin};
use super::pinned::Pinned;
use super::wait::{Wait, wait, wait_blocking};

const ROUNDS: usize = if cfg!(miri) { 20 } else { 2000 };

/// Two slots; readers follow `current`, and must never be inside a slot that is closed.
static SLOTS: [AtomicBool; 2] = [const { AtomicBool::new(true) }; 2];
static CURRENT: AtomicUsize = AtomicUsize::new(0);

fn read_slot() {
    let _pinned = pin().unwrap();
    let slot = &SLOTS[CURRENT.load(Ordering::Acquire)];
    assert!(slot.load(Ordering::Relaxed), "inside a slot that was closed");
    thread::yield_now();
    assert!(slot.load(Ordering::Relaxed), "the wait was over while a thread was inside");
}

/// Moves readers to the other slot, waits, and then owns the one they were in.
fn change_slot() {
    let old = CURRENT.load(Ordering::Relaxed);
    SLOTS[1 - old].store(true, Ordering::Relaxed);
    CURRENT.store(1 - old, Ordering::Release);
    match old {
        0 => wait_blocking(Duration::from_secs(60)).unwrap(),
        _ => drop(block_on(wait())),
    }
    SLOTS[old].store(false, Ordering::Relaxed);
}

/// Wakes a thread, and counts how often.
struct Alarm {
    thread: Thread,
    times: AtomicUsize,
}

impl Alarm {
    fn new() -> Arc<Alarm> {
        Arc::new(Alarm { thread: thread::current(), times: AtomicUsize::new(0) })
    }
}

impl Wake for Alarm {
    fn wake(self: Arc<Alarm>) {
        self.times.fetch_add(1, Ordering::Relaxed);
        self.thread.unpark();
    }
}

/// An executor that knows of no other.
fn block_on<F: Future>(future: F) -> F::Output {
    block_on_with(&Waker::from(Alarm::new()), future)
}

/// The waker is of this thread.
fn block_on_with<F: Future>(waker: &Waker, future: F) -> F::Output {
    let mut future = pinning!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

fn poll_once<F: Future>(future: Pinning<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// Starts a thread that is pinned, gives its id, and unpins it when the sender is dropped; then it sleeps until the second is.
fn start_holder(name: &str) -> (thread::JoinHandle<()>, u32, [mpsc::Sender<()>; 2]) {
    let (say, said) = mpsc::channel();
    let [(unpin, may_unpin), (end, may_end)] = [mpsc::channel::<()>(), mpsc::channel::<()>()];
    let holder = thread::Builder::new().name(name.into()).spawn(move || {
        let pinned = pin().unwrap();
        say.send(os::thread_id()).unwrap();
        let _ = may_unpin.recv();
        drop(pinned);
        let _ = may_end.recv();
    });
    (holder.unwrap(), said.recv().unwrap(), [unpin, end])
}

#[test]
fn pins_nest() {
    let outer = pin().unwrap();
    let record = OWN.with(Cell::get).unwrap();
    drop(pin().unwrap());
    assert!(record.word().is_pinned());
    let inside = record.word();
    drop(outer);
    assert!(!record.word().is_pinned());
    drop(pin().unwrap());
    let _again = pin().unwrap();
    assert!(record.word().is_past(inside));
}

#[test]
fn a_thread_keeps_its_record() {
    drop(pin().unwrap());
    let first = OWN.with(Cell::get).unwrap();
    drop(pin().unwrap());
    assert!(std::ptr::eq(first, OWN.with(Cell::get).unwrap()));
    assert!(std::ptr::eq(first, claim().unwrap()));
}

#[test]
fn waiting_for_oneself_is_refused() {
    let _pinned = pin().unwrap();
    let Late { threads, waited } = wait_blocking(Duration::MAX).unwrap_err();
    assert_eq!(threads.iter().map(|pinned| pinned.thread).collect::<Vec<_>>(), [os::thread_id()]);
    assert_eq!(waited, Duration::ZERO);
}

#[test]
#[should_panic = "while pinned"]
fn a_task_that_waits_for_its_thread_is_refused() {
    let _pinned = pin().unwrap();
    block_on(wait());
}

#[test]
fn a_pinned_thread_holds_a_wait_up_and_one_that_sleeps_does_not() {
    let (holder, id, [unpin, end]) = start_holder("holder");
    let mut period = GracePeriod::begin();
    assert!(!period.is_over());
    let holds_up = |late: &Late| late.threads.iter().any(|pinned| pinned.thread == id);
    assert!(holds_up(&period.held(Duration::ZERO).unwrap().named()));
    assert!(period.held(Duration::MAX).is_none());
    drop(unpin);
    while !period.is_over() {
        thread::yield_now();
    }
    wait_blocking(Duration::from_secs(60)).unwrap();
    drop(end);
    holder.join().unwrap();
}

#[test]
fn a_task_sleeps_until_a_pinned_thread_unpins_and_is_woken_once() {
    let (holder, id, [unpin, end]) = start_holder("held-by-this");
    let alarm = Alarm::new();
    let waker = Waker::from(Arc::clone(&alarm));
    let mut wait = wait();
    let mut poll = || Pinning::new(&mut wait).poll(&mut Context::from_waker(&waker));
    assert_eq!(poll(), Poll::Pending);
    assert_eq!(poll(), Poll::Pending);
    let late = late(Duration::ZERO);
    let held = late.iter().flat_map(|late| &late.threads).find(|pinned| pinned.thread == id).expect("it holds us up");
    // Other systems tell no names.
    if cfg!(all(target_os = "linux", not(any(miri, dyntrace_portable)))) {
        assert_eq!(held.name, "held-by-this");
    }
    drop(unpin);
    while alarm.times.load(Ordering::Relaxed) == 0 {
        thread::park();
    }
    assert!(poll().is_ready());
    assert_eq!(alarm.times.load(Ordering::Relaxed), 1);
    drop(end);
    holder.join().unwrap();
}

#[test]
fn the_end_of_a_wait_names_the_thread_that_held_it_up() {
    let (holder, id, [unpin, end]) = start_holder("held-it-up");
    let mut wait = wait();
    assert!(poll_once(Pinning::new(&mut wait)).is_pending());
    let holds_up = |late: &Late| late.waited >= NOTABLE && late.threads.iter().any(|pinned| pinned.thread == id);
    while !late(NOTABLE).iter().any(holds_up) {
        thread::yield_now();
    }
    drop(unpin);
    // Pins of other tests may have outlasted that one.
    let late = block_on(wait).unwrap();
    assert!(late.waited >= NOTABLE && !late.threads.is_empty());
    drop(end);
    holder.join().unwrap();
}

/// Threads that have been pinned, and then wait for input or for tasks.
#[test]
fn a_thread_that_sleeps_in_the_kernel_or_in_a_runtime_holds_no_wait_up() {
    let (mut input, mut output) = std::io::pipe().unwrap();
    let (say, said) = mpsc::channel();
    let reader = thread::spawn(move || {
        drop(pin().unwrap());
        say.send(()).unwrap();
        input.read_exact(&mut [0]).unwrap();
    });
    said.recv().unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
    runtime.block_on(async {
        tokio::spawn(async { drop(pin().unwrap()) }).await.unwrap();
        wait().await;
    });
    assert!(!reader.is_finished());
    output.write_all(b".").unwrap();
    reader.join().unwrap();
}

#[test]
fn a_late_wait_says_for_whom_and_how_long() {
    let pinned = |thread, name: &str| Pinned { thread, name: name.into() };
    let mut late = Late { threads: vec![pinned(7, "worker-2"), pinned(9, "")], waited: Duration::from_millis(1250) };
    assert_eq!(late.to_string(), "still inside: thread 7 (worker-2), thread 9, for 1.250 s or longer");
    late.threads.clear();
    assert_eq!(late.to_string(), "the system has refused a barrier in every thread for 1.250 s");
}

#[test]
fn an_abandoned_future_is_completed() {
    let (holder, _, senders) = start_holder("in-the-way");
    let (say, said) = mpsc::channel();
    let left = async move {
        wait().await;
        say.send(thread::current().name().map(String::from)).unwrap();
    };
    complete(left).unwrap();
    complete(async { panic!("contained") }).unwrap();
    drop(senders);
    assert_eq!(said.recv().unwrap().as_deref(), Some("dyntrace-progress"));
    holder.join().unwrap();
}

/// Panics when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("dropped");
    }
}

#[test]
fn the_maintenance_thread_outlives_payloads_and_jobs_that_panic_when_they_are_dropped() {
    let bomb = Bomb;
    let finished = move || {
        let _used = &bomb;
        None
    };
    give(finished).unwrap();
    give(|| std::panic::panic_any(Bomb)).unwrap();
    let (say, said) = mpsc::channel();
    give(move || {
        say.send(()).unwrap();
        None
    })
    .unwrap();
    said.recv_timeout(Duration::from_secs(60)).unwrap();
}

/// Also from first pins in a signal handler, with threads that come and go.
#[test]
fn waits_outlast_pins_of_threads_that_come_and_go() {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                read_slot();
            }
        });
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                thread::spawn(read_slot).join().unwrap();
            }
        });
        #[cfg(all(target_os = "linux", not(miri)))]
        scope.spawn(|| linux::bombard(&done));
        for _ in 0..ROUNDS {
            change_slot();
        }
        done.store(true, Ordering::Relaxed);
    });
}

#[cfg(all(target_os = "linux", not(miri)))]
mod linux {
    use super::*;
    use crate::forked;
    use crate::thread_progress::pin::Pin;
    use crate::thread_progress::prepare::prepare;

    extern "C" fn handle(_: libc::c_int) {
        read_slot();
    }

    /// Sends signals to threads that pin and unpin all the time, each of which lives for some of them.
    pub(super) fn bombard(done: &AtomicBool) {
        // SAFETY: the handler does nothing but pin and read, which is safe in a handler; no other code uses this signal.
        unsafe { libc::signal(libc::SIGURG, handle as extern "C" fn(libc::c_int) as libc::sighandler_t) };
        while !done.load(Ordering::Relaxed) {
            let enough = AtomicBool::new(false);
            thread::scope(|scope| {
                let (say, said) = mpsc::channel();
                let enough = &enough;
                scope.spawn(move || {
                    // SAFETY: has no conditions.
                    say.send(unsafe { libc::pthread_self() }).unwrap();
                    while !enough.load(Ordering::Relaxed) {
                        read_slot();
                    }
                });
                let target = said.recv().unwrap();
                for _ in 0..100 {
                    // SAFETY: the thread lives until `enough` is set.
                    unsafe { libc::pthread_kill(target, libc::SIGURG) };
                    thread::yield_now();
                }
                enough.store(true, Ordering::Relaxed);
            });
        }
    }

    #[test]
    #[cfg_attr(dyntrace_portable, ignore = "nobody is told there that a thread has ended")]
    fn records_of_threads_that_ended_are_used_again() {
        for _ in 0..2000 {
            thread::spawn(|| drop(pin().unwrap())).join().unwrap();
        }
        let records = REGISTRY.records().count();
        assert!(records < 1000, "{records} records");
    }

    /// A thread ends while it is pinned, as by `pthread_exit`.
    #[test]
    #[cfg_attr(dyntrace_portable, ignore = "nobody is told there that a thread has ended")]
    fn a_thread_that_ended_pinned_is_not_waited_for() {
        thread::spawn(|| std::mem::forget(pin().unwrap())).join().unwrap();
        wait_blocking(Duration::from_secs(60)).unwrap();
        block_on(wait());
    }

    #[test]
    #[cfg_attr(dyntrace_portable, ignore = "nobody is told there that a thread has ended")]
    fn errno_is_left_alone() {
        // SAFETY: the address of the thread's own `errno`, always valid.
        let errno = || unsafe { &mut *libc::__errno_location() };
        let gone = thread::spawn(os::thread_id).join().unwrap();
        *errno() = 12345;
        while !os::has_ended(gone) {}
        assert_eq!(*errno(), 12345);
    }

    /// The child waits for its own pins and no others, and has a maintenance thread of its own.
    #[test]
    fn a_forked_child_has_only_its_own_thread() {
        prepare().unwrap();
        let (holder, _, senders) = start_holder("parents");
        let mut pending = wait();
        assert!(poll_once(Pinning::new(&mut pending)).is_pending());
        let pinned = pin().unwrap();
        // SAFETY: the child pins, waits, makes threads (which glibc bears in a forked child) and ends by `_exit`.
        let child = unsafe { libc::fork() };
        if child == 0 {
            // SAFETY: has no conditions: the child is not to hang.
            unsafe { libc::alarm(20) };
            // SAFETY: has no conditions, and runs nothing of the parent's.
            unsafe { libc::_exit(i32::from(!in_child(pinned, pending))) };
        }
        drop(pinned);
        let mut status = 0;
        // SAFETY: `status` is writable.
        assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
        assert_eq!(status, 0);
        drop(senders);
        block_on(pending);
        holder.join().unwrap();
    }

    fn in_child(pinned: Pin, pending: Wait) -> bool {
        let record = OWN.with(Cell::get).unwrap();
        let renamed = record.owner().thread() == os::thread_id() && record.word().is_pinned();
        let held_up = thread::spawn(|| {
            let mut wait = wait();
            let held_up = poll_once(Pinning::new(&mut wait)).is_pending();
            (held_up, wait)
        });
        let (held_up, wait) = held_up.join().unwrap();
        drop(pinned);
        block_on(wait);
        block_on(pending);
        wait_blocking(Duration::from_secs(60)).unwrap();
        renamed && held_up
    }

    #[test]
    fn a_nap_goes_on_in_a_forked_child() {
        prepare().unwrap();
        let alarm = Waker::from(Alarm::new());
        let mut nap = Box::pin(nap(Duration::from_secs(1)));
        assert!(nap.as_mut().poll(&mut Context::from_waker(&alarm)).is_pending());
        forked::in_child(|| {
            block_on_with(&alarm, &mut nap);
        });
    }

    #[test]
    fn a_nap_without_a_maintenance_thread_lets_other_tasks_run() {
        const TIME: Duration = Duration::from_millis(20);
        prepare().unwrap();
        forked::in_child(|| {
            let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
            // The limit does not apply to root.
            // SAFETY: `none` is readable.
            let is_set = unsafe { libc::setrlimit(libc::RLIMIT_NPROC, &none) == 0 };
            // SAFETY: has no conditions, in a process with one thread.
            let is_for_us = unsafe { libc::geteuid() != 0 || libc::setuid(65534) == 0 };
            if !is_set || !is_for_us || thread::Builder::new().spawn(|| ()).is_ok() {
                return; // a system without that limit
            }
            let alarm = Alarm::new();
            let waker = Waker::from(Arc::clone(&alarm));
            let begun = Instant::now();
            let mut nap = nap(TIME);
            let is_pending = Pinning::new(&mut nap).poll(&mut Context::from_waker(&waker)).is_pending();
            let is_woken = alarm.times.load(Ordering::Relaxed) == 1;
            block_on(nap);
            assert!(is_pending && is_woken && begun.elapsed() >= TIME);
        });
    }
}
