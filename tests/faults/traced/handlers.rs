//! Signal handlers that call traced functions, and interrupt calls during their events.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use dyntrace::traced;

use super::{Watch, calls, counting};
use crate::signals::Timer;
use crate::support::{alone, times};

/// 10 kHz.
const EVERY: Duration = Duration::from_micros(100);

static HANDLED: AtomicU32 = AtomicU32::new(0);

#[traced]
fn interrupted(number: u32) -> u32 {
    number.wrapping_mul(2)
}

#[traced]
fn handled(number: u32) -> u32 {
    number + 1
}

fn handler() {
    let number = HANDLED.load(Ordering::Relaxed);
    HANDLED.store(handled(number), Ordering::Relaxed);
}

#[test]
fn handlers_call_what_is_traced() {
    let _alone = alone();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let watch = Watch::on("**::handlers::interrupted do return, count").await;
        let in_handler = Watch::on("**::handlers::handled do return, count").await;
        let (called, handled) = thread::spawn(|| {
            // A handler cannot allocate the thread's data for its first event.
            handler();
            interrupted(0);
            let timer = Timer::start(EVERY, EVERY, handler);
            let mut called = 1;
            while HANDLED.load(Ordering::Relaxed) < times(2_000, 50_000) as u32 {
                assert_eq!(interrupted(called), called.wrapping_mul(2));
                called += 1;
            }
            drop(timer);
            (called, HANDLED.load(Ordering::Relaxed))
        })
        .join()
        .unwrap();
        assert_eq!((calls(&watch.session), calls(&in_handler.session)), (called.into(), handled.into()));
        let (_, info) = watch.end().await;
        assert_eq!(info.delivered + info.dropped, 2 * u64::from(called));
        let (events, info) = in_handler.end().await;
        println!("{} of {} events of handlers were told", events.len(), 2 * handled);
        // A call that interrupts another call's event fires no event.
        assert!(info.delivered + info.dropped <= 2 * u64::from(handled));
        for pair in events.chunks(2).take_while(|_| info.dropped == 0) {
            let [call, end] = [0, 1].map(|number| pair[number].text.parse::<u32>().unwrap());
            assert_eq!(end, call + 1);
        }
    });
}

/// A pattern is removed or replaced, or its session ends, while a handler that interrupts the function is in a hit of it.
#[test]
fn settings_change_while_handlers_are_inside() {
    static IS_OVER: AtomicBool = AtomicBool::new(false);
    static INSIDE: AtomicU32 = AtomicU32::new(0);
    static CALLED: AtomicU32 = AtomicU32::new(0);

    #[traced]
    fn nested(number: u32) -> u32 {
        number + 1
    }

    fn handler() {
        INSIDE.store(nested(INSIDE.load(Ordering::Relaxed)), Ordering::Relaxed);
    }

    let _alone = alone();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let pattern = "**::handlers::nested";
        // Active from before the first call until after the last one.
        let all = counting(&format!("{pattern} do silent, count")).await;
        let caller = thread::spawn(|| {
            // A handler cannot allocate the thread's data for its first event.
            handler();
            let timer = Timer::start(EVERY, EVERY, handler);
            while !IS_OVER.load(Ordering::Relaxed) {
                let called = CALLED.load(Ordering::Relaxed);
                assert_eq!(nested(called), called + 1);
                CALLED.store(called + 1, Ordering::Relaxed);
            }
            drop(timer);
            CALLED.load(Ordering::Relaxed)
        });
        let mut told = 0;
        for number in 0..times(200, 5_000) {
            let ends = if number % 3 == 0 { "" } else { " do return, count" };
            let watch = Watch::on(&format!("{pattern}{ends}")).await;
            let second = watch.session.set(&format!("{pattern} do return")).await.unwrap();
            watch.session.update(second.id, &format!("{pattern}(number) if number > 7 do return")).await.unwrap();
            watch.session.remove(second.id).await.unwrap();
            // Waits once for a whole call, as on a busy machine the thread may not run during all of this.
            let before = CALLED.load(Ordering::Relaxed);
            while number == 0 && CALLED.load(Ordering::Relaxed) < before + 2 {
                thread::yield_now();
            }
            if number % 2 == 0 {
                told += watch.end().await.1.delivered;
            }
        }
        IS_OVER.store(true, Ordering::Relaxed);
        let called = caller.join().unwrap();
        assert_eq!(
            calls(&all),
            u64::from(called) + u64::from(INSIDE.load(Ordering::Relaxed)),
            "each call, and none twice"
        );
        assert!(told > 0);
        println!("{called} calls, and {} of handlers", INSIDE.load(Ordering::Relaxed));
    });
}
