//! A tokio program that counts its own polls and wakes: a tracer must count the same.
//!
//! `polls_truth [ROUNDS]` waits for a line on standard input, works, and prints `polls FUNCTION COUNT`, `busy FUNCTION NANOSECONDS` (the
//! least time that its body took) and `wakes WAKER WOKEN COUNT` (`-` for a waker that is no task). Then it waits until its input ends.

use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::hint::black_box;
use std::io::BufRead;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

use tokio::runtime;
use tokio::task::LocalSet;

/// The program's own count.
#[derive(Default)]
struct Truth {
    /// Polls and nanoseconds, by function.
    polls: BTreeMap<&'static str, (u64, u64)>,
    /// By waker and woken function.
    wakes: BTreeMap<(&'static str, &'static str), u64>,
}

static TRUTH: Mutex<Truth> = Mutex::new(Truth { polls: BTreeMap::new(), wakes: BTreeMap::new() });

fn truth<T>(change: impl FnOnce(&mut Truth) -> T) -> T {
    change(&mut TRUTH.lock().unwrap_or_else(PoisonError::into_inner))
}

fn woke(waker: &'static str, woken: &'static str) {
    truth(|truth| *truth.wakes.entry((waker, woken)).or_default() += 1);
}

/// Counts the polls of a task's body.
async fn counted<F: Future>(name: &'static str, body: F) -> F::Output {
    let mut body = pin!(body);
    poll_fn(|context| {
        let begun = Instant::now();
        let answer = body.as_mut().poll(context);
        let took = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
        truth(|truth| {
            let (polls, busy) = truth.polls.entry(name).or_default();
            (*polls, *busy) = (*polls + 1, *busy + took);
        });
        answer
    })
    .await
}

/// A number that one task raises and one other waits for. Each waker that is stored is woken once.
#[derive(Default)]
struct Signal {
    raised: AtomicU64,
    waker: Mutex<Option<Waker>>,
}

impl Signal {
    async fn reaches(&self, number: u64) {
        poll_fn(|context| {
            let mut waker = self.waker.lock().unwrap_or_else(PoisonError::into_inner);
            if self.raised.load(Ordering::Relaxed) >= number {
                return Poll::Ready(());
            }
            *waker = Some(context.waker().clone());
            Poll::Pending
        })
        .await;
    }

    /// Takes the waker, if the other task waits.
    fn raise(&self) -> Option<Waker> {
        let mut waker = self.waker.lock().unwrap_or_else(PoisonError::into_inner);
        self.raised.fetch_add(1, Ordering::Relaxed);
        waker.take()
    }
}

async fn ping(own: Arc<Signal>, other: Arc<Signal>, rounds: u64) {
    counted("ping", async {
        for round in 1..=rounds {
            if let Some(waker) = other.raise() {
                woke("ping", "pong");
                waker.wake();
            }
            own.reaches(round).await;
        }
    })
    .await;
}

async fn pong(own: Arc<Signal>, other: Arc<Signal>, rounds: u64) {
    counted("pong", async {
        for round in 1..=rounds {
            own.reaches(round).await;
            if let Some(waker) = other.raise() {
                woke("pong", "ping");
                // Only the first counts: the task is awake already.
                waker.wake_by_ref();
                waker.wake_by_ref();
                waker.wake();
            }
        }
    })
    .await;
}

/// Wakes itself while it is polled.
async fn restless(rounds: u64) {
    counted("restless", async {
        for _ in 0..rounds {
            let mut is_ready = false;
            poll_fn(|context| {
                if std::mem::replace(&mut is_ready, true) {
                    return Poll::Ready(());
                }
                woke("restless", "restless");
                context.waker().wake_by_ref();
                Poll::Pending
            })
            .await;
        }
    })
    .await;
}

/// Is woken by a thread that polls no task, each time that it waits.
async fn listener(signal: Arc<Signal>, rounds: u64) {
    counted("listener", async {
        for round in 1..=rounds {
            signal.reaches(round).await;
        }
    })
    .await;
}

/// Completes in its first poll, which blocks its thread.
async fn blocker(time: Duration) {
    counted("blocker", async {
        let begun = Instant::now();
        while begun.elapsed() < time {
            black_box(());
        }
    })
    .await;
}

/// Polls other tasks while it is polled.
async fn nest(rounds: u64) {
    counted("nest", async {
        let set = LocalSet::new();
        set.spawn_local(restless_inside(rounds));
        set.await;
    })
    .await;
}

async fn restless_inside(rounds: u64) {
    counted("restless_inside", async {
        for _ in 0..rounds {
            let mut is_ready = false;
            poll_fn(|context| {
                if std::mem::replace(&mut is_ready, true) {
                    return Poll::Ready(());
                }
                woke("restless_inside", "restless_inside");
                context.waker().wake_by_ref();
                Poll::Pending
            })
            .await;
        }
    })
    .await;
}

fn work(rounds: u64) {
    static RUNTIME: OnceLock<runtime::Runtime> = OnceLock::new();
    let runtime = RUNTIME.get_or_init(|| runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap());
    let [to_ping, to_pong, heard] = [(); 3].map(|()| Arc::new(Signal::default()));
    let mut tasks = vec![
        runtime.spawn(ping(to_ping.clone(), to_pong.clone(), rounds)),
        runtime.spawn(pong(to_pong, to_ping, rounds)),
        runtime.spawn(restless(rounds)),
        runtime.spawn(listener(heard.clone(), rounds)),
    ];
    tasks.extend((0..3).map(|_| runtime.spawn(blocker(Duration::from_millis(20)))));
    for _ in 0..rounds {
        while heard.waker.lock().unwrap_or_else(PoisonError::into_inner).is_none() {
            std::thread::yield_now();
        }
        if let Some(waker) = heard.raise() {
            woke("-", "listener");
            waker.wake();
        }
    }
    let local = runtime::Builder::new_current_thread().build().unwrap();
    let outer = LocalSet::new();
    outer.spawn_local(nest(rounds));
    local.block_on(outer);
    for task in tasks {
        runtime.block_on(task).unwrap();
    }
}

fn main() {
    let rounds = std::env::args().nth(1).map_or(100, |rounds| rounds.parse().expect("polls_truth [ROUNDS]"));
    let mut lines = std::io::stdin().lock().lines();
    println!("ready");
    if lines.next().is_none() {
        return;
    }
    work(rounds);
    truth(|truth| {
        for (name, (polls, busy)) in &truth.polls {
            println!("polls {name} {polls}");
            println!("busy {name} {busy}");
        }
        for ((waker, woken), count) in &truth.wakes {
            println!("wakes {waker} {woken} {count}");
        }
    });
    println!("done");
    // The rest of its input.
    lines.for_each(drop);
}
