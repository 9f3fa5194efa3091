//! The table of tasks has the waits for sockets, each with the socket's number, operation and place, and none that has ended.
#![cfg(all(not(dyntrace_without_probes), target_os = "linux", feature = "recorder"))]

#[path = "common/alone.rs"]
mod alone;

use std::env;
use std::fs::File;
use std::future::pending;
use std::path::PathBuf;
use std::process;
use std::time::Duration;

use dyntrace::net::UnixStream;
use dyntrace_task_table::{Table, Thing};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::mpsc::unbounded_channel;
use tokio::sync::oneshot;
use tokio::time::timeout;

/// The table is the whole program's, so this has a program of its own.
#[test]
fn the_table_has_the_waits_for_sockets() {
    alone::run_child("checked");
}

/// Returns the operation, the place and the resource for which the only task waits.
fn wait() -> Option<(String, String, Thing)> {
    let folder = PathBuf::from(env::var_os("XDG_RUNTIME_DIR").unwrap());
    let table = Table::read(&File::open(folder.join(format!("dyntrace/{}.tasks", process::id()))).unwrap()).unwrap();
    let [task] = &table.tasks[..] else { panic!("one task: {table:?}") };
    let wait = task.wait.clone()?;
    let site = wait.site.unwrap();
    Some((site.first.to_string(), site.second.to_string(), wait.resource))
}

#[test]
fn child() {
    if !alone::is_child() {
        return;
    }
    dyntrace::recorder::tasks().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let made = line!() + 1;
        let (mut one, mut other) = UnixStream::pair().unwrap();
        let (mut moved, mut writes) = UnixStream::pair().unwrap();
        let (said, mut hears) = unbounded_channel();
        let ((tell, told), (give, given)) = (oneshot::channel::<()>(), oneshot::channel());
        dyntrace::spawn(async move {
            let mut bread = [0; 3];
            one.read_exact(&mut bread).await.unwrap();
            said.send("read").unwrap();
            let (mut reads, _writes) = one.into_split();
            let gave_up = timeout(Duration::from_millis(1), reads.read(&mut bread)).await;
            assert!(gave_up.is_err());
            // Another wait takes the place of the one that was given up, which the next poll takes back.
            let baked = timeout(Duration::from_millis(1), dyntrace::wait("bread", pending::<()>())).await;
            assert!(baked.is_err());
            said.send("baked").unwrap();
            reads.read_exact(&mut bread).await.unwrap();
            let gave_up = timeout(Duration::from_millis(1), reads.read(&mut bread)).await;
            assert!(gave_up.is_err());
            drop(reads);
            said.send("gave up").unwrap();
            told.await.unwrap();
            let gave_up = timeout(Duration::from_millis(1), moved.read(&mut bread)).await;
            assert!(gave_up.is_err());
            give.send(moved).unwrap();
            pending::<()>().await
        });
        tokio::task::yield_now().await;
        let (kind, place, resource) = wait().unwrap();
        assert_eq!((&*kind, place), ("UnixStream::read", format!("tests/net_table.rs:{made}")));
        assert!(matches!(resource, Thing::Numbered(number) if number > 0), "{resource:?}");
        other.write_all(b"rye").await.unwrap();
        assert_eq!(hears.recv().await, Some("read"));
        let (kind, _, again) = wait().unwrap();
        assert_eq!((&*kind, again), ("UnixStream::read", resource));
        assert_eq!(hears.recv().await, Some("baked"));
        assert_eq!(wait().unwrap().0, "UnixStream::read");
        other.write_all(b"oat").await.unwrap();
        assert_eq!(hears.recv().await, Some("gave up"));
        assert_eq!(wait(), None);
        tell.send(()).unwrap();
        let mut moved = given.await.unwrap();
        assert_eq!(wait().unwrap().0, "UnixStream::read");
        // A poll outside of the task, which no longer reads.
        let mut bread = [0; 3];
        let gave_up = timeout(Duration::from_millis(1), moved.read(&mut bread)).await;
        assert!(gave_up.is_err());
        assert_eq!(wait(), None);
        writes.write_all(b"rye").await.unwrap();
        moved.read_exact(&mut bread).await.unwrap();
    });
    println!("checked");
}
