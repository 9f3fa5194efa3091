//! Operations that find nothing to wait for, `waits OPERATION tokio|dyntrace COUNT`: prints the nanoseconds of CPU of one. Under
//! callgrind it shows their instructions. The operation `spawn` spawns a task and awaits it.

use std::env;
use std::hint::black_box;
use std::pin::Pin;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use tokio::runtime::Builder;

/// A task that does the operation `$count` times with the types of `$of`. Boxed, as tasks of programs are.
macro_rules! operations {
    ($of:ident, $operation:expr, $count:expr) => {{
        let count = $count;
        let operation: Pin<Box<dyn Future<Output = ()> + Send>> = match $operation {
            "mutex" => Box::pin(async move {
                let mutex = $of::sync::Mutex::new(0_u64);
                for number in 0..count {
                    *black_box(&mutex).lock().await += number;
                }
            }),
            "semaphore" => Box::pin(async move {
                let semaphore = $of::sync::Semaphore::new(3);
                for _ in 0..count {
                    drop(black_box(&semaphore).acquire().await);
                }
            }),
            "mpsc" => Box::pin(async move {
                let (sender, mut receiver) = $of::sync::mpsc::channel(64);
                for number in 0..count {
                    black_box(&sender).send(number).await.expect("it is open");
                    assert_eq!(receiver.try_recv(), Ok(number));
                }
            }),
            "sleep" => Box::pin(async move {
                for _ in 0..count {
                    $of::time::sleep(black_box(Duration::ZERO)).await;
                }
            }),
            "spawn" => Box::pin(async move {
                for number in 0..count {
                    let task = $of::task::spawn(async move { black_box(number) });
                    assert_eq!(task.await.expect("it does not panic"), number);
                }
            }),
            other => panic!("{other} is no operation"),
        };
        operation
    }};
}

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [operation, of, count] = &arguments[..] else { panic!("waits OPERATION tokio|dyntrace COUNT") };
    let count: u64 = count.parse().expect("a number");
    let runtime = Builder::new_current_thread().enable_time().build().expect("a runtime");
    let began = clock_gettime(ClockId::ProcessCPUTime);
    runtime.block_on(async {
        let task = match &**of {
            "tokio" => tokio::spawn(operations!(tokio, &**operation, count)),
            _ => dyntrace::spawn(operations!(dyntrace, &**operation, count)).into_inner(),
        };
        task.await.expect("it does not panic");
    });
    let ended = clock_gettime(ClockId::ProcessCPUTime);
    let spent = (ended.tv_sec - began.tv_sec) * 1_000_000_000 + (ended.tv_nsec - began.tv_nsec);
    println!("{:.2}", spent as f64 / count as f64);
}
