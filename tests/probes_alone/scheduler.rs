//! A scheduler at work: `scheduler [ROUNDS [THREADS]]` spawns tasks, lets them yield and pass messages, and prints how many were spawned.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use tokio::runtime::Builder;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

const TASKS: u64 = 1000;

static SPAWNED: AtomicU64 = AtomicU64::new(0);

fn spawn<F: Future<Output = ()> + Send + 'static>(future: F) -> JoinHandle<()> {
    SPAWNED.fetch_add(1, Relaxed);
    tokio::spawn(future)
}

async fn all(tasks: Vec<JoinHandle<()>>) {
    for task in tasks {
        task.await.unwrap();
    }
}

/// Each task spawns the next one.
fn chain(left: u64, end: oneshot::Sender<()>) {
    spawn(async move {
        match left {
            0 => end.send(()).unwrap(),
            _ => chain(left - 1, end),
        }
    });
}

async fn round() {
    all((0..TASKS).map(|_| spawn(async {})).collect()).await;
    let yields = async || {
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
    };
    all((0..TASKS / 10).map(|_| spawn(yields())).collect()).await;
    let ping_pong = || async {
        let (ping, pinged) = oneshot::channel();
        let (pong, ponged) = oneshot::channel();
        spawn(async move {
            pinged.await.unwrap();
            pong.send(()).unwrap();
        });
        ping.send(()).unwrap();
        ponged.await.unwrap();
    };
    all((0..TASKS / 2).map(|_| spawn(ping_pong())).collect()).await;
    let (end, ended) = oneshot::channel();
    chain(TASKS, end);
    ended.await.unwrap();
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|number| number.parse().expect("a number"));
    let rounds = arguments.next().unwrap_or(1);
    let runtime = match arguments.next() {
        None => Builder::new_current_thread().build(),
        Some(threads) => Builder::new_multi_thread().worker_threads(threads).build(),
    };
    let runtime = runtime.expect("a runtime");
    runtime.block_on(async {
        for _ in 0..rounds {
            spawn(round()).await.unwrap();
        }
    });
    drop(runtime);
    println!("{}", SPAWNED.load(Relaxed));
}
