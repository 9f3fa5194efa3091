//! Tests the guarantees in which the channels differ, see `peers/channels.rs`.

use std::cell::Cell;
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Waker};

use tokio::runtime::Builder;
use tokio::task::{LocalSet, spawn_local, yield_now};

use crate::peers::Peer;
use crate::peers::channels::{Crossfire, CrossfireUnbounded, Flume, Kanal, Tokio, TokioUnbounded};
use crate::peers::mailboxes::{Plain, Unbounded};

/// Messages that a receiver finds: more than a task's budget.
const THERE: u64 = 1000;

fn block_on(test: impl Future<Output = ()>) {
    LocalSet::new().block_on(&Builder::new_current_thread().build().expect("a runtime"), test);
}

/// Whether another task runs before a receiver has taken all messages that are there.
fn yields<P: Peer>() -> bool {
    let yields = Rc::new(Cell::new(false));
    let told = yields.clone();
    block_on(async move {
        let (sender, mut receiver) = P::channel(THERE as usize);
        for number in 0..THERE {
            assert!(P::send(&sender, [number, 0]).await);
            // Does not take from the budget of the receiver below.
            yield_now().await;
        }
        let left = Rc::new(Cell::new(THERE));
        let count = left.clone();
        let receiving = spawn_local(async move {
            while count.get() > 0 {
                assert!(P::receive(&mut receiver).await.is_some());
                count.set(count.get() - 1);
            }
        });
        let other = spawn_local(async move { told.set(left.get() > 0) });
        receiving.await.expect("it receives");
        other.await.expect("it looks");
        drop(sender);
    });
    yields.get()
}

/// Whether a message is there after it was sent to a receive that is dropped.
fn keeps<P: Peer>() -> bool {
    let keeps = Rc::new(Cell::new(false));
    let told = keeps.clone();
    block_on(async move {
        let (sender, mut receiver) = P::channel(8);
        {
            let mut receiving = pin!(P::receive(&mut receiver));
            assert!(receiving.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
            assert!(P::send(&sender, [1, 0]).await);
        }
        assert!(P::send(&sender, [2, 0]).await);
        told.set(P::receive(&mut receiver).await == Some([1, 0]));
    });
    keeps.get()
}

#[test]
fn mailboxes_and_tokios_channels_have_both() {
    assert!(yields::<Plain>() && yields::<Unbounded>() && yields::<Tokio>() && yields::<TokioUnbounded>());
    assert!(keeps::<Plain>() && keeps::<Unbounded>() && keeps::<Tokio>() && keeps::<TokioUnbounded>());
}

#[test]
fn flume_and_crossfire_do_not_yield() {
    assert!(keeps::<Flume<true>>() && keeps::<Flume<false>>() && keeps::<Crossfire>() && keeps::<CrossfireUnbounded>());
    assert!(!yields::<Flume<true>>() && !yields::<Flume<false>>());
    assert!(!yields::<Crossfire>() && !yields::<CrossfireUnbounded>());
}

#[test]
fn kanal_has_neither() {
    assert!(!yields::<Kanal<true>>() && !yields::<Kanal<false>>());
    assert!(!keeps::<Kanal<true>>() && !keeps::<Kanal<false>>());
}
