//! A trace of tasks whose every poll is known, for the outputs that show tasks.

use std::path::Path;

use crate::writer::{Arg, Fired, Writer, fired};

/// The threads that poll.
pub const THREADS: [u64; 2] = [7, 8];

fn texts(probe: &str, time: u64, texts: &[&str]) -> Fired {
    fired(&format!("process-{probe}"), time, texts.iter().map(|&text| Arg::from(text)))
}

fn ends(time: u64, proc: &str, polled: u64, outcome: &str) -> Fired {
    fired("process-unscheduled", time, [proc.into(), Arg::U(polled), outcome.into()])
}

/// `bake` is polled twice and meanwhile polls `stir`, whose spawn the trace lacks. `fry` panics after 20 ms. `wait` is still in its poll,
/// `late` has not been polled.
pub fn write(folder: &Path) {
    let writer = Writer::new(folder);
    let [bake, fry, stir, wait, late] = ["<0.1.0>", "<0.2.0>", "<0.3.0>", "<0.4.0>", "<0.5.0>"];
    let spawn = |time, proc, fun, place, tag| texts("spawn", time, &[proc, fun, "<0.9.0>", place, tag]);
    let scheduled = |time, proc, fun| texts("scheduled", time, &[proc, fun]);
    writer.ring(
        "ring-1",
        THREADS[0],
        &[
            spawn(0, bake, "shop::bake", "src/shop.rs:3", "req-1"),
            spawn(1_000, fry, "shop::fry", "src/shop.rs:4", ""),
            scheduled(2_000, bake, "shop::bake"),
            scheduled(2_500, stir, "shop::stir"),
            ends(2_700, stir, 150, "ready"),
            ends(3_000, bake, 900, "pending"),
            scheduled(30_000_000, bake, "shop::bake"),
            ends(30_000_600, bake, 500, "ready"),
            texts("exit", 30_000_700, &[bake, "normal"]),
            spawn(30_000_800, late, "shop::<late>", "src/shop.rs:5", ""),
        ],
    );
    writer.ring(
        "ring-2",
        THREADS[1],
        &[
            scheduled(4_000, fry, "shop::fry"),
            ends(20_004_100, fry, 20_000_000, "panic"),
            texts("exit", 20_004_200, &[fry, "panic: no <oil>"]),
            scheduled(20_005_000, wait, "shop::wait"),
        ],
    );
    let name = |tid: u64| fired("recorder:thread", 1, [Arg::U(tid), format!("thread {tid}").as_str().into()]);
    writer.process(&THREADS.map(name));
}

/// `bake` is woken twice by `stir`, polled, woken in that poll by itself, and polled again. `wait` is woken and not polled any more.
pub fn write_wakes(folder: &Path) {
    let writer = Writer::new(folder);
    let [bake, stir, wait] = ["<0.1.0>", "<0.2.0>", "<0.3.0>"];
    let scheduled = |time, proc| texts("scheduled", time, &[proc, "shop::turns"]);
    let wake = |time, waker, proc| texts("wake", time, &[waker, proc]);
    writer.ring(
        "ring-1",
        THREADS[0],
        &[
            scheduled(1_000, bake),
            ends(1_100, bake, 100, "pending"),
            scheduled(2_000, bake),
            wake(2_050, bake, bake),
            ends(2_100, bake, 100, "pending"),
            scheduled(2_200, bake),
            ends(2_300, bake, 100, "ready"),
            texts("exit", 2_310, &[bake, "normal"]),
        ],
    );
    writer.ring(
        "ring-2",
        THREADS[1],
        &[
            scheduled(1_200, stir),
            wake(1_300, stir, bake),
            wake(1_310, stir, bake),
            ends(1_400, stir, 200, "pending"),
            scheduled(2_350, stir),
            ends(2_360, stir, 10, "ready"),
            wake(2_400, "thread main", wait),
        ],
    );
    let name = |tid: u64| fired("recorder:thread", 1, [Arg::U(tid), format!("thread {tid}").as_str().into()]);
    writer.process(&THREADS.map(name));
}
