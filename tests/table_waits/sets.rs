//! Waits for the tasks of sets.

use std::future::pending;

use dyntrace::process::current;
use dyntrace::task::JoinSet;
use dyntrace_task_table::Thing;
use tokio::sync::mpsc::unbounded_channel;
use tokio::sync::oneshot;

use super::{turns, wait};

pub async fn joined() {
    let (said, mut hears) = unbounded_channel();
    let (told, telling): (Vec<_>, Vec<_>) =
        (0..3).map(|_| oneshot::channel::<()>()).map(|(tell, told)| (told, tell)).unzip();
    let mut telling: Vec<_> = telling.into_iter().map(Some).collect();
    let line = line!() + 10;
    let task = dyntrace::spawn(async move {
        let mut set = JoinSet::new();
        for told in told {
            let said = said.clone();
            set.spawn(async move {
                said.send(current()).unwrap();
                told.await.unwrap();
            });
        }
        while set.join_next().await.is_some() {}
        pending::<()>().await
    });
    turns().await;
    let pids = [hears.recv().await.unwrap(), hears.recv().await.unwrap(), hears.recv().await.unwrap()];
    let mut end = |number: usize| telling[number].take().unwrap().send(()).unwrap();
    // The process that was started first; each that ends makes the set wait anew.
    for (ends, waited) in [(None, Some(0)), (Some(1), Some(0)), (Some(0), Some(2)), (Some(2), None)] {
        if let Some(number) = ends {
            end(number);
            turns().await;
        }
        let Some(number) = waited else {
            assert_eq!(wait(task.pid()), None);
            continue;
        };
        let (kind, place, resource) = wait(task.pid()).unwrap();
        assert_eq!((&*kind, place), ("task::JoinSet::join_next", format!("tests/table_waits/sets.rs:{line}")));
        let pid: &dyntrace::process::Pid = &pids[number];
        let Thing::Process(process) = resource else { panic!("{resource:?}") };
        assert_eq!(format!("<0.{process}.0>"), pid.to_string());
    }
}
