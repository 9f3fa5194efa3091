//! Process filters of sessions.

use dyntrace::process::{self, Processes};
use dyntrace::traced;
use tokio::sync::oneshot;

use crate::support::Watch;

#[traced]
fn worked(number: u32) -> u32 {
    number + 1
}

/// Starts a process that waits. Returns its pid, and a function that lets it run.
async fn waiting(number: u32) -> (process::Pid, impl AsyncFnOnce()) {
    let (tell, told) = oneshot::channel();
    let (go, gate) = oneshot::channel::<()>();
    let task = dyntrace::spawn(async move {
        tell.send(process::current()).unwrap();
        gate.await.unwrap();
        worked(number);
    });
    let work = async move || {
        go.send(()).unwrap();
        task.await.unwrap();
    };
    (told.await.unwrap(), work)
}

#[tokio::test]
async fn those_that_exist_those_that_come_and_one_that_is_left_out() {
    let watch = Watch::on("**::processes::worked").await;
    let (first, work_first) = waiting(1).await;
    let (second, work_second) = waiting(2).await;
    assert_eq!(watch.session.info().processes, Processes::all());
    watch.session.exclude(first).await;
    let (third, work_third) = waiting(3).await;
    work_first().await;
    work_second().await;
    watch.session.exclude(Processes::existing()).await;
    work_third().await;
    let (_, work_fourth) = waiting(4).await;
    work_fourth().await;
    watch.session.include(third).await;
    let processes = watch.session.info().processes;
    assert!(processes.contains(third) && !processes.contains(first) && !processes.contains(second));
    let (events, _) = watch.end().await;
    let told: Vec<_> = events.iter().map(|event| &*event.text).collect();
    assert_eq!(told, ["2", "4"]);
}

#[tokio::test]
async fn those_that_are_named_first_are_the_only_ones() {
    let watch = Watch::on("**::processes::worked").await;
    let (first, work_first) = waiting(1).await;
    let (_, work_second) = waiting(2).await;
    watch.session.include(first).await;
    work_first().await;
    work_second().await;
    watch.session.include(Processes::to_come()).await;
    let (_, work_third) = waiting(3).await;
    work_third().await;
    let (events, info) = watch.end().await;
    assert_eq!(events.iter().map(|event| &*event.text).collect::<Vec<_>>(), ["1", "3"]);
    assert!(info.processes.to_string().starts_with(&format!("{first}, all from ")), "{}", info.processes);
}
