//! `tokio_uring::fs`, on its one thread. It has no function that reads a whole file.

use std::io;

use tokio_uring::fs::{self, File, OpenOptions};

use crate::files::{BLOCK, SMALL};
use crate::task::{Operation, Task};

pub fn run(tasks: Vec<Task>) -> io::Result<u64> {
    tokio_uring::start(async {
        let mut done = 0;
        for task in tasks.into_iter().map(work).map(tokio_uring::spawn).collect::<Vec<_>>() {
            done += task.await??;
        }
        Ok(done)
    })
}

async fn work(mut task: Task) -> io::Result<u64> {
    match task.operation {
        Operation::Pread => {
            let file = File::open(task.blocks()).await?;
            let mut buffer = vec![0; BLOCK];
            while task.goes_on() {
                let (answer, back) = file.read_exact_at(buffer, task.offset()).await;
                answer?;
                buffer = back;
            }
        }
        Operation::Pwrite => {
            let file = OpenOptions::new().write(true).open(task.blocks()).await?;
            let mut buffer = vec![7; BLOCK];
            while task.goes_on() {
                let (answer, back) = file.write_all_at(buffer, task.offset()).await;
                answer?;
                buffer = back;
            }
        }
        Operation::Ofc => {
            while task.goes_on() {
                let file = File::open(task.small()).await?;
                assert_eq!(file.statx().await?.stx_size, SMALL as u64);
                file.close().await?;
            }
        }
        Operation::Stat => {
            while task.goes_on() {
                assert_eq!(fs::statx(task.small()).await?.stx_size, SMALL as u64);
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
                let file = File::open(task.small()).await?;
                let length = file.statx().await?.stx_size as usize;
                let (answer, text) = file.read_exact_at(Vec::with_capacity(length), 0).await;
                answer?;
                assert_eq!(text.len(), SMALL);
                file.close().await?;
            }
        }
        Operation::Append | Operation::AppendShared => {
            let file = OpenOptions::new().append(true).create(true).open(task.tail()).await?;
            let mut buffer = vec![7; BLOCK];
            while task.goes_on() {
                let (answer, back) = file.write_all_at(buffer, 0).await;
                answer?;
                buffer = back;
                file.sync_data().await?;
            }
        }
    }
    Ok(task.done())
}
