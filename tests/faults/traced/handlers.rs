//! Signal handlers that call what is traced, and interrupt calls that are being told.

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use dyntrace::traced;

use super::{Watch, calls};
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
            // What a thread needs for its first event is not to be had in a handler.
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
        // What interrupts the telling of another call is not told.
        assert!(info.delivered + info.dropped <= 2 * u64::from(handled));
        for pair in events.chunks(2).take_while(|_| info.dropped == 0) {
            let [call, end] = [0, 1].map(|number| pair[number].text.parse::<u32>().unwrap());
            assert_eq!(end, call + 1);
        }
    });
}
