//! std's functions inside `spawn_blocking`, one call for each operation.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use tokio::task::spawn_blocking;

use crate::files::{BLOCK, SMALL};
use crate::task::{Operation, Task};

pub async fn run(mut task: Task) -> io::Result<u64> {
    match task.operation {
        Operation::Pread => {
            let file = Arc::new(File::open(task.blocks())?);
            let mut buffer = vec![0; BLOCK];
            while task.goes_on() {
                let (file, offset) = (Arc::clone(&file), task.offset());
                let read = move || file.read_exact_at(&mut buffer, offset).map(|()| buffer);
                buffer = spawn_blocking(read).await??;
            }
        }
        Operation::Pwrite => {
            let file = Arc::new(OpenOptions::new().write(true).open(task.blocks())?);
            let mut buffer = vec![7; BLOCK];
            while task.goes_on() {
                let (file, offset) = (Arc::clone(&file), task.offset());
                let write = move || file.write_all_at(&buffer, offset).map(|()| buffer);
                buffer = spawn_blocking(write).await??;
            }
        }
        Operation::Ofc => {
            while task.goes_on() {
                let path = task.small().to_owned();
                let metadata = spawn_blocking(|| File::open(path)?.metadata()).await??;
                assert_eq!(metadata.len(), SMALL as u64);
            }
        }
        Operation::Stat => {
            while task.goes_on() {
                let path = task.small().to_owned();
                assert_eq!(spawn_blocking(|| fs::metadata(path)).await??.len(), SMALL as u64);
            }
        }
        Operation::Rename => {
            while task.goes_on() {
                let (from, to) = task.names();
                let (from, to) = (from.to_owned(), to.to_owned());
                spawn_blocking(|| fs::rename(from, to)).await??;
            }
        }
        Operation::Readfile => {
            while task.goes_on() {
                let path = task.small().to_owned();
                assert_eq!(spawn_blocking(|| fs::read(path)).await??.len(), SMALL);
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
                spawn_blocking(append).await??;
            }
        }
    }
    Ok(task.done())
}
