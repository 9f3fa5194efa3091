use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::wait::Wait;
use super::*;

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
    wait_blocking(Duration::from_secs(60)).unwrap();
    SLOTS[old].store(false, Ordering::Relaxed);
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
#[should_panic = "while pinned"]
fn waiting_for_oneself_is_refused() {
    let _pinned = pin().unwrap();
    wait_blocking(Duration::from_secs(60)).unwrap();
}

#[test]
fn a_pinned_thread_holds_a_wait_up_and_one_that_sleeps_does_not() {
    let (say, said) = mpsc::channel();
    let (unpin, may_unpin) = mpsc::channel::<()>();
    let holder = thread::spawn(move || {
        let pinned = pin().unwrap();
        say.send(os::thread_id()).unwrap();
        may_unpin.recv().unwrap();
        drop(pinned);
        // Asleep until all is over, and not pinned.
        let _ = may_unpin.recv();
    });
    let id = said.recv().unwrap();
    let mut wait = Wait::begin();
    assert!(!wait.is_over());
    assert!(wait.late(Duration::ZERO).unwrap().threads.contains(&id));
    assert_eq!(wait.late(Duration::MAX), None);
    unpin.send(()).unwrap();
    while !wait.is_over() {
        thread::yield_now();
    }
    wait_blocking(Duration::from_secs(60)).unwrap();
    drop(unpin);
    holder.join().unwrap();
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

    extern "C" fn handle(_: libc::c_int) {
        read_slot();
    }

    /// Sends signals to threads that pin and unpin all the time, each of which lives for some of them.
    pub(super) fn bombard(done: &AtomicBool) {
        // SAFETY: the handler does nothing but pin and read, which is safe in a handler; nobody else uses this signal.
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
    fn records_of_threads_that_ended_are_used_again() {
        for _ in 0..2000 {
            thread::spawn(|| drop(pin().unwrap())).join().unwrap();
        }
        let records = REGISTRY.records().count();
        assert!(records < 1000, "{records} records");
    }

    /// A thread that ends while it is pinned: what `pthread_exit` does to a pin.
    #[test]
    fn a_thread_that_ended_pinned_is_not_waited_for() {
        thread::spawn(|| std::mem::forget(pin().unwrap())).join().unwrap();
        wait_blocking(Duration::from_secs(60)).unwrap();
    }

    #[test]
    fn errno_is_left_alone() {
        // SAFETY: the address of the thread's own `errno`, always valid.
        let errno = || unsafe { &mut *libc::__errno_location() };
        let gone = thread::spawn(os::thread_id).join().unwrap();
        *errno() = 12345;
        while !os::has_ended(gone) {}
        assert_eq!(*errno(), 12345);
    }

    /// The child waits for its own pins and for nobody else's.
    #[test]
    fn a_forked_child_has_only_its_own_thread() {
        prepare().unwrap();
        let (say, said) = mpsc::channel();
        let (end, may_end) = mpsc::channel::<()>();
        let other = thread::spawn(move || {
            let _pinned = pin().unwrap();
            say.send(()).unwrap();
            let _ = may_end.recv();
        });
        said.recv().unwrap();
        let pinned = pin().unwrap();
        // SAFETY: the child pins, waits, makes a thread (which glibc bears in a forked child) and ends by `_exit`.
        let child = unsafe { libc::fork() };
        if child == 0 {
            // SAFETY: has no conditions: the child is not to hang.
            unsafe { libc::alarm(20) };
            // SAFETY: has no conditions, and runs nothing of the parent's.
            unsafe { libc::_exit(i32::from(!in_child(pinned))) };
        }
        drop(pinned);
        let mut status = 0;
        // SAFETY: `status` is writable.
        assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
        assert_eq!(status, 0);
        drop(end);
        other.join().unwrap();
    }

    fn in_child(pinned: Pin) -> bool {
        let record = OWN.with(Cell::get).unwrap();
        let renamed = record.owner().thread() == os::thread_id() && record.word().is_pinned();
        let held_up = !thread::spawn(|| Wait::begin().is_over()).join().unwrap();
        drop(pinned);
        wait_blocking(Duration::from_secs(60)).unwrap();
        renamed && held_up
    }
}
