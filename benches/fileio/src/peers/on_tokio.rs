//! Tasks on one of tokio's runtimes.

use std::future::Future;
use std::io;

use tokio::runtime::Builder;
use tokio::task::JoinSet;

use crate::task::Task;

pub fn run<F>(mut builder: Builder, tasks: Vec<Task>, work: fn(Task) -> F) -> io::Result<u64>
where
    F: Future<Output = io::Result<u64>> + Send + 'static,
{
    builder.enable_all().build()?.block_on(async {
        let done = tasks.into_iter().map(work).collect::<JoinSet<_>>().join_all().await;
        done.into_iter().sum()
    })
}
