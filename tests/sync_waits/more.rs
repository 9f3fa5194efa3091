//! Barriers, cells, `watch` and `broadcast`.

use std::future::ready;

use dyntrace::sync::{Barrier, OnceCell, SetOnce, broadcast, watch};

use super::*;

const ALL: &[&str] = &["process-wait", "process-resume", "resource-*"];

#[test]
fn each_wait_of_cells_and_channels_has_its_kind() {
    let lines = seen(WAITS, || {
        on_a_runtime(async || {
            let barrier = Barrier::new(2);
            assert!(!poll(pin!(barrier.wait())));
            // The last one does not wait.
            assert!(poll(pin!(barrier.wait())));
            let cell = SetOnce::new();
            assert!(!poll(pin!(cell.wait())));
            cell.set(1).unwrap();
            assert!(poll(pin!(cell.wait())));
            let (sender, mut receiver) = watch::channel(1);
            assert!(!poll(pin!(receiver.changed())));
            assert!(!poll(pin!(receiver.wait_for(|value| *value > 1))));
            assert!(!poll(pin!(sender.closed())));
            sender.send(2).unwrap();
            assert!(poll(pin!(receiver.changed())));
            assert!(!receiver.is_closed());
            drop(sender);
            assert!(poll(pin!(receiver.changed())) && receiver.is_closed());
            let (sender, mut receiver) = broadcast::channel(1);
            assert!(!poll(pin!(receiver.recv())));
            assert!(!poll(pin!(sender.closed())));
            sender.send(1).unwrap();
            assert!(poll(pin!(receiver.recv())));
        });
    });
    assert_eq!(
        kinds(&lines),
        [
            "Barrier::wait",
            "cancelled",
            "SetOnce::wait",
            "cancelled",
            "watch::Receiver::changed",
            "cancelled",
            "watch::Receiver::wait_for",
            "cancelled",
            "watch::Sender::closed",
            "cancelled",
            "broadcast::Receiver::recv",
            "cancelled",
            "broadcast::Sender::closed",
            "cancelled",
        ]
    );
}

#[test]
fn a_barrier_tells_all_waits_but_the_last() {
    let mut made = 0;
    let mut lines = seen(ALL, || {
        on_a_runtime(async || {
            made = line!() + 1;
            let barrier = Arc::new(Barrier::named("kneaded", 3));
            let tasks = [(); 2].map(|()| {
                let barrier = Arc::clone(&barrier);
                dyntrace::spawn(async move { barrier.wait().await.is_leader() })
            });
            yield_now().await;
            assert!(barrier.wait().await.is_leader());
            for task in tasks {
                assert!(!task.await.unwrap());
            }
        });
    });
    // In either order.
    lines[4..6].sort();
    assert_eq!(
        lines,
        [
            format!("resource-new #1 Barrier kneaded tests/sync_waits/more.rs:{made}"),
            format!("process-wait A #1 Barrier::wait tests/sync_waits/more.rs:{}", made + 3),
            format!("process-wait B #1 Barrier::wait tests/sync_waits/more.rs:{}", made + 3),
            format!("process-wait C A task::JoinHandle tests/sync_waits/more.rs:{}", made + 3),
            format!("process-resume A #1 TIME ready Barrier::wait tests/sync_waits/more.rs:{}", made + 3),
            format!("process-resume B #1 TIME ready Barrier::wait tests/sync_waits/more.rs:{}", made + 3),
            format!("process-resume C A TIME ready task::JoinHandle tests/sync_waits/more.rs:{}", made + 3),
            "resource-drop #1 Barrier".to_owned(),
        ]
    );
}

/// The task that makes the value waits for other things, and not for the cell.
#[test]
fn a_cell_tells_the_waits_for_values_of_others() {
    let mut made = 0;
    let lines = seen(ALL, || {
        on_a_runtime(async || {
            made = line!() + 1;
            let cell = Arc::new(OnceCell::named("config"));
            let (disk, reads) = tokio::sync::oneshot::channel();
            let makes = dyntrace::spawn({
                let cell = Arc::clone(&cell);
                async move { *cell.get_or_init(async || dyntrace::wait("disk", reads).await.unwrap()).await }
            });
            yield_now().await;
            let waits = dyntrace::spawn({
                let cell = Arc::clone(&cell);
                async move { *cell.get_or_init(async || 8).await }
            });
            yield_now().await;
            disk.send(7).unwrap();
            assert_eq!((makes.await.unwrap(), waits.await.unwrap()), (7, 7));
            assert_eq!(cell.get_or_try_init(|| ready(Err(()))).await, Ok(&7));
        });
    });
    assert_eq!(
        lines,
        [
            format!("resource-new #1 OnceCell config tests/sync_waits/more.rs:{made}"),
            format!("process-wait A disk wait tests/sync_waits/more.rs:{}", made + 4),
            format!("process-wait B #1 OnceCell::get_or_init tests/sync_waits/more.rs:{}", made + 9),
            format!("process-wait C A task::JoinHandle tests/sync_waits/more.rs:{}", made + 2),
            format!("process-resume A disk TIME ready wait tests/sync_waits/more.rs:{}", made + 4),
            format!("process-resume B #1 TIME ready OnceCell::get_or_init tests/sync_waits/more.rs:{}", made + 9),
            format!("process-resume C A TIME ready task::JoinHandle tests/sync_waits/more.rs:{}", made + 2),
            "resource-drop #1 OnceCell".to_owned(),
        ]
    );
}

