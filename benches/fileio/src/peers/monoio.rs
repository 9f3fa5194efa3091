//! `monoio::fs` by io_uring, on one thread.

use std::io;

use monoio::fs::{self, File, OpenOptions};
use monoio::{IoUringDriver, RuntimeBuilder};

use crate::files::{BLOCK, SMALL};
use crate::task::{Operation, Task};

pub fn run(tasks: Vec<Task>) -> io::Result<u64> {
    RuntimeBuilder::<IoUringDriver>::new().build()?.block_on(async {
        let mut done = 0;
        for task in tasks.into_iter().map(work).map(monoio::spawn).collect::<Vec<_>>() {
            done += task.await?;
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
