//! The pollers.

use std::future::{Future, pending};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Wake};
use std::thread::{self, Thread};

use super::way::Way;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Poller {
    /// The runtime of the place: the task awaits, or the runtime's `block_on` does.
    Runtime,
    /// The same, by `select!`.
    Select,
    FuturesExecutor,
    Pollster,
    /// A waker of the test's own.
    HandMade,
    /// `futures::executor`, called by a destructor.
    Destructor,
}

impl Poller {
    pub const ALL: [Poller; 6] = [
        Poller::Runtime,
        Poller::Select,
        Poller::FuturesExecutor,
        Poller::Pollster,
        Poller::HandMade,
        Poller::Destructor,
    ];

    /// In a task.
    pub async fn in_task(self, way: Way) {
        match self {
            Poller::Runtime => way.go().await,
            Poller::Select => {
                tokio::select! {
                    () = way.go() => {}
                    () = pending() => unreachable!("it is never ready"),
                }
            }
            _ => self.blocking(way),
        }
    }

    /// Runs it where blocking is allowed. `block_on` is the runtime's, if there is one.
    pub fn on_thread(self, way: Way, runtime: Option<&tokio::runtime::Handle>) {
        match (self, runtime) {
            (Poller::Runtime | Poller::Select, Some(runtime)) => runtime.block_on(self.in_task(way)),
            (Poller::Runtime | Poller::Select, None) => pollster::block_on(self.in_task(way)),
            _ => self.blocking(way),
        }
    }

    fn blocking(self, way: Way) {
        match self {
            Poller::FuturesExecutor => futures::executor::block_on(way.go()),
            Poller::Pollster => pollster::block_on(way.go()),
            Poller::HandMade => hand_made(way.go()),
            Poller::Destructor => drop(OnDrop(way)),
            Poller::Runtime | Poller::Select => unreachable!("these await"),
        }
    }
}

struct OnDrop(Way);

impl Drop for OnDrop {
    fn drop(&mut self) {
        futures::executor::block_on(self.0.go());
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn hand_made(future: impl Future<Output = ()>) {
    let mut future = pin!(future);
    let waker = Arc::new(Unpark(thread::current())).into();
    while future.as_mut().poll(&mut Context::from_waker(&waker)).is_pending() {
        thread::park();
    }
}