/// A task whose wait ends because the other one has failed waits for its own future then.
#[test]
fn a_wait_ends_when_the_value_is_this_tasks_to_make() {
    let lines = seen(WAITS, || {
        let cell = OnceCell::new();
        let (answers, answer) = tokio::sync::oneshot::channel::<u32>();
        let mut fails = Box::pin(cell.get_or_try_init(|| dyntrace::wait("other", answer)));
        assert!(!poll(fails.as_mut()));
        let mut makes = Box::pin(cell.get_or_init(|| dyntrace::wait("own", std::future::pending())));
        assert!(!poll(makes.as_mut()));
        drop(answers);
        assert!(poll(fails.as_mut()));
        drop(fails);
        assert!(!poll(makes.as_mut()));
        drop(makes);
        assert!(cell.set(7).is_ok());
    });
    assert_eq!(kinds(&lines), ["wait", "OnceCell::get_or_init", "ready", "ready", "wait", "cancelled"]);
}

#[test]
fn cells_in_constants_are_told_with_their_first_waits() {
    static MADE: OnceCell<u32> = OnceCell::const_new();
    static SET: SetOnce<u32> = SetOnce::const_new();
    static FULL: SetOnce<u32> = SetOnce::const_new_with(7);
    let lines = seen(ALL, || {
        assert!(poll(pin!(FULL.wait())));
        let mut makes = pin!(MADE.get_or_init(std::future::pending));
        assert!(!poll(makes.as_mut()));
        assert!(!poll(pin!(MADE.get_or_init(std::future::pending))));
        assert!(!poll(pin!(SET.wait())));
    });
    let probes: Vec<_> = lines.iter().map(|line| line.split(" tests").next().unwrap()).collect();
    assert_eq!(
        probes,
        [
            "resource-new #1 OnceCell ",
            "process-wait A #1 OnceCell::get_or_init",
            "process-resume A #1 TIME cancelled OnceCell::get_or_init",
            "resource-new #2 SetOnce ",
            "process-wait A #2 SetOnce::wait",
            "process-resume A #2 TIME cancelled SetOnce::wait",
        ]
    );
}

#[test]
fn a_channel_of_many_receivers_is_dropped_with_its_last_half() {
    let lines = seen(&["resource-*"], || {
        let (sender, receiver) = watch::named_channel("price", 1);
        let (also, other) = (sender.clone(), sender.subscribe());
        drop((sender, receiver, also));
        let (sender, receiver) = broadcast::named_channel::<u32>("news", 1);
        let weak = sender.downgrade();
        drop(other);
        drop((sender, receiver));
        drop(weak);
        drop((watch::Sender::new(1), broadcast::Sender::<u32>::new(1)));
    });
    let probes: Vec<_> = lines.iter().map(|line| line.split(" tests").next().unwrap()).collect();
    assert_eq!(
        probes,
        [
            "resource-new #1 watch price",
            "resource-new #2 broadcast news",
            "resource-drop #1 watch",
            "resource-drop #2 broadcast",
            "resource-new #3 watch ",
            "resource-new #4 broadcast ",
            "resource-drop #3 watch",
            "resource-drop #4 broadcast",
        ]
    );
}

#[test]
fn values_made_by_tokio_are_taken_over() {
    let body = async || {
        let barrier = tokio::sync::Barrier::new(2);
        assert!(!poll(pin!(barrier.wait())));
        let barrier = Barrier::from(barrier);
        assert!(barrier.wait().await.is_leader());
        let barrier = barrier.into_inner();
        assert!(!poll(pin!(barrier.wait())));
        let (empty, full) = (tokio::sync::OnceCell::new(), tokio::sync::OnceCell::from(7));
        let (empty, full): (OnceCell<u32>, OnceCell<u32>) = (empty.into(), full.into());
        assert_eq!((empty.get_or_init(|| ready(8)).await, full.get_or_init(|| ready(8)).await), (&8, &7));
        let set: SetOnce<u32> = tokio::sync::SetOnce::from(7).into();
        assert_eq!(set.wait().await, &7);
    };
    // Sessions of other tests would record this.
    seen(&["user_trace-*"], || on_a_runtime(body));
}
