//! The pauses that continuous settings cause: of a thread that reads the clock, and of tasks of the setter's runtime.

use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::task::{LocalSet, spawn_local, yield_now};

use crate::machine::{DISTURBED, SETTER, runtime, stay_on};
use crate::{made, session};

/// The results of a window, in nanoseconds.
struct Window {
    /// The longest gap of the thread.
    thread: u64,
    /// The same, without gaps in which the system gave its processor to another thread. No thread of this program runs there, so the
    /// setter does not cause those.
    undisturbed: u64,
    /// The longest wait of a task of the setter's runtime for its turn.
    task: u64,
    settings: u64,
}

/// Returns the results of each window, in order.
pub fn measure(windows: usize, milliseconds: u64, free: bool) -> Value {
    if free {
        // Starts the library's maintenance thread before this one is bound to a processor.
        drop(session());
    }
    stay_on(SETTER);
    let length = Duration::from_millis(milliseconds);
    let [mut setting, mut spinning] = [const { Vec::new() }; 2];
    for _ in 0..windows {
        setting.push(window(length, true));
        spinning.push(window(length, false));
    }
    json!({"setting": columns(&setting), "spinning": columns(&spinning)})
}

fn columns(windows: &[Window]) -> Value {
    let column = |of: fn(&Window) -> u64| windows.iter().map(of).collect::<Vec<_>>();
    json!({"thread": column(|seen| seen.thread), "undisturbed": column(|seen| seen.undisturbed), "task": column(|seen| seen.task), "settings": column(|seen| seen.settings)})
}

fn window(length: Duration, sets: bool) -> Window {
    let done = Done::default();
    let observer = {
        let done = done.clone();
        thread::spawn(move || {
            stay_on(DISTURBED);
            let longest = longest_gaps(length);
            done.0.store(true, Ordering::Relaxed);
            longest
        })
    };
    let (task, settings) = LocalSet::new().block_on(&runtime(), async {
        let task = spawn_local(longest_turn(done.clone()));
        let settings = if sets { set_without_end(&done).await } else { spin(&done).await };
        (task.await.expect("it only yields"), settings)
    });
    let (thread, undisturbed) = observer.join().expect("it looks at the clock only");
    Window { thread, undisturbed, task, settings }
}

#[derive(Clone, Default)]
struct Done(Arc<AtomicBool>);

impl Done {
    fn is(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Measures the longest gap between two reads of the clock, and the longest in which the thread kept its processor.
fn longest_gaps(length: Duration) -> (u64, u64) {
    /// A thread that loses its processor is away for at least this time.
    const NOTABLE: Duration = Duration::from_micros(2);
    let begun = Instant::now();
    let (mut last, mut longest, mut undisturbed) = (begun, Duration::ZERO, Duration::ZERO);
    let mut switches = switches_of_thread();
    while last - begun < length {
        let mut now = Instant::now();
        let gap = now - last;
        if gap > NOTABLE {
            longest = longest.max(gap);
            let before = mem::replace(&mut switches, switches_of_thread());
            if before == switches {
                undisturbed = undisturbed.max(gap);
            }
            now = Instant::now();
        }
        last = now;
    }
    (longest.as_nanos() as u64, undisturbed.as_nanos() as u64)
}

/// Returns the number of this thread's involuntary context switches.
fn switches_of_thread() -> i64 {
    // SAFETY: all zeros is a valid value.
    let mut usage: libc::rusage = unsafe { mem::zeroed() };
    // SAFETY: `usage` is valid for writes.
    unsafe { libc::getrusage(libc::RUSAGE_THREAD, &mut usage) };
    usage.ru_nivcsw
}

/// Measures the wait of a task that is always ready.
async fn longest_turn(done: Done) -> u64 {
    let (mut last, mut longest) = (Instant::now(), Duration::ZERO);
    while !done.is() {
        yield_now().await;
        let now = Instant::now();
        longest = longest.max(now - last);
        last = now;
    }
    longest.as_nanos() as u64
}

async fn set_without_end(done: &Done) -> u64 {
    let mut settings = 0;
    while !done.is() {
        let session = session();
        session.set(made::FIRST).await.expect("there are such functions");
        session.close().await;
        settings += 1;
    }
    settings
}

async fn spin(done: &Done) -> u64 {
    while !done.is() {
        yield_now().await;
    }
    0
}
