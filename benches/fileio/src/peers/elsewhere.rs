//! std's functions on other threads, one call for each operation.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use tokio::task;

use crate::files::{BLOCK, SMALL};
use crate::task::{Operation, Task};

/// Threads that a task has something done on.
pub trait Threads {
    fn call<R: Send + 'static>(work: impl FnOnce() -> R + Send + 'static) -> impl Future<Output = R> + Send;
}

/// Those of `spawn_blocking`.
pub struct Blocking;

impl Threads for Blocking {
    async fn call<R: Send + 'static>(work: impl FnOnce() -> R + Send + 'static) -> R {
        task::spawn_blocking(work).await.expect("no operation panics")
    }
}

pub async fn run<T: Threads>(mut task: Task) -> io::Result<u64> {
    match task.operation {
        Operation::Pread => {
            let file = Arc::new(File::open(task.blocks())?);
            let mut buffer = vec![0; BLOCK];
            while task.goes_on() {
                let (file, offset) = (Arc::clone(&file), task.offset());
                let read = move || file.read_exact_at(&mut buffer, offset).map(|()| buffer);
                buffer = T::call(read).await?;
            }
        }
        Operation::Pwrite => {
            let file = Arc::new(OpenOptions::new().write(true).open(task.blocks())?);
            let mut buffer = vec![7; BLOCK];
            while task.goes_on() {
                let (file, offset) = (Arc::clone(&file), task.offset());
                let write = move || file.write_all_at(&buffer, offset).map(|()| buffer);
                buffer = T::call(write).await?;
            }
        }
        Operation::Ofc => {
            while task.goes_on() {
                let path = task.small().to_owned();
                let metadata = T::call(|| File::open(path)?.metadata()).await?;
                assert_eq!(metadata.len(), SMALL as u64);
            }
        }
        Operation::Stat => {
            while task.goes_on() {
                let path = task.small().to_owned();
                assert_eq!(T::call(|| fs::metadata(path)).await?.len(), SMALL as u64);
            }
        }
        Operation::Rename => {
            while task.goes_on() {
                let (from, to) = task.names();
                let (from, to) = (from.to_owned(), to.to_owned());
                T::call(|| fs::rename(from, to)).await?;
            }
        }
        Operation::Readfile => {
            while task.goes_on() {
                let path = task.small().to_owned();
                assert_eq!(T::call(|| fs::read(path)).await?.len(), SMALL);
            }
        }
        Operation::Append | Operation::AppendShared => {
            let file = Arc::new(OpenOptions::new().append(true).create(true).open(task.tail())?);
            while task.goes_on() {
                let file = Arc::clone(&file);
                let append = move || {
                    (&*file).write_all(&[7; BLOCK])?;
                    file.sync_data()
                };
                T::call(append).await?;
            }
        }
    }
    Ok(task.done())
}
