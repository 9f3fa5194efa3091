//! Tasks that wait for ever, `standing COUNT`: prints a line when all do, and ends with its standard input.

use std::env;
use std::future::pending;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::runtime::Builder;
use tokio::task::yield_now;

static WAIT: AtomicU64 = AtomicU64::new(0);

async fn stands() {
    WAIT.fetch_add(1, Ordering::Relaxed);
    pending().await
}

fn main() {
    let count: u64 = env::args().nth(1).and_then(|count| count.parse().ok()).expect("standing COUNT");
    let runtime = Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(async {
        for _ in 0..count {
            dyntrace::spawn(stands());
        }
        while WAIT.load(Ordering::Relaxed) < count {
            yield_now().await;
        }
    });
    println!("{count}");
    io::stdin().read_line(&mut String::new()).expect("standard input");
}
