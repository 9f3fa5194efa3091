//! Measurements on this machine, in nanoseconds of CPU time: all of each is done by the thread that asks for it.

use std::fs::File as StdFile;
use std::hint::black_box;
use std::io;
use std::time::Duration;

use dyntrace::aio_pool::{Fault, Job, Pool, Port};
use dyntrace::fs::File;

const ROUNDS: usize = 5;
const OPERATIONS: u32 = 200_000;

/// A read of 4 KiB from the page cache, by a task.
pub fn cached_read() -> io::Result<f64> {
    let (_folder, path) = file()?;
    on_runtime(async {
        let file = File::open(&path).await?;
        let mut buffer = vec![0; 4096];
        let began = cpu_time();
        for _ in 0..OPERATIONS {
            let (count, back) = file.read_at(buffer, 0).await;
            assert_eq!(count?, 4096);
            buffer = back;
        }
        Ok(each(began))
    })
}

/// The same of a file that is opened and closed.
pub fn open_and_close() -> io::Result<f64> {
    let (_folder, path) = file()?;
    on_runtime(async {
        let began = cpu_time();
        for _ in 0..OPERATIONS {
            drop(File::open(&path).await?);
        }
        Ok(each(began))
    })
}

/// A job that does nothing, submitted and run by one thread: all of this but the allocation may be under the pool's lock.
pub fn job() -> f64 {
    struct Nothing;

    impl Job for Nothing {
        type Output = ();

        fn run(&mut self) {}

        fn settle(&mut self, _: Result<&(), &Fault>) {}
    }

    let (pool, port) = (Pool::builder().threads(0).build(), Port::new());
    median(|| {
        let began = cpu_time();
        for _ in 0..OPERATIONS {
            drop(black_box(pool.submit(port, Nothing)));
            pool.run_one();
        }
        each(began)
    })
}

fn each(began: Duration) -> f64 {
    (cpu_time() - began).as_nanos() as f64 / f64::from(OPERATIONS)
}

fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

fn median(mut measure: impl FnMut() -> f64) -> f64 {
    let mut all: [f64; ROUNDS] = std::array::from_fn(|_| measure());
    all.sort_by(f64::total_cmp);
    all[ROUNDS / 2]
}

fn file() -> io::Result<(tempfile::TempDir, std::path::PathBuf)> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("file");
    std::fs::write(&path, [7; 4096])?;
    StdFile::open(&path)?.sync_all()?;
    Ok((folder, path))
}

fn on_runtime(operations: impl Future<Output = io::Result<f64>>) -> io::Result<f64> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(operations)
}
