//! Own time: the time of calls without the timed calls inside them.

use std::panic::catch_unwind;
use std::time::Duration;

use dyntrace::trace::{Limits, Session};
use dyntrace::traced;
use tokio::sync::oneshot::{self, Receiver};

fn spin(time: Duration) {
    let begun = std::time::Instant::now();
    while begun.elapsed() < time {
        std::hint::spin_loop();
    }
}

#[traced]
fn leaf(deep: u32) {
    spin(Duration::from_micros(300));
    if deep > 0 {
        leaf(deep - 1);
    }
}

#[traced]
fn branch() {
    spin(Duration::from_micros(200));
    leaf(2);
    let _ = catch_unwind(|| {
        leaf(0);
        panic!("on the way");
    });
}

#[traced]
async fn branches(waits: Receiver<()>) {
    branch();
    waits.await.unwrap();
    let inner = async { leaf_later().await };
    inner.await;
}

#[traced]
async fn leaf_later() {
    tokio::task::yield_now().await;
    spin(Duration::from_millis(2));
}

/// In every way of timing calls: alone, with a return event, and with a call event.
#[tokio::test]
async fn own_time_is_what_is_left_of_the_time() {
    for actions in ["silent, time", "silent, time, return", "time, caller"] {
        let session = Session::start(Limits::default(), |_| ()).unwrap();
        for function in ["branch", "branches", "leaf", "leaf_later"] {
            session.set(&format!("**::own_time::{function} do {actions}")).await.unwrap();
        }
        let (tell, told) = oneshot::channel();
        // On the same thread, so that the function waits for all of this time.
        let teller = tokio::spawn(async {
            std::thread::sleep(Duration::from_millis(20));
            tell.send(())
        });
        branches(told).await;
        teller.await.unwrap().unwrap();
        let [branch, branches, leaf, later] = session.counts()[..] else { panic!("{:?}", session.counts()) };
        assert!(leaf.function.name.ends_with("::leaf/1") && later.function.name.ends_with("::leaf_later/0"));
        // The function calls itself: `time` includes inner calls at every level, `own_time` counts each once.
        assert!(
            leaf.own_time >= Duration::from_micros(4 * 300) && leaf.time >= leaf.own_time + Duration::from_micros(900)
        );
        let left = branch.time - leaf.own_time;
        assert!(left.abs_diff(branch.own_time) <= Duration::from_micros(1), "{left:?} of {branch:?}, {leaf:?}");
        // Own time leaves out waits and the polls of other functions.
        assert!(branches.time >= Duration::from_millis(20) + branch.time, "{branches:?}");
        assert!(branches.own_time < branches.time - branch.time - Duration::from_millis(20), "{branches:?}");
        assert!(later.own_time >= Duration::from_millis(2) && later.own_time <= later.time, "{later:?}");
    }
}
