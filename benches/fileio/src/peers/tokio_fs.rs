//! `tokio::fs`. It has no positional reads and writes, so a user seeks first.

use std::io::{self, SeekFrom};

use tokio::fs::{self, File, OpenOptions};
use tokio::io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt};

use crate::files::{BLOCK, SMALL};
use crate::task::{Operation, Task};

pub async fn run(mut task: Task) -> io::Result<u64> {
    match task.operation {
        Operation::Pread => {
            let mut file = File::open(task.blocks()).await?;
            let mut buffer = vec![0; BLOCK];
            while task.goes_on() {
                file.seek(SeekFrom::Start(task.offset())).await?;
                file.read_exact(&mut buffer).await?;
            }
        }
        Operation::Pwrite => {
            let mut file = OpenOptions::new().write(true).open(task.blocks()).await?;
            let buffer = vec![7; BLOCK];
            while task.goes_on() {
                file.seek(SeekFrom::Start(task.offset())).await?;
                file.write_all(&buffer).await?;
                // Only now the write has completed.
                file.flush().await?;
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
        Operation::Append | Operation::AppendShared => {
            let mut file = OpenOptions::new().append(true).create(true).open(task.tail()).await?;
            while task.goes_on() {
                file.write_all(&[7; BLOCK]).await?;
                file.sync_data().await?;
            }
        }
    }
    Ok(task.done())
}
