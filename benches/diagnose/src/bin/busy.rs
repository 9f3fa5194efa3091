//! 10,000 tasks in rings, of each of which one task is ready: they keep all processors busy, and no task is ready that others overtake. When
//! standard input ends, prints how many turns the tasks took, and the microseconds that a turn took at most, from its wake to its end, in 99
//! of 100 cases.

use std::hint::black_box;
use std::io::Read as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

const RINGS: usize = 100;
const TASKS: usize = 100;

/// Turns by their time: each bucket is a hundredth longer than the one before.
struct Turns([AtomicU64; 2048]);

impl Turns {
    fn add(&self, time: Duration) {
        let bucket = (time.as_secs_f64() * 1e6).max(1.0).ln() / 1.01_f64.ln();
        self.0[(bucket as usize).min(self.0.len() - 1)].fetch_add(1, Relaxed);
    }
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let turns = Arc::new(Turns([const { AtomicU64::new(0) }; 2048]));
    let start = Instant::now();
    for _ in 0..RINGS {
        let ring: Arc<[Notify]> = (0..TASKS).map(|_| Notify::new()).collect();
        // When the ring's ready task was woken.
        let woken = Arc::new(AtomicU64::new(0));
        for place in 0..TASKS {
            let (turns, ring, woken) = (Arc::clone(&turns), Arc::clone(&ring), Arc::clone(&woken));
            tokio::spawn(async move {
                loop {
                    ring[place].notified().await;
                    black_box((0..4_000_u64).fold(0, |sum, number| black_box(sum ^ number)));
                    let now = start.elapsed().as_nanos() as u64;
                    turns.add(Duration::from_nanos(now.saturating_sub(woken.swap(now, Relaxed))));
                    ring[(place + 1) % TASKS].notify_one();
                }
            });
        }
        ring[0].notify_one();
    }
    std::thread::spawn(|| std::io::stdin().read_to_end(&mut Vec::new())).join().expect("reads its input")?;
    let counts: Vec<u64> = turns.0.iter().map(|count| count.load(Relaxed)).collect();
    let all: u64 = counts.iter().sum();
    let mut below = 0;
    let bucket = counts.iter().position(|count| {
        below += count;
        below * 100 >= all * 99
    });
    println!("{all} {:.0}", 1.01_f64.powf(bucket.unwrap_or_default() as f64));
    std::process::exit(0)
}
