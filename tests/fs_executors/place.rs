//! Places of polling: the runtimes, and places in and beside them.

use std::sync::mpsc::channel;
use std::thread;

use tokio::runtime::{self, Builder, Handle};
use tokio::task::LocalSet;

use super::poller::Poller;
use super::way::Way;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Runtime {
    None,
    CurrentThread,
    /// With this number of workers.
    MultiThread(usize),
    LocalSet,
    /// A `current_thread` one on a blocking thread of another.
    Nested,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Place {
    /// A task for each worker, all at once.
    Task,
    /// The future that the runtime's `block_on` polls.
    Root,
    /// On the runtime's blocking thread, while no thread drives the runtime.
    SpawnBlocking,
    /// A thread that has entered the runtime, if there is one, while no thread drives it.
    PlainThread,
    /// The same after the runtime has ended.
    AfterShutdown,
    /// A task that holds the `enter` guard of another runtime, which no thread drives.
    ForeignGuard,
    /// A local set in a task, driven by another executor.
    LocalSetInTask,
}

impl Runtime {
    pub const ALL: [Runtime; 6] = [
        Runtime::None,
        Runtime::CurrentThread,
        Runtime::MultiThread(1),
        Runtime::MultiThread(2),
        Runtime::LocalSet,
        Runtime::Nested,
    ];

    pub fn places(self) -> &'static [Place] {
        match self {
            Runtime::None => &[Place::PlainThread],
            Runtime::LocalSet => &[Place::Task, Place::Root, Place::ForeignGuard],
            _ => &[
                Place::Task,
                Place::Root,
                Place::SpawnBlocking,
                Place::PlainThread,
                Place::AfterShutdown,
                Place::LocalSetInTask,
            ],
        }
    }

    fn workers(self) -> usize {
        match self {
            Runtime::MultiThread(workers) => workers,
            _ => 1,
        }
    }

    fn build(self) -> runtime::Runtime {
        match self {
            Runtime::MultiThread(workers) => Builder::new_multi_thread().worker_threads(workers).enable_all().build(),
            _ => Builder::new_current_thread().enable_all().build(),
        }
        .unwrap()
    }
}

pub fn enter(runtime: Runtime, place: Place, poller: Poller, way: Way) {
    match runtime {
        Runtime::None => poller.on_thread(way, None),
        Runtime::LocalSet => in_local_set(place, poller, way),
        Runtime::Nested => {
            let outer = Runtime::MultiThread(1).build();
            let inner = outer.spawn_blocking(move || in_runtime(Runtime::CurrentThread, place, poller, way));
            outer.block_on(inner).unwrap();
        }
        _ => in_runtime(runtime, place, poller, way),
    }
}

fn in_runtime(kind: Runtime, place: Place, poller: Poller, way: Way) {
    let runtime = kind.build();
    match place {
        Place::Task => runtime.block_on(async {
            let tasks: Vec<_> = (0..kind.workers()).map(|_| tokio::spawn(poller.in_task(way))).collect();
            for task in tasks {
                task.await.unwrap();
            }
        }),
        Place::Root => runtime.block_on(poller.in_task(way)),
        Place::SpawnBlocking => {
            let (told, ended) = channel();
            runtime.spawn_blocking(move || {
                poller.on_thread(way, Some(&Handle::current()));
                let _ = told.send(());
            });
            ended.recv().unwrap();
        }
        Place::PlainThread => on_plain_thread(runtime.handle().clone(), poller, way),
        Place::AfterShutdown => {
            let handle = runtime.handle().clone();
            drop(runtime);
            on_plain_thread(handle, poller, way);
        }
        Place::LocalSetInTask => runtime.block_on(async {
            let task = tokio::spawn(async move {
                let local = LocalSet::new();
                pollster::block_on(local.run_until(async {
                    tokio::task::spawn_local(poller.in_task(way)).await.unwrap();
                }));
            });
            task.await.unwrap();
        }),
        Place::ForeignGuard => unreachable!("for local sets"),
    }
}

fn on_plain_thread(handle: Handle, poller: Poller, way: Way) {
    thread::spawn(move || {
        let _guard = handle.enter();
        poller.on_thread(way, Some(&handle));
    })
    .join()
    .unwrap();
}

fn in_local_set(place: Place, poller: Poller, way: Way) {
    let (runtime, other) = (Runtime::CurrentThread.build(), Runtime::CurrentThread.build());
    let local = LocalSet::new();
    match place {
        Place::Root => local.block_on(&runtime, poller.in_task(way)),
        _ => local.block_on(&runtime, async {
            let task = tokio::task::spawn_local(async move {
                let _guard = (place == Place::ForeignGuard).then(|| other.enter());
                poller.in_task(way).await;
                drop(_guard);
                other.shutdown_background();
            });
            task.await.unwrap();
        }),
    }
}
