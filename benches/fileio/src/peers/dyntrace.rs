//! `dyntrace::fs` with default settings.

use std::io;

use dyntrace::aio_pool::Pool;
use dyntrace::efile::{Driver, Inline};
use dyntrace::fs::{self, File, OpenOptions};
use tokio::io::AsyncWriteExt;
use tokio::sync::OnceCell;

use crate::files::{BLOCK, SMALL};
use crate::task::{Operation, Task};

/// Sets which operations try the caches before the pool.
pub fn install(inline: Inline) {
    let driver = Driver::new(Pool::builder().build()).inline(inline);
    Driver::install(driver).expect("no file operation ran before");
}

pub async fn run(mut task: Task) -> io::Result<u64> {
    match task.operation {
        Operation::Pread => {
            let file = File::open(task.blocks()).await?;
            let mut buffer = vec![0; BLOCK];
            while task.goes_on() {
                let (count, back) = file.read_at(buffer, task.offset()).await;
                assert_eq!(count?, BLOCK);
                buffer = back;
            }
        }
        Operation::Pwrite => {
            let file = OpenOptions::new().write(true).open(task.blocks()).await?;
            let mut buffer = vec![7; BLOCK];
            while task.goes_on() {
                let (count, back) = file.write_at(buffer, task.offset()).await;
                assert_eq!(count?, BLOCK);
                buffer = back;
            }
        }
        Operation::Ofc => {
            while task.goes_on() {
                let file = File::open(task.small()).await?;
                assert_eq!(file.metadata().await?.len(), SMALL as u64);
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
        Operation::Append => {
            let mut file = OpenOptions::new().append(true).create(true).open(task.tail()).await?;
            while task.goes_on() {
                file.write_all(&[7; BLOCK]).await?;
                file.sync_data().await?;
            }
        }
        Operation::AppendShared => {
            // One open file for all tasks, as `write_at` allows, so that syncs share system calls.
            static FILE: OnceCell<File> = OnceCell::const_new();
            let open = || async { OpenOptions::new().append(true).create(true).open(task.tail()).await };
            let file = FILE.get_or_try_init(open).await?;
            let mut buffer = vec![7; BLOCK];
            while task.goes_on() {
                // On Linux, a file opened for appending ignores the offset.
                let (count, back) = file.write_at(buffer, 0).await;
                assert_eq!(count?, BLOCK);
                buffer = back;
                file.sync_data().await?;
            }
        }
    }
    Ok(task.done())
}
