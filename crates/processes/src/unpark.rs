//! Threads that poll a future themselves, and their wakers.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use tokio::sync::Mutex;
use tokio::task::unconstrained;

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Returns a waker that unparks this thread.
pub fn waker() -> Waker {
    Waker::from(Arc::new(Unpark(thread::current())))
}

/// Blocks the thread until the future is ready.
#[cfg_attr(loom, allow(dead_code, reason = "its users are left out there"))]
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    // A task without budget would be woken by its runtime only after it has yielded.
    let mut future = pin!(unconstrained(future));
    // Most are ready at once, and a waker allocates.
    if let Poll::Ready(answer) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        return answer;
    }
    let waker = waker();
    loop {
        if let Poll::Ready(answer) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return answer;
        }
        thread::park();
    }
}

/// Blocks a thread outside of asynchronous tasks until the future is ready.
///
/// # Panics
///
/// Panics in an asynchronous task, with tokio's message.
#[track_caller]
pub fn block_outside_tasks<T>(future: impl Future<Output = T>) -> T {
    // Never blocks: tokio panics here where it would panic if it blocked.
    drop(Mutex::const_new(()).blocking_lock());
    block_on(future)
}
