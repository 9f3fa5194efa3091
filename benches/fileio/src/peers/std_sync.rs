//! std's functions and no runtime.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::FileExt;

use crate::files::{BLOCK, SMALL};
use crate::task::{Operation, Task};
use crate::threads::on_cores;

pub fn run(tasks: Vec<Task>) -> io::Result<u64> {
    on_cores(tasks, work)
}

pub fn work(mut task: Task) -> io::Result<u64> {
    match task.operation {
        Operation::Pread => {
            let file = File::open(task.blocks())?;
            let mut buffer = vec![0; BLOCK];
            while task.goes_on() {
                file.read_exact_at(&mut buffer, task.offset())?;
            }
        }
        Operation::Pwrite => {
            let file = OpenOptions::new().write(true).open(task.blocks())?;
            let buffer = vec![7; BLOCK];
            while task.goes_on() {
                file.write_all_at(&buffer, task.offset())?;
            }
        }
        Operation::Ofc => {
            while task.goes_on() {
                assert_eq!(File::open(task.small())?.metadata()?.len(), SMALL as u64);
            }
        }
        Operation::Stat => {
            while task.goes_on() {
                assert_eq!(fs::metadata(task.small())?.len(), SMALL as u64);
            }
        }
        Operation::Rename => {
            while task.goes_on() {
                let (from, to) = task.names();
                fs::rename(from, to)?;
            }
        }
        Operation::Readfile => {
            while task.goes_on() {
                assert_eq!(fs::read(task.small())?.len(), SMALL);
            }
        }
        Operation::Append | Operation::AppendShared => {
            let mut file = OpenOptions::new().append(true).create(true).open(task.tail())?;
            while task.goes_on() {
                file.write_all(&[7; BLOCK])?;
                file.sync_data()?;
            }
        }
    }
    Ok(task.done())
}
