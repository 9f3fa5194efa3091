//! `compio::fs` by io_uring, on one thread.

use std::io;

use compio::BufResult;
use compio::fs::{self, File, OpenOptions};
use compio::io::{AsyncReadAtExt, AsyncWriteAtExt};
use compio::runtime::{self, Runtime};
use nix::libc::O_APPEND;

use crate::files::{BLOCK, SMALL};
use crate::task::{Operation, Task};

pub fn run(tasks: Vec<Task>) -> io::Result<u64> {
    Runtime::new()?.block_on(async {
        let mut done = 0;
        for task in tasks.into_iter().map(work).map(runtime::spawn).collect::<Vec<_>>() {
            done += task.await.map_err(|_| io::Error::other("a task panicked"))??;
        }
        Ok(done)
    })
}

async fn work(mut task: Task) -> io::Result<u64> {
    match task.operation {
        Operation::Pread => {
            let file = File::open(task.blocks()).await?;
            let mut buffer = Vec::with_capacity(BLOCK);
            while task.goes_on() {
                buffer.clear();
                let BufResult(answer, back) = file.read_exact_at(buffer, task.offset()).await;
                answer?;
                buffer = back;
            }
        }
        Operation::Pwrite => {
            let mut file = OpenOptions::new().write(true).open(task.blocks()).await?;
            let mut buffer = vec![7; BLOCK];
            while task.goes_on() {
                let BufResult(answer, back) = file.write_all_at(buffer, task.offset()).await;
                answer?;
                buffer = back;
            }
        }
        Operation::Ofc => {
            while task.goes_on() {
                let file = File::open(task.small()).await?;
                assert_eq!(file.metadata().await?.len(), SMALL as u64);
                file.close().await?;
            }
        }
        Operation::Stat => {
            while task.goes_on() {
                assert_eq!(fs::metadata(task.small()).await?.len(), SMALL as u64);
            }
        }
        Operation::Rename => {
            while task.goes_on() {
                let (from, to) = task.names();
                fs::rename(from, to).await?;
            }
        }
        Operation::Readfile => {
            while task.goes_on() {
                assert_eq!(fs::read(task.small()).await?.len(), SMALL);
            }
        }
        Operation::Append | Operation::AppendShared => {
            let options = OpenOptions::new().write(true).create(true).custom_flags(O_APPEND).clone();
            let mut file = options.open(task.tail()).await?;
            let mut buffer = vec![7; BLOCK];
            while task.goes_on() {
                let BufResult(answer, back) = file.write_all_at(buffer, 0).await;
                answer?;
                buffer = back;
                file.sync_data().await?;
            }
        }
    }
    Ok(task.done())
}
