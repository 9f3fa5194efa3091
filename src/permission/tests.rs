use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};
use std::task::{Context, Poll, Waker};
use std::thread;

use dyntrace_probes::thread_progress::{complete, prepare, wait};
use pollster::block_on;

use super::{Permission, acquire};

const ROUNDS: usize = 200;

/// The permission is one for all tests.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn poll_once<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

#[test]
fn it_goes_down_the_line_and_past_those_that_left_it() {
    let _alone = alone();
    let first = block_on(acquire());
    let mut second = Box::pin(acquire());
    let mut third = Box::pin(acquire());
    let mut fourth = Box::pin(acquire());
    for waiting in [&mut second, &mut third, &mut fourth] {
        assert!(poll_once(waiting.as_mut()).is_pending());
    }
    drop(second);
    drop(first);
    assert!(poll_once(fourth.as_mut()).is_pending(), "it is the third's turn");
    // It has the permission, and leaves without having looked.
    drop(third);
    assert!(poll_once(fourth.as_mut()).is_ready());
    drop(fourth);
    drop(block_on(acquire()));
}

#[test]
fn threads_and_tasks_stand_in_one_line() {
    let _alone = alone();
    let count = AtomicUsize::new(0);
    let add = |_permission: Permission| {
        let before = count.load(Ordering::Relaxed);
        thread::yield_now();
        count.store(before + 1, Ordering::Relaxed);
    };
    thread::scope(|scope| {
        scope.spawn(|| (0..ROUNDS).for_each(|_| add(block_on(acquire()))));
        scope.spawn(|| (0..ROUNDS).for_each(|_| add(block_on(acquire()))));
    });
    assert_eq!(count.load(Ordering::Relaxed), 2 * ROUNDS);
}

/// The maintenance thread waits in the line as any other.
#[test]
fn a_future_that_was_left_gets_it() {
    let _alone = alone();
    let permission = block_on(acquire());
    let (say, said) = mpsc::channel();
    let left = async move {
        let _permission = acquire().await;
        wait().await;
        say.send(thread::current().name().map(String::from)).unwrap();
    };
    complete(left).unwrap();
    drop(permission);
    assert_eq!(said.recv().unwrap().as_deref(), Some("dyntrace-progress"));
}

/// Whether `run` returns true in a forked child.
fn is_so_in_child(run: impl FnOnce() -> bool) -> bool {
    // SAFETY: the child polls futures, which the C library bears in a forked child, and ends by `_exit`.
    let child = unsafe { libc::fork() };
    assert!(child >= 0);
    if child == 0 {
        // SAFETY: has no conditions: the child is not to hang.
        unsafe { libc::alarm(20) };
        let answer = run();
        // SAFETY: has no conditions, and runs nothing of the parent's.
        unsafe { libc::_exit(i32::from(!answer)) };
    }
    let mut status = 0;
    // SAFETY: `status` is writable.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    status == 0
}

#[test]
fn a_forked_child_finds_it_free_and_futures_in_line_go_on_there() {
    prepare().unwrap();
    let _alone = alone();
    let permission = block_on(acquire());
    let [mut left, mut waiting] = [(); 2].map(|()| Box::pin(async { drop(acquire().await) }));
    assert!(poll_once(left.as_mut()).is_pending() && poll_once(waiting.as_mut()).is_pending());
    assert!(is_so_in_child(|| {
        let own = block_on(acquire());
        drop(permission);
        let is_held = poll_once(pin!(acquire())).is_pending();
        drop(own);
        drop(left);
        block_on(waiting);
        is_held
    }));
}
