//! Polls of a task on one thread, `polls [tokio] COUNT`: a process of dyntrace's or, as a yardstick, a plain task. It prints the
//! nanoseconds of CPU of one. Under callgrind, with probes and without, it shows the cost of the disabled probes of a poll.

use std::env;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

use rustix::time::{ClockId, clock_gettime};
use tokio::runtime::Builder;

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let count: u64 = arguments.last().and_then(|count| count.parse().ok()).expect("polls [tokio] COUNT");
    let mut left = count;
    // Wakes itself and waits: nothing but the polls themselves is counted. Boxed, as the compiler would otherwise make no waker at all,
    // which it must for futures that keep one.
    let waits: Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(poll_fn(move |context| {
        if left == 0 {
            return Poll::Ready(());
        }
        left -= 1;
        context.waker().wake_by_ref();
        Poll::Pending
    }));
    let runtime = Builder::new_current_thread().build().expect("a runtime");
    let began = clock_gettime(ClockId::ProcessCPUTime);
    runtime.block_on(async {
        let task = if arguments.len() > 1 { tokio::spawn(waits) } else { dyntrace::spawn(waits).into_inner() };
        task.await.expect("it does not panic");
    });
    let ended = clock_gettime(ClockId::ProcessCPUTime);
    let spent = (ended.tv_sec - began.tv_sec) * 1_000_000_000 + (ended.tv_nsec - began.tv_nsec);
    println!("{:.2}", spent as f64 / count as f64);
}
