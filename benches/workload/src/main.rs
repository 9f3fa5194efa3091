//! Runs file operations on one thread only. Under callgrind, with the feature `probes` on and off, it shows the cost of disabled
//! probes. The pool has no threads and runs all operations, so the count is deterministic: inline answers depend on times.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use dyntrace::aio_pool::Pool;
use dyntrace::efile::{Driver, Inline};
use dyntrace::fs;

const PASSES: usize = 2000;

fn main() -> std::io::Result<()> {
    let pool = Pool::builder().threads(0).build();
    Driver::install(Driver::new(pool.clone()).inline(Inline::Off)).expect("no file operation ran before");
    let dir = tempfile::tempdir()?;
    let (one, other) = (dir.path().join("one"), dir.path().join("other"));
    let text = "a line of some words\n".repeat(200);
    run(&pool, async {
        fs::write(&one, &text).await?;
        for _ in 0..PASSES {
            fs::rename(&one, &other).await?;
            fs::rename(&other, &one).await?;
            fs::metadata(&one).await?;
            let file = fs::File::open(&one).await?;
            file.read_at(vec![0; 4096], 0).await.0?;
            file.close().await?;
            dyntrace::p!(1, 2, "pass");
        }
        Ok(())
    })
}

/// Polls `future` to its end, and runs the pool's jobs in between.
fn run<T>(pool: &Pool, future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(answer) = future.as_mut().poll(&mut context) {
            return answer;
        }
        while pool.run_one() {}
    }
}
